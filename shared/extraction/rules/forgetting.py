"""Explicit wishes that something be forgotten."""

from __future__ import annotations

import re

from shared.extraction.claims.reading import claims_of
from shared.extraction.script import content, is_chinese

_POLITE = (
    r"(?:(?:please|pls|kindly|hey|ok|okay|also|and|actually|now|so|no|sorry|can you|could you|would you|will you"
    r"|you can|you should"
    r"|you may|i want you to|i'd like you to|i need you to|i would like you to|just)[,\s]+){0,5}"
)
_IT = r"(?:this|these|the following)(?: (?:facts?|things?|information))?(?: about me)?"
_WISH = re.compile(
    rf"{_POLITE}(?:forget|(?:stop|quit) remembering|(?:do not|don't|don\u2019t|never) (?:remember|memori[sz]e)"
    r"|(?:erase|delete|remove|drop|clear|wipe) (?:from (?:your |my |the )?memor(?:y|ies) )?(?=.{0,200}memor)"
    r"|(?:do not|don't|don\u2019t|never) (?:store|save|keep|record|retain) "
    rf"(?=.{{0,200}}memor|{_IT}\s*:))\b\s*(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = re.compile(
    r"(?:about|the fact|everything|anything|all|what|my memor(?:y|ies)|your memor(?:y|ies)|the memor(?:y|ies)"
    r"|you know|you have|(?:that )?i (?:said|told you|mentioned)"
    r"|(?:saved|stored|recorded)?\s*(?:about|of)|from (?:your |my )?memor(?:y|ies)|that)\s+",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    rf"(?:{_IT})? ?"
    r"(?:(?:in|from|to) (?:your |my |the )?memor(?:y|ies))?\s*:\s*(?=\S)",
    re.IGNORECASE,
)
"""What points ahead at what is to be forgotten ("forget this: …")."""

_TAIL = re.compile(
    r"(?:[\s,]+(?:from (?:your |my |the )?memor(?:y|ies)|in (?:your |my )?memor(?:y|ies)|anymore|any more|please"
    r"|thanks|thank you|ok|okay|for me))?[\s.!?,]*$",
    re.IGNORECASE,
)
_NOT_A_WISH = re.compile(r"(?:to\b|it\b|this\b|that\b\s*$|how|the (?:users?|table|file)|password\b)", re.IGNORECASE)
_THAT = re.compile(
    r"(?:about )?(?:it|this|that|what i (?:just )?(?:said|told you)|that last (?:one|message|part)"
    r"|everything i just said)[\s.!]*$",
    re.IGNORECASE,
)
_WISH_ZH = re.compile(
    r"(?:请|麻烦|拜托|能不能|可以|你可以|你|帮我|那就|就|把){0,3}(?:"
    r"(?:忘记|忘掉|忘了)(?P<what>[^，。！？]{1,200})"
    r"|(?:不要|别|不用|不必)(?:再)?(?:记住|记得|记录|记(?![者忆])|保存|储存|存储)(?P<not>[^，。！？]{1,200})"
    r"|(?:从记忆(?:里|中))?(?:删除|删掉|清除)(?P<drop>[^，。！？]{1,200}?)的?(?:这(?:条|个|段))?记忆"
    r"|(?P<ba>[^，。！？]{1,200}?)(?:忘记|忘掉|忘了|从记忆(?:里|中)删(?:除|掉)))"
)
_AHEAD_ZH = re.compile(r"(?:这(?:一点|件事|些|个)|(?:以下|下面)(?:几点|内容|信息)?)?\s*[：:]\s*(?=\S)")
_LEAD_ZH = re.compile(r"(?:关于|有关|我(?:之前|刚才|刚刚)?(?:说过?|告诉你)的?|我提到的)+")
_TAIL_ZH = re.compile(r"(?:的?(?:这件事情?|这个事|事情|事|信息|记忆|内容))?(?:吧|了|啊|呀|哦)*\s*[。！!.~～？?]*$")
_OWN_ZH = re.compile(r"(?:关于|有关)?(?:我|咱|俺)|[A-Za-z]")
_THAT_ZH = re.compile(r"(?:这个|那个|它|这件事|这些|那些|这|那|我刚才说的|刚才(?:的话|说的)|上一句)[吧了。！!]*$")
_TOLD_AFTER = re.compile(
    r"[,，]\s*(?:(?:because|since|as|but)\s+|因为)?(?P<told>(?:(?:i|we|my|our)\b(?!.*\bthere\b)|我(?!.*那[里儿边])).*)",
    re.IGNORECASE | re.DOTALL,
)
"""What may be told in one breath with the wish: "forget that I live in Berlin, I moved to Madrid"."""
_SPEAKER = frozenset(("i", "we", "我", "我们"))
THAT = ""
"""What is to be forgotten when the wish only points back ("forget that")."""


def wish(sentence: str) -> str | None:
    """Return what a sentence wishes forgotten, `THAT` when it only points back, or None: it wishes no such thing."""
    return _chinese_wish(sentence) if is_chinese(sentence) else _english_wish(sentence)


def parted_from_wish(sentence: str) -> tuple[str | None, str]:
    """Return what a sentence wishes forgotten, as `wish` does, and what else it tells."""
    unwanted = wish(sentence)
    if unwanted is None:
        return None, sentence
    told = _TOLD_AFTER.search(sentence)
    before = wish(sentence[: told.start()]) if told else None
    if told is None or before is None or not _is_changed(told["told"]):
        return unwanted, ""
    return before, told["told"][:1].upper() + told["told"][1:]


def _is_changed(told: str) -> bool:
    """Tell whether the speaker says what is so now; all else may be more of what is to be forgotten."""
    return any(claim.changed and claim.holds and claim.subject in _SPEAKER for claim in claims_of(told))


def _english_wish(sentence: str) -> str | None:
    match = _WISH.match(sentence)
    if match is None:
        return None
    what = _named(match["what"][:400], _AHEAD)
    if _THAT.match(what):
        return THAT
    if _NOT_A_WISH.match(what):
        return None
    for _ in range(4):
        lead = _LEAD.match(what)
        what = what[lead.end() :] if lead else what
    what = _TAIL.sub("", what, count=1)
    return what[:1].upper() + what[1:] if content(what) or len(what.split()) >= 2 else None


def _named(what: str, ahead: re.Pattern[str]) -> str:
    points = ahead.match(what)
    return what[points.end() :] if points else what


def _chinese_wish(sentence: str) -> str | None:
    match = _WISH_ZH.match(sentence)
    if match is None or sentence.startswith(("我忘", "别忘", "不要忘", "不忘")):
        return None
    what = _named(match["what"] or match["not"] or match["drop"] or match["ba"], _AHEAD_ZH)
    if _THAT_ZH.match(what):
        return THAT
    if match["ba"] is not None and not re.match("(?:请|麻烦|拜托|帮我|你|就|那就)*把", sentence):
        return None
    if match["what"] and not (_OWN_ZH.match(what) or re.match("请|麻烦|拜托|帮我|你|能不能|可以", sentence)):
        return None  # "I forgot to ...", its subject left out
    lead = _LEAD_ZH.match(what)
    what = _TAIL_ZH.sub("", what[lead.end() :] if lead else what, count=1)
    return what or None
