"""The decider that works by rules: what becomes of a fact beside what is known, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.extraction.claims.comparing import Reading, Relation, relation
from shared.extraction.forgotten import covers
from shared.extraction.port import QUOTE, Decision
from shared.extraction.rules.times import time_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.extraction.port import Known, Learnt

_CHANGES = (Relation.REPLACES, Relation.FLIPPED, Relation.CHANGED, Relation.LIMIT, Relation.MORE)
_DAY = 86_400_000
_NAMED_TIME = 731 * _DAY  # "last year" is told as its first day, at most two years ago


class RuleDecider:
    """Compares words and values (`Decider`); similarity only says in which order, never whether."""

    def decide(self, fact: Learnt, known: Sequence[Known]) -> Decision:
        """Return the decision about one fact; the nearest memory that it changes is its target."""
        if fact.forget:
            return _forget(fact, known)
        new = Reading.of(fact.text)
        related = [(relation(new, Reading.of(each.text)), each) for each in known]
        for found, each in related:
            if found in (Relation.SAME, Relation.LESS):
                return Decision("NONE", _quoted("Known already", each), each.memory_id)
        changes = [(found, each) for found, each in related if found in _CHANGES]
        if not changes:
            return Decision("ADD", "Nothing that is known says this, or has another value for it.")
        return _change(fact, changes)


def _change(fact: Learnt, changes: list[tuple[Relation, Known]]) -> Decision:
    """Let the surest change of a memory that may be changed decide."""
    newer = [each for _, each in changes if _older(fact, each)]
    if newer:
        return Decision("NONE", _quoted("A later memory already says otherwise", newer[0]), newer[0].memory_id)
    free = [(found, each) for found, each in changes if not each.immutable]
    if not free:
        return Decision("ADD", _quoted("It differs from a memory that may not be changed", changes[0][1]))
    found, target = min(free, key=lambda change: _CHANGES.index(change[0]))
    return Decision("UPDATE", _quoted(f"This {found.value}, and is the later word", target), target.memory_id)


def _older(fact: Learnt, known: Known) -> bool:
    """Tell whether the fact was true before the known one.

    A fact without a time is said now, so it is never older; a known one without a time was said when it was told.
    A time named in the sentence is when it happened or will, not when it was told ("I moved last month"): of such a
    sentence only a much older time counts.
    """
    at = known.told_at if known.event_at is None else known.event_at
    if fact.event_at is None or at is None:
        return False
    named = _names_time(fact.text, fact.event_at) or _names_time(known.text, at)
    return fact.event_at < at - (_NAMED_TIME if named else 0)


def _names_time(text: str, at: int) -> bool:
    """Tell whether the text names a time other than that of its telling."""
    later = at + _DAY
    return time_in(text, later) not in (None, later)


def _forget(wish: Learnt, known: Sequence[Known]) -> Decision:
    said = Reading.of(wish.text)
    for each in known:
        if covers(said, Reading.of(each.text)):
            if each.immutable:
                return Decision("NONE", _quoted("It may not be changed, so it is not forgotten", each), each.memory_id)
            return Decision("DELETE", _quoted("It was asked to be forgotten", each), each.memory_id)
    return Decision("NONE", "Nothing that is known says what was asked to be forgotten.")


def _quoted(reason: str, known: Known) -> str:
    shown = " ".join(known.text.split())
    return f"{reason}{QUOTE}{shown[:117]}…”." if len(shown) > 120 else f"{reason}{QUOTE}{shown}”."
