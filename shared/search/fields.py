"""How much a word counts by where it stands; both indexes hold to it.

A word of the piece itself counts most. Talk lives on what was said before: an answer often names what it is about
only in the question, so the turn before counts, and much more when it asks; the one after counts a little. A date
counts where one is asked for, and who speaks is as much part of what is said as its words. Set by reason, never
fitted to a data set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from shared.search.asking import is_question

if TYPE_CHECKING:
    from shared.search.port import Passage

BOOSTS: Final[dict[str, float]] = {
    "text": 1.0,
    "asked": 0.6,
    "previous": 0.25,
    "following": 0.2,
    "day": 0.5,
    "speaker": 1.0,
}
"""What each field's BM25 score is multiplied by; a passage's score is their sum."""

K1: Final = 0.9
B: Final = 0.4
"""BM25's saturation and length normalisation: for short texts, gentler than the usual 1.2 and 0.75."""

_NAMED: Final = re.compile(r"(?:[^\s:]{1,40} ){0,3}[^\s:]{1,40}: ")


def texts_of(passage: Passage) -> dict[str, str]:
    """Return the text of each field that words are found in, by the names of `BOOSTS`.

    Who spoke the neighbouring turns is left out: what is asked of Ana is seldom what was said to her.
    """
    before, after = _said(passage.previous), _said(passage.following)
    asked = is_question(before)
    return {
        "text": passage.text,
        "asked": before if asked else "",
        "previous": "" if asked else before,
        "following": after,
        "day": passage.day,
        "speaker": passage.speaker,
    }


def _said(turn: str) -> str:
    """Return what was said in a turn that may be written as `Speaker: text`."""
    named = _NAMED.match(turn)
    return turn[named.end() :] if named else turn
