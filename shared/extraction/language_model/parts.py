"""How a long conversation is divided, so that the number of questions to a model is bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from shared.extraction.port import Turn

T = TypeVar("T")
CHARACTERS = 32_000
PARTS = 16
A_TURN = 60  # what goes around a turn's text


def parts_of(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Return the turns in parts of 32,000 characters, or of more where these would be more than 16.

    A part ends between two turns; one turn that is longer than a part becomes several, each of its position.
    """
    size = size_of(sum(map(_length, turns)))
    pieces = (piece for turn in turns for piece in _pieces(turn, size))
    return grouped(pieces, _length, size)


def size_of(total: int) -> int:
    """Return how long parts are, in characters, of a whole that is `total` long."""
    return max(CHARACTERS, 2 * total // PARTS)  # any two neighbours are longer than one, so 16 of them do


def grouped(items: Iterable[T], length: Callable[[T], int], size: int) -> list[tuple[T, ...]]:
    """Return items in groups, in order, none longer than `size` but that of one item."""
    groups: list[list[T]] = []
    room = 0
    for item in items:
        if not groups or length(item) > room:
            groups.append([])
            room = size
        groups[-1].append(item)
        room -= length(item)
    return [tuple(group) for group in groups]


def _length(turn: Turn) -> int:
    return len(turn.text) + sum(map(len, turn.captions)) + A_TURN


def _pieces(turn: Turn, size: int) -> Iterator[Turn]:
    """Yield a turn in pieces; the last one has what its images show."""
    rest = turn.text
    while len(rest) > size - A_TURN:
        end = _break(rest, size - A_TURN)
        yield replace(turn, text=rest[:end], captions=())
        rest = rest[end:]
    yield replace(turn, text=rest)


def _break(text: str, size: int) -> int:
    """Return where to cut: behind the last line, sentence or word that ends in the last tenth of `size` characters."""
    for mark in ("\n", "。", ". ", " "):
        found = text.rfind(mark, size - size // 10, size)
        if found > 0:
            return found + len(mark)
    return size
