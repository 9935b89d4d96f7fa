"""Sentences that tell two things, each of which may change without the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.claims import claims_of
from shared.extraction.script import is_chinese

if TYPE_CHECKING:
    from collections.abc import Iterator

_JOINT = re.compile(r",?\s+(?:and|but)\s+(?=(?:I|I'm|I\u2019m|I've|my|our|we)\s)|;\s+(?=(?:I|I'm|My|my|We|we)\s)")
_JOINT_ZH = re.compile("[，,；]\\s*(?:而且?|并且|但是?|不过)?(?=我(?!们|觉得|想|也|就|才|都|还|会|可以|要|能|感))")
_PARTS = 6


def parted(sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence where each has a subject and a claim of its own, else the sentence as it is."""
    parts = (_JOINT_ZH if is_chinese(sentence) else _JOINT).split(sentence, maxsplit=_PARTS)
    if len(parts) > 1 and all(claims_of(part) for part in parts):
        yield from (part[:1].upper() + part[1:] for part in parts)
    else:
        yield sentence
