"""Summaries: the sentences that tell most, in the order they were said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.fingerprint import fingerprint
from shared.extraction.script import content

if TYPE_CHECKING:
    from collections.abc import Sequence

SENTENCES = 5
CHARACTERS = 600

_WEIGHTS = {
    "decision": 4,
    "constraint": 4,
    "identity": 3,
    "preference": 2,
    "plan": 2,
    "relationship": 2,
    "event": 1,
    "skill": 1,
}
_MARKED = re.compile(r"\d|\b[A-Z]{2,}|\b\w+_\w+|(?<=\w )[A-Z]\w+|[《「“\"`]")
_RULES = frozenset(("decision", "constraint"))
_MOST_WORDS = 12
_CONSIDERED = 5_000


def most_telling(
    sentences: Sequence[str],
    labels: Sequence[tuple[str, ...]],
    *,
    code: bool = False,
    most: int = SENTENCES,
    longest: int = CHARACTERS,
) -> list[int]:
    """Return the places of the sentences that a summary of these bounds is made of, in order.

    In a coding session decisions and constraints go before all else.
    """
    weight = [
        _weight(sentence, each) + (100 if code and _RULES.intersection(each) else 0)
        for sentence, each in zip(sentences[:_CONSIDERED], labels, strict=False)
    ]
    chosen: list[int] = []
    left = longest
    seen: set[str] = set()
    for place in sorted(range(len(weight)), key=lambda each: (-weight[each], each)):
        mark = fingerprint(sentences[place])
        fits = not chosen or len(sentences[place]) <= left
        if len(chosen) < most and fits and mark not in seen:
            chosen.append(place)
            seen.add(mark)
            left -= len(sentences[place]) + 1
    return sorted(chosen)


def joined(sentences: Sequence[str]) -> str:
    """Write sentences as one text, each with its end."""
    ended = [
        each if each[-1] in '.!?。！？…"”」' else each + ("。" if each[-1] > "\u3000" else ".") for each in sentences
    ]
    return "".join(each if each[-1] > "\u3000" else f"{each} " for each in ended).strip()


def _weight(sentence: str, labels: tuple[str, ...]) -> float:
    told = min(len(content(sentence)), _MOST_WORDS)
    return sum(_WEIGHTS.get(label, 0) for label in labels) + told / 2 + min(3, len(_MARKED.findall(sentence[:300])))
