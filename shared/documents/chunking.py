"""Chunking: a document's sections become chunks that are found by themselves, whatever its size."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from shared.documents.pieces import MOST, TARGET, End, Piece, pieces_of
from shared.documents.port import Chunk, Section
from shared.documents.sentences import size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SMALL: Final = 0.4 * TARGET
"""A section below this is joined to one beside it."""

_LEAST: Final = {End.SECTION: 0.1 * TARGET, End.PARAGRAPH: 0.5 * TARGET, End.SENTENCE: 0}
"""What a chunk has at least, to end where a section, a paragraph, a sentence does."""


def chunks_of(sections: Iterable[Section]) -> Iterator[Chunk]:
    """Yield the chunks of a document in order, while its sections are being read; one chunk is held.

    A chunk is about 1,000 characters of English or 400 of Chinese, one passage. It ends with a section, else with
    a paragraph, else with a sentence; a sentence longer than a chunk is cut at a clause or a word. No page, slide or
    sheet shares a chunk with another. A table's row is not cut, and its header is said again where a chunk goes on
    with it.
    """
    held = _Held()
    for section in sections:
        if held.pieces and not held.joins(section):
            yield from held.all()
        held.goes_on(section)
        for piece in pieces_of(section.text):
            held.pieces.append((piece, section))
            held.size += piece.size
            while held.size > MOST and len(held.pieces) > 1:
                yield from held.first()
    yield from held.all()


class _Held:
    """The pieces that are no chunk yet, each with its section; `size` includes a header that is said again."""

    def __init__(self) -> None:
        self.pieces: list[tuple[Piece, Section]] = []
        self.size: float = 0

    def joins(self, section: Section) -> bool:
        """Tell whether a section may share a chunk with what is held: it is of the same, or of a related small one."""
        last = self.pieces[-1][1]
        if (last.page, last.sheet) != (section.page, section.sheet):
            return False
        return last.heading == section.heading or (self.size < _SMALL and _related(last.heading, section.heading))

    def goes_on(self, section: Section) -> None:
        """Note that a section begins after what is held."""
        if self.pieces:
            last, of = self.pieces[-1]
            last.end = End.PARAGRAPH if of.heading == section.heading else End.SECTION

    def first(self) -> Iterator[Chunk]:
        """Yield the chunk that what is held begins with."""
        yield from self._take(self._cut())

    def all(self) -> Iterator[Chunk]:
        """Yield what is held."""
        yield from self._take(len(self.pieces))

    def _take(self, count: int) -> Iterator[Chunk]:
        taken, self.pieces = self.pieces[:count], self.pieces[count:]
        self.size = sum(piece.size for piece, _ in self.pieces)
        if self.pieces:
            self.size += size_of(self.pieces[0][0].header)
        if taken and (text := _joined([piece for piece, _ in taken])):
            of = taken[0][1]
            yield Chunk(text, _above([section.heading for _, section in taken]), of.page, of.sheet)

    def _cut(self) -> int:
        """Return how many pieces are the first chunk."""
        best, ends, full = 1, End.SENTENCE, 0.0
        size = size_of(self.pieces[0][0].header)
        for count, (piece, _) in enumerate(self.pieces[:-1], 1):
            size += piece.size
            if size > MOST or (size > TARGET and full >= _LEAST[End.PARAGRAPH]):
                break
            if piece.end >= ends and size >= _LEAST[piece.end]:
                best, ends, full = count, piece.end, size
        return best


def _related(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether one heading is above the other, or both are under the same."""
    shorter, longer = sorted((one, other), key=len)
    above = bool(shorter) and longer[: len(shorter)] == shorter
    return above or (len(one) == len(other) > 1 and one[:-1] == other[:-1])


def _above(headings: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the path that all of these are under: of several sections none is named that others are not part of."""
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, zip(*headings, strict=False)))


def _joined(pieces: list[Piece]) -> str:
    said = [pieces[0].header]
    for piece in pieces:
        bare = piece.text.rstrip()
        after = "\n" if "\n" in piece.text[len(bare) :] else piece.text[len(bare) :][:1]
        said += (bare, "\n\n" if piece.end else after)
    return "".join(said).strip()
