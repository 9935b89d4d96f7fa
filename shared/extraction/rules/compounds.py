"""Sentences that tell several things, each of which may change without the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.claims import claims_of
from shared.extraction.rules.accompanying import apart, apart_zh
from shared.extraction.rules.clauses import carried_zh, clauses
from shared.extraction.script import is_chinese

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_JOINT = re.compile(r",?\s+(?:and|but)\s+(?=(?:I|I'm|I\u2019m|I've|my|our|we)\s)|;\s+(?=(?:I|I'm|My|my|We|we)\s)")
_JOINT_ZH = re.compile("[，,；]\\s*(?:而且?|并且|但是?|不过)?(?=我(?!们|觉得|想|也|就|才|都|还|会|可以|要|能|感))")
_PARTS = 6


def parted(sentence: str, is_kept: Callable[[str], bool]) -> Iterator[str]:
    """Yield the parts of a sentence that stand alone; `is_kept` tells whether a text is worth keeping by itself.

    A part whose subject is left out has that of the part before it, in the words that it was named in.
    """
    chinese = is_chinese(sentence)
    whole, parts = (carried_zh, apart_zh) if chinese else (clauses, apart)
    claimed = _claimed(sentence, _JOINT_ZH if chinese else _JOINT, is_kept)
    told = [part for each in claimed for clause in whole(each, is_kept) for part in parts(clause)]
    yield from (part[:1].upper() + part[1:] for part in told) if len(told) > 1 else (sentence,)


def _claimed(sentence: str, joint: re.Pattern[str], is_kept: Callable[[str], bool]) -> list[str]:
    """Part a sentence where each part has a subject and a claim of its own."""
    parts = joint.split(sentence, maxsplit=_PARTS)
    return parts if len(parts) > 1 and all(claims_of(part) and is_kept(part) for part in parts) else [sentence]
