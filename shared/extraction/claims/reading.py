"""Reads the claims of a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.extraction.claims.chinese import read as read_chinese
from shared.extraction.claims.english import read as read_english
from shared.extraction.fingerprint import normalised
from shared.extraction.script import is_chinese

if TYPE_CHECKING:
    from shared.extraction.claims.claim import Claim

_LONGEST = 300


def claims_of(text: str) -> tuple[Claim, ...]:
    """Return what a sentence of at most 300 characters claims; a longer text claims nothing that is told apart."""
    if len(text) > _LONGEST:
        return ()
    plain = normalised(text)
    return tuple(read_chinese(plain) if is_chinese(text) else read_english(plain, text))
