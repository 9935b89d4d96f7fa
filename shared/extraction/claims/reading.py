"""Reads the claims of a sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from shared.extraction.claims.chinese import read as read_chinese
from shared.extraction.claims.english import read as read_english
from shared.extraction.claims.wording import stems
from shared.extraction.fingerprint import normalised
from shared.extraction.script import is_chinese

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.extraction.claims.claim import Claim

_LONGEST = 300
_CLAUSES = 6
_FOLLOWED = frozenset(("home", "employer", "job"))
_COMMA = re.compile("[，,；;。]")
_CONTRAST = re.compile(r"(?:,|\band)\s+not\s+([^,;:]{1,60})$", re.IGNORECASE)
_MINE = re.compile("我(?=[在住从上去今现已不用喜叫是有刚最昨前毕搬换更])")


def claims_of(text: str) -> tuple[Claim, ...]:
    """Return what a sentence of at most 300 characters claims; a longer text claims nothing that is told apart."""
    if len(text) > _LONGEST:
        return ()
    if not is_chinese(text):
        return tuple(_english(text))
    first, *others = _COMMA.split(text, maxsplit=_CLAUSES)
    claims = list(read_chinese(normalised(first)))
    if _MINE.match(first):  # what follows has the same subject, left out
        followed = (claim for clause in others for claim in read_chinese(normalised(clause)))
        claims += [claim for claim in followed if claim.attribute in _FOLLOWED]
    return tuple(claims)


def _english(text: str) -> Iterator[Claim]:
    """Yield the claims of a sentence; what it sets right ("Rome, not Paris") is what it replaces."""
    contrast = _CONTRAST.search(text)
    if contrast is None:
        yield from read_english(normalised(text), text)
        return
    told, wrong = text[: contrast.start()], stems(normalised(contrast[1]))
    for claim in read_english(normalised(told), told):
        yield claim if claim.instead_of or not claim.holds else replace(claim, instead_of=wrong)
