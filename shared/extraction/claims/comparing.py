"""How two texts stand to each other: the same, more of the same, a change, or simply another fact."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from shared.extraction.claims.reading import claims_of
from shared.extraction.claims.rivals import rivals
from shared.extraction.claims.wording import stem, wording
from shared.extraction.fingerprint import normalised
from shared.extraction.script import VAGUE, words

if TYPE_CHECKING:
    from shared.extraction.claims.claim import Claim
    from shared.extraction.claims.wording import Wording


class Relation(Enum):
    """What a new text does beside a known one."""

    SAME = "says the same"
    LESS = "says the same in less detail"
    REPLACES = "names it as what is replaced"
    FLIPPED = "says the opposite"
    CHANGED = "gives the same thing another value"
    LIMIT = "states the same rule with another number"
    MORE = "says the same in more detail"
    OTHER = "is another fact"


@dataclass(frozen=True)
class Reading:
    """A text with all that is compared of it."""

    plain: str
    wording: Wording
    claims: tuple[Claim, ...]

    @classmethod
    def of(cls, text: str) -> Reading:
        """Read a text."""
        return cls(normalised(text), wording(text), claims_of(text))


_MOST = re.compile(
    r"\b(?:at most|up to|no more than|not exceed|maximum|max|limit\w*|within|under|fewer than"
    r"|less than)\b|最多|至多|不超过|上限|以内|限制"
)
_LEAST = re.compile(r"\b(?:at least|no (?:less|fewer) than|minimum|min|more than|over)\b|至少|不少于|下限|以上")
_HABIT = re.compile(
    r"\b(?:every|each|daily|weekly|usually|always|wake up|get up|go to bed|runs? at|once a|per)\b"
    r"|每天|每周|每次|每晚|起床|睡觉"
)
_PAST = re.compile(r"\b(?:was|were|did|went|had|yesterday|ago|last|[a-z]{3,}ed)\b|昨|了|过|上周")
_SAYING = frozenset(
    map(
        stem,
        words(
            "live reside based home where move relocate settle stay like love enjoy adore fond keen fan into big "
            "huge prefer rather use run start turn old year have own work employed join get hired become new back "
            "over house call name city it"
        ),
    )
) | frozenset("居住在搬到家喜欢爱热叫名字是很更")
"""The words that say a claim: two texts that claim the same may differ in them."""


_VAGUE_STEMS = frozenset(stem(word) for word in VAGUE)


def relation(new: Reading, known: Reading) -> Relation:
    """Return how `new` stands to `known`."""
    if new.plain == known.plain:
        return Relation.SAME
    for test in (_by_claims, _by_words):
        found = test(new, known)
        if found is not Relation.OTHER:
            return found
    return Relation.OTHER


def _by_claims(new: Reading, known: Reading) -> Relation:
    apart = _differ_in_purpose(new.claims, known.claims)
    found = [
        _of_claims(one, other)
        for one in new.claims
        for other in known.claims
        if not (apart and one.attribute == other.attribute == "use")
    ]
    for sure in (Relation.REPLACES, Relation.FLIPPED, Relation.CHANGED):
        if sure in found:
            return sure
    return _in_detail(new.wording, known.wording) if Relation.SAME in found else Relation.OTHER


def _differ_in_purpose(new: tuple[Claim, ...], known: tuple[Claim, ...]) -> bool:
    """Tell whether both say what something is used for, and not for the same."""
    here, there = (
        {claim.attribute for claim in each if claim.attribute.startswith("use for ")} for each in (new, known)
    )
    return bool(here and there) and not here & there


def _of_claims(new: Claim, known: Claim) -> Relation:
    if not new.same_place(known) or not (known.holds or new.holds):
        return Relation.OTHER
    if new.attribute == "prefer":
        return _of_preferences(new, known)
    if new.instead_of and _within(new.instead_of, known.value):
        return Relation.REPLACES
    if not new.current or not known.current:  # of times gone by, all stay true
        return Relation.SAME if (new.current, new.value) == (known.current, known.value) else Relation.OTHER
    return _of_values(new, known)


def _of_values(new: Claim, known: Claim) -> Relation:
    akin = _within(new.value, known.value) or _within(known.value, new.value)  # Kreuzberg in Berlin, and Berlin
    if new.holds and known.holds:
        if akin:
            return Relation.SAME
        return _of_weak(new, known) if new.weak or known.weak else Relation.CHANGED
    if new.holds:
        return Relation.FLIPPED if new.value == known.value else Relation.CHANGED
    return Relation.FLIPPED if akin else Relation.OTHER


def _of_weak(new: Claim, known: Claim) -> Relation:
    """Things used and appointments: many may be true at once, so that only words of change let one replace another."""
    if not new.changed:
        return Relation.OTHER
    if new.attribute == "when" or new.attribute.startswith("use for "):
        return Relation.CHANGED
    return Relation.CHANGED if rivals(new.value, known.value) else Relation.OTHER


def _of_preferences(new: Claim, known: Claim) -> Relation:
    if new.value == known.value:
        return Relation.SAME if new.instead_of == known.instead_of or not new.instead_of else Relation.MORE
    if new.instead_of and new.instead_of == known.value:
        return Relation.REPLACES
    if known.instead_of and known.instead_of == new.value:
        return Relation.CHANGED
    if len(new.value) == len(known.value) >= 2 and new.value[-1] == known.value[-1]:
        return Relation.CHANGED  # aisle seats, window seats
    return Relation.CHANGED if rivals(new.value, known.value) else Relation.OTHER


def _within(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if not one:
        return False
    return set(one) <= set(other) or (len(one) == len(other) == 1 and not one[0].isascii() and one[0] in other[0])


def _in_detail(new: Wording, known: Wording) -> Relation:
    """Tell restatements of one value apart by what else they say."""
    if new.negated != known.negated:
        return Relation.OTHER
    here, there = _detail(new), _detail(known)
    if here <= there:
        return Relation.SAME if here == there else Relation.LESS
    return Relation.MORE if there <= here else _near(new, known)


def _near(new: Wording, known: Wording) -> Relation:
    """The same value in other words: the same when neither has numbers, times or names that the other lacks."""
    extra = len(set(new.stems) - set(known.stems))
    return Relation.SAME if extra <= 2 and new.agrees_in_detail(known) else Relation.OTHER


def _detail(said: Wording) -> frozenset[str]:
    return (frozenset(said.stems) - _SAYING) | frozenset(said.numbers) | said.times


def _by_words(new: Reading, known: Reading) -> Relation:
    one, other = new.wording, known.wording
    if not one.stems or not other.stems:
        return Relation.OTHER
    if one.stems == other.stems and one.times == other.times and one.names == other.names:
        if one.numbers == other.numbers:
            return Relation.SAME if one.negated == other.negated else Relation.FLIPPED
        return _by_numbers(new, known)
    if one.ended and not other.ended and _is_ended(one, other):
        return Relation.FLIPPED
    if _is_limit(new, known):
        return Relation.LIMIT
    return Relation.OTHER


def _is_ended(new: Wording, known: Wording) -> bool:
    """Tell whether what `new` calls over is part of what `known` says."""
    over = [each for each in _parts(new.stems) if each not in ("giv", "up", "no", "longer", "any", "mor", "anymor")]
    named = [each for each in over if each not in _VAGUE_STEMS]
    return len(named) >= 2 and set(over) <= set(_parts(known.stems)) and set(new.numbers) <= set(known.numbers)


def _parts(stems: tuple[str, ...]) -> list[str]:
    """Take words that a hyphen joins apart: a first-person voice is in first person."""
    return [stem(part) for each in stems for part in (each.split("-") if "-" in each else (each,)) if part]


def _by_numbers(new: Reading, known: Reading) -> Relation:
    if len(new.wording.numbers) != len(known.wording.numbers) or new.wording.negated != known.wording.negated:
        return Relation.OTHER
    differing = sum(1 for one, other in zip(new.wording.numbers, known.wording.numbers, strict=True) if one != other)
    if differing == 1 and (_bound(new.plain) == _bound(known.plain) != "" or _is_habit(new, known)):
        return Relation.LIMIT
    return Relation.OTHER


def _is_habit(new: Reading, known: Reading) -> bool:
    both = (new.plain, known.plain)
    return all(_HABIT.search(each) for each in both) and not any(_PAST.search(each) for each in both)


def _is_limit(new: Reading, known: Reading) -> bool:
    """Tell whether both state one bound of the same thing in nearly the same words, with one number each."""
    bound = _bound(new.plain)
    one, other = new.wording, known.wording
    if not bound or bound != _bound(known.plain) or len(one.numbers) != 1 or len(other.numbers) != 1:
        return False
    if one.numbers == other.numbers or one.negated != other.negated or one.names != other.names:
        return False
    shared = set(one.stems) & set(other.stems)
    every = set(one.stems) | set(other.stems)
    return len(shared) >= 2 and 4 * len(shared) >= 3 * len(every) and _unit(new) == _unit(known)


def _bound(plain: str) -> str:
    return "most" if _MOST.search(plain) else "least" if _LEAST.search(plain) else ""


def _unit(reading: Reading) -> str:
    """Return the word that is counted."""
    words_after = re.search(
        r"(?:\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve))\s*(?:\w+ )??([a-z]+)"
        r"|[\d一二两三四五六七八九十](\w)",
        reading.plain,
    )
    return (words_after[1] or words_after[2] or "").rstrip("s") if words_after else ""
