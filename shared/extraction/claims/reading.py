"""Reads the claims of a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.claims.chinese import read as read_chinese
from shared.extraction.claims.english import read as read_english
from shared.extraction.fingerprint import normalised
from shared.extraction.script import is_chinese

if TYPE_CHECKING:
    from shared.extraction.claims.claim import Claim

_LONGEST = 300
_CLAUSES = 6
_FOLLOWED = frozenset(("home", "employer", "job"))
_COMMA = re.compile("[，,；;。]")
_MINE = re.compile("我(?=[在住从上去今现已不用喜叫是有刚最昨前毕搬换更])")


def claims_of(text: str) -> tuple[Claim, ...]:
    """Return what a sentence of at most 300 characters claims; a longer text claims nothing that is told apart."""
    if len(text) > _LONGEST:
        return ()
    if not is_chinese(text):
        return tuple(read_english(normalised(text), text))
    first, *others = _COMMA.split(text, maxsplit=_CLAUSES)
    claims = list(read_chinese(normalised(first)))
    if _MINE.match(first):  # what follows has the same subject, left out
        followed = (claim for clause in others for claim in read_chinese(normalised(clause)))
        claims += [claim for claim in followed if claim.attribute in _FOLLOWED]
    return tuple(claims)
