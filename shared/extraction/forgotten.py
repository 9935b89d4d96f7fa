"""Which memory a wish to forget means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.claims.comparing import Relation, relation

if TYPE_CHECKING:
    from shared.extraction.claims.comparing import Reading

_TOPICS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"(?:where (?:i|we) live|my (?:home|address|city|place of living))$|我住(?:在)?(?:哪|的地方)"
            r"|我的?(?:住址|地址|住处)$"
        ),
        "home",
    ),
    (re.compile(r"(?:where i work|my (?:employer|company|workplace))$|我在哪(?:里|儿)?工作|我的公司$"), "employer"),
    (re.compile(r"(?:what i do(?: for a living)?|my (?:job|occupation|profession))$|我的?(?:工作|职业)$"), "job"),
    (re.compile(r"(?:how old i am|my age)$|我的?(?:年龄|几岁|多大)$"), "age"),
    (re.compile(r"my (?:marital status|relationship status)$|我的婚姻状况$"), "marital status"),
)
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"\b(?:phone|mobile|telephone)\b|电话|手机"), re.compile(r"\+?\d[\d ()-]{5,}\d")),
    (re.compile(r"\be-?mail\b|邮箱|邮件"), re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.")),
)
_WISHED = frozenset(
    ("about", "everything", "all", "fact", "i", "have", "go", "know", "thing", "be", "关", "于", "我", "事", "情")
)


def covers(wish: Reading, known: Reading) -> bool:
    """Tell whether a memory is what a wish speaks of: it says it, or tells all that the wish names."""
    if wish.plain == known.plain or _is_topic(wish, known):
        return True
    if wish.wording.negated != known.wording.negated or not set(wish.wording.numbers) <= set(known.wording.numbers):
        return False
    if wish.claims and known.claims:
        return relation(wish, known) in (Relation.SAME, Relation.LESS, Relation.MORE)
    named = set(wish.wording.stems) - _WISHED
    return bool(named) and named <= set(known.wording.stems) and _is_enough(wish, named)


def _is_topic(wish: Reading, known: Reading) -> bool:
    attributes = {claim.attribute for claim in known.claims if claim.subject in ("i", "我")}
    if any(topic.search(wish.plain) and attribute in attributes for topic, attribute in _TOPICS):
        return True
    own = re.search(r"\bmy\b|我", wish.plain) is not None
    return own and any(asked.search(wish.plain) and found.search(known.plain) for asked, found in _KINDS)


def _is_enough(wish: Reading, named: set[str]) -> bool:
    """Chinese stems are characters: one of them names nothing yet."""
    return len(named) >= 2 or next(iter(named)).isascii() or len(wish.plain) <= 2
