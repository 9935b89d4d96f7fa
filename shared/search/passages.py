"""Passages: how a long text is cut into pieces that can be found, and what is embedded of a piece."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 1_500
"""The characters of a passage: what embedders read, and what one answer to a question needs."""

CONTEXT: Final = 200
"""The characters of the turn before that go with a turn: its end, where the question usually is."""

_CUTS: Final = (
    re.compile(r"\n[^\S\n]*\n\s*"),  # paragraphs
    re.compile(r"\n"),
    re.compile("[。！？…；][”’」』）】]*|[.!?;][\"'”’)\\]]*\\s"),  # noqa: RUF001 - sentences, Chinese and Latin
    re.compile("[,、，：]\\s?|\\s"),  # clauses and words
)
"""Where to cut, the best place first; a cut is after what matches."""

# Not by strftime, which writes in the machine's language.
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def passages_of(text: str) -> list[str]:
    """Cut a text into passages of at most 1,500 characters: put together again, they are the text.

    A cut is made at the end of a paragraph, else of a line, a sentence, a word; a text without any is cut anyway.
    A text of nothing is one passage of nothing.
    """
    if len(text) <= LONGEST:
        return [text]
    return list(_cut(text))


def embedding_text(text: str, *, speaker: str = "", previous: str = "") -> str:
    """Return what is embedded of a passage: the end of the turn before, and who says what.

    `previous` is the turn before as `Speaker: text`; an answer often makes sense only beside its question.
    """
    said = f"{speaker}: {text}" if speaker else text
    return f"{previous[-CONTEXT:]}\n{said}" if previous else said


def day_words(ms: int | None) -> str:
    """Return a moment's day (UTC) in the words it is asked for by: `Friday 27 November 2026 2026-11-27 2026年…`."""
    if ms is None:
        return ""
    day = datetime.fromtimestamp(ms / 1000, UTC)
    words = f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"
    return f"{words} {day:%Y-%m-%d} {day.year}年{day.month}月{day.day}日"


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > LONGEST:
        end = _end_of_piece(text, start)
        yield text[start:end]
        start = end
    yield text[start:]


def _end_of_piece(text: str, start: int) -> int:
    """Return where the piece from `start` ends: at the last good place in its second half, else anywhere in it."""
    limit = start + LONGEST
    half = start + LONGEST // 2
    for places in _CUTS:
        ends = [found.end() for found in places.finditer(text, half, limit)]
        if ends:
            return min(ends[-1], limit)
    return limit
