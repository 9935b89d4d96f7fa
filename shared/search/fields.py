"""How much a word counts by where it stands; both indexes hold to it.

A word of the piece itself counts most. Talk lives on what was said before: an answer often names what it is about
only in the turn it answers, so the turn before counts half, and the one after a little. A date counts where one is
asked for. Who spoke tells little, since half of a conversation is theirs. Set by reason, never fitted to a data set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from shared.search.port import Passage

BOOSTS: Final[dict[str, float]] = {"text": 1.0, "previous": 0.5, "following": 0.2, "day": 0.5, "speaker": 0.2}
"""What each field's BM25 score is multiplied by; a passage's score is their sum."""

K1: Final = 0.9
B: Final = 0.4
"""BM25's saturation and length normalisation: for short texts, gentler than the usual 1.2 and 0.75."""


def texts_of(passage: Passage) -> dict[str, str]:
    """Return the text of each field that words are found in."""
    return {name: getattr(passage, name) for name in BOOSTS}
