"""Pieces: what of a section's text is never cut: sentences, lines that stand for themselves, rows, blocks of code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from shared.documents.sentences import cut_ends, sentence_ends, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET: Final = 1_000
"""How much a chunk is (in Latin characters), and at most a sentence: less than a passage, which is embedded as one."""

MOST: Final = 1_300
"""How much a chunk is at most, where that spares a small rest; and a block of code that is kept whole."""

ROW: Final = 4_000
"""How much a table's row is that is kept whole: a few passages."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE: Final = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+$")
_MARKER: Final = re.compile(r"\s*(?:[-*+•·▪◦–—>#]|\(?\w{1,3}[.)、]|[（(]?[一二三四五六七八九十\d]{1,3}[）)、．])")  # noqa: RUF001 - what lists begin with
_STOPS: Final = re.compile(r"[.!?:;。！？：；…][\"'”’)\]」』）]*\s*$")  # noqa: RUF001 - closing quotes
_WRAPPED: Final = 50
"""From this width on, a line without a stop is one that was only wrapped."""


class End(IntEnum):
    """What ends with a piece."""

    SENTENCE = 0
    PARAGRAPH = 1
    SECTION = 2


@dataclass
class Piece:
    """A piece; `header` is that of the table it goes on with, to be said again where a chunk begins with it."""

    text: str
    end: End = End.SENTENCE
    header: str = ""

    @cached_property
    def size(self) -> float:
        """How much it is, in Latin characters."""
        return size_of(self.text)


def pieces_of(text: str) -> Iterator[Piece]:
    """Yield the pieces in order; put together they are the text, but for white space."""
    last: Piece | None = None
    for piece in _Text(text).pieces():
        if piece is None:
            if last is not None:
                last.end = End.PARAGRAPH
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


class _Text:
    """A text that is read line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def pieces(self) -> Iterator[Piece | None]:
        """Yield the pieces, and None between paragraphs."""
        while line := self._next():
            if line.isspace():
                yield None
            elif fence := _FENCE.match(line):
                yield from self._code(line, fence[1])
            elif _is_row(line):
                yield from self._table(line)
            else:
                yield from self._prose(line)

    def _peek(self) -> str:
        found = _LINE.match(self._text, self._place)
        return found[0] if found else ""

    def _next(self) -> str:
        line = self._peek()
        self._place += len(line)
        return line

    def _code(self, line: str, fence: str) -> Iterator[Piece | None]:
        """Yield a block of code, whole or line by line; one that has no end goes to the text's."""
        held, size, whole = [line], size_of(line), True
        while line := self._next():
            held.append(line)
            size += size_of(line)
            closed = line.strip().startswith(fence) and not line.strip().strip(fence[0])
            if whole and size > MOST:
                whole = False
            if not whole:
                yield from _lines(held)
                held.clear()
            if closed:
                break
        if held:
            yield from [Piece("".join(held))] if size <= MOST else _lines(held)
        yield None

    def _table(self, line: str) -> Iterator[Piece | None]:
        """Yield the rows; the first is one with the header."""
        header = ""
        if _RULE.match(self._peek()):
            line = header = line + self._next()
            if size_of(header) > TARGET / 2:
                header = ""
            if _is_row(self._peek()) and size_of(line) + size_of(self._peek()) <= MOST:
                line += self._next()
        yield from _row(line)
        while _is_row(self._peek()):
            yield from _row(self._next(), header)
        yield None

    def _prose(self, line: str) -> Iterator[Piece]:
        """Yield the sentences of a line, and of those that it was only wrapped from."""
        start = self._place - len(line)
        while _goes_on(line, after := self._peek()):
            line = after
            self._place += len(line)
        place = start
        for end in sentence_ends(self._text, start, self._place):
            yield from _short(self._text, place, end, most=TARGET)
            place = end


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|") or "\t" in line.strip()


def _goes_on(line: str, after: str) -> bool:
    """Tell whether a line was only wrapped into the one after it."""
    if not after or after.isspace() or _STOPS.search(line[-8:]) or _FENCE.match(after) or _is_row(after):
        return False
    if _MARKER.match(after[:20]):
        return False
    return after.lstrip()[:1].islower() or size_of(line[:_WRAPPED]) >= _WRAPPED


def _lines(lines: list[str]) -> Iterator[Piece | None]:
    for line in lines:
        if line.isspace():
            yield None
        else:
            yield from _short(line, 0, len(line), most=TARGET)


def _row(line: str, header: str = "") -> Iterator[Piece]:
    for piece in _short(line, 0, len(line), most=ROW):
        piece.header = header
        yield piece


def _short(text: str, start: int, end: int, *, most: float) -> Iterator[Piece]:
    """Yield a sentence or a row whole, or, where it is longer than `most`, in pieces that fit into a chunk."""
    if end - start <= most and size_of(text[start:end]) <= most:
        yield Piece(text[start:end])
        return
    for cut in cut_ends(text, start, end, most=TARGET):
        if not text[start:cut].isspace():
            yield Piece(text[start:cut])
        start = cut
