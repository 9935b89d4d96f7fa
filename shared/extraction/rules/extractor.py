"""The extractor that works by rules alone: no model, no network, the same answer every time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.extraction.fingerprint import fingerprint
from shared.extraction.port import Extraction, Learnt
from shared.extraction.rules.cleaning import spoken
from shared.extraction.rules.forgetting import THAT, wish
from shared.extraction.rules.kinds import categories_of, type_of
from shared.extraction.rules.questions import told_before
from shared.extraction.rules.sentences import sentences
from shared.extraction.rules.small_talk import trimmed
from shared.extraction.rules.statements import is_statement
from shared.extraction.rules.subject import name_of, named
from shared.extraction.rules.summaries import joined, most_telling
from shared.extraction.rules.times import time_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.extraction.port import Conversation, Turn

MOST_FACTS = 200
"""No conversation teaches more than so many; of more, the most telling are kept."""

_CONFIRMED = re.compile(
    r"\b(?:decided|agreed|confirmed|we(?:'ll| will)|i(?:'ll| will) (?:use|keep|add|store|retry)|use[sd]?|must"
    r"|at most|at least|switched"
    r"|replaced|because|fixed|root cause|chose|instead of|constraint|limit)\b|决定|确认|采用|改用|必须|最多|至少"
    r"|选择|因为|修复",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Said:
    """A sentence that is worth keeping: as it is kept, where it stood, and who said it."""

    learnt: Learnt
    by_user: bool


class RuleExtractor:
    """Keeps the user's own sentences (`Extractor`): whole, in their language, with their subject."""

    def extract(self, conversation: Conversation) -> Extraction:
        """Return the summary, the facts and the wishes to forget of a conversation."""
        said = [each for turn in conversation.turns for each in _of_turn(turn, conversation)]
        facts = _distinct([each.learnt for each in said if each.by_user])
        worth = [each.learnt for each in said if not each.learnt.forget]
        taught = any(each.by_user for each in said if not each.learnt.forget)
        return Extraction(_summary(worth) if taught else None, tuple(_bounded(facts)))

    def summarise(self, summaries: Sequence[str], conversation: Conversation) -> Learnt:
        """Return the most telling sentences of the parts' summaries, in order."""
        parts = [sentence for summary in summaries for sentence in sentences(summary.split("\n"))]
        places = most_telling(parts, [categories_of(each) for each in parts])
        text = joined([parts[place] for place in places]) or "\n".join(summaries)[:600]
        positions = tuple(turn.position for turn in conversation.turns)
        return replace(_learnt(text, conversation.at, conversation.at, code=conversation.code), positions=positions)


def _of_turn(turn: Turn, conversation: Conversation) -> list[_Said]:
    at = conversation.at if turn.at is None else turn.at
    by_user = turn.role == "user"
    name = name_of(turn.speaker)
    if not by_user and not conversation.code:
        return []
    said: list[_Said] = []
    for sentence in sentences(spoken(turn.text)):
        unwanted = wish(sentence) if by_user else None
        if unwanted is not None:
            said += _forgotten(unwanted, said, name, at, turn.position)
            continue
        for text in _statements(sentence, code=conversation.code):
            if by_user or _CONFIRMED.search(text):
                learnt = _learnt(named(text, name), at, at, code=conversation.code)
                said.append(_Said(replace(learnt, positions=(turn.position,)), by_user))
    return said


def _statements(sentence: str, *, code: bool) -> Iterator[str]:
    """Yield the sentence without its courtesies, or what it tells before it asks, where that is a statement."""
    bare = trimmed(sentence)
    for text in (bare, told_before(bare)):
        if text and is_statement(text, code=code):
            yield text
            return


def _forgotten(unwanted: str, said: list[_Said], name: str | None, at: int, position: int) -> list[_Said]:
    """Return the wish; one that only points back takes the sentence before it along."""
    if unwanted == THAT:
        if not said or said[-1].learnt.forget:
            return []
        unwanted = said.pop().learnt.text
    text = named(unwanted, name)
    return [_Said(Learnt(text=text, event_at=at, positions=(position,), forget=True), by_user=True)]


def _learnt(text: str, event_at: int, seen_from: int, *, code: bool) -> Learnt:
    categories = categories_of(text)
    when = time_in(text, seen_from)
    return Learnt(
        text=text,
        memory_type=type_of(text, categories, code=code),
        categories=categories,
        event_at=event_at if when is None else when,
    )


def _distinct(facts: list[Learnt]) -> list[Learnt]:
    """Let what was said twice be one fact, of both turns."""
    kept: dict[tuple[str, bool], Learnt] = {}
    for fact in facts:
        key = (fingerprint(fact.text), fact.forget)
        first = kept.get(key)
        positions = fact.positions if first is None else tuple(sorted({*first.positions, *fact.positions}))
        kept[key] = replace(first or fact, positions=positions)
    return list(kept.values())


def _bounded(facts: list[Learnt]) -> list[Learnt]:
    if len(facts) <= MOST_FACTS:
        return facts
    texts = [fact.text for fact in facts]
    places = most_telling(texts, [fact.categories for fact in facts], most=MOST_FACTS, longest=10**9)
    return [facts[place] for place in places]


def _summary(worth: list[Learnt]) -> Learnt:
    places = most_telling([each.text for each in worth], [each.categories for each in worth])
    chosen = [worth[place] for place in places]
    text = joined([each.text for each in chosen])
    categories = tuple(dict.fromkeys(label for each in chosen for label in each.categories))
    types = [each.memory_type for each in chosen]
    return Learnt(
        text=text,
        memory_type=max(dict.fromkeys(types), key=types.count),
        categories=categories,
        event_at=chosen[-1].event_at,
        positions=tuple(sorted({position for each in chosen for position in each.positions})),
    )
