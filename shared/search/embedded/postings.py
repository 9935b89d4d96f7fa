"""Which passages have which terms, and BM25 over them: each field for itself, then their weighted sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from shared.search.embedded.rows import TERM
from shared.search.fields import BOOSTS, K1, B

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Numbers = NDArray[np.float64]
    Table = dict[str, NDArray[Any]]

_FIELDS: Final = len(BOOSTS)
_WEIGHTS: Final = np.array(list(BOOSTS.values()))
_COLUMNS: Final = {"hash": np.uint64, "cell": np.int32, "times": np.float32}
"""A posting: a term's hash, the cell (a field of a passage) where it is, and how often."""

_SIDES: Final[tuple[Literal["left"], Literal["right"]]] = ("left", "right")
_FRESH_LEAST: Final = 20_000
_FRESH_SHARE: Final = 0.1


class Postings:
    """The terms of passages, which are numbered by their places from 0.

    Sorted by their hash, and beside them the fresh ones in the order they came: those are looked through whole, and
    sorted in when they become many.
    """

    def __init__(self) -> None:
        self._sorted: Table = {name: np.empty(0, kind) for name, kind in _COLUMNS.items()}
        self._fresh: Table = dict(self._sorted)
        self._lengths = np.zeros((0, _FIELDS))
        self._norms = np.zeros((0, _FIELDS))
        self._having = np.zeros(_FIELDS, np.intp)

    @property
    def size(self) -> int:
        """The bytes it takes here."""
        columns = (*self._sorted.values(), *self._fresh.values(), self._lengths, self._norms)
        return sum(column.nbytes for column in columns)

    def append(self, blobs: Sequence[bytes]) -> None:
        """Add the terms of passages that take the next places."""
        found = np.frombuffer(b"".join(blobs), TERM)
        first = len(self._lengths)
        places = np.repeat(np.arange(len(blobs)), [len(blob) // TERM.itemsize for blob in blobs])
        cells = places * _FIELDS + found["field"]
        self._lengths = np.concatenate([self._lengths, _lengths(cells, found["times"], len(blobs))])
        self._fresh = _joined(
            self._fresh, {"hash": found["hash"], "cell": cells + first * _FIELDS, "times": found["times"]}
        )
        if len(self._fresh["hash"]) > max(_FRESH_LEAST, _FRESH_SHARE * len(self._sorted["hash"])):
            self._sort_in()

    def weigh(self, alive: Mask) -> None:
        """Take the passages that are there as those that words are rare or frequent in; call when that changes."""
        lengths = self._lengths[alive]
        self._having = np.count_nonzero(lengths, axis=0)
        average = lengths.sum(axis=0) / np.maximum(self._having, 1)
        self._norms = K1 * (1 - B + B * self._lengths / np.maximum(average, 1))

    def scores(self, hashes: Sequence[int], alive: Mask | None) -> Numbers:
        """Return every passage's BM25 score for the terms of these hashes; 0 where none is there.

        `alive` tells which passages are still there; None: all.
        """
        found = [self._found(hashed, term) for term, hashed in enumerate(hashes)]
        term, cell, times = (np.concatenate(column) for column in zip(*found, strict=True))
        place = cell // _FIELDS
        if alive is not None:
            kept = alive[place]
            term, cell, times, place = term[kept], cell[kept], times[kept], place[kept]
        kind = term * _FIELDS + cell % _FIELDS
        frequency = np.bincount(kind, minlength=len(hashes) * _FIELDS).reshape(-1, _FIELDS)
        rarity = _WEIGHTS * np.log1p((self._having - frequency + 0.5) / (frequency + 0.5))
        parts = rarity.ravel()[kind] * times / (times + self._norms.ravel()[cell])
        scores: Numbers = np.bincount(place, weights=parts, minlength=len(self._lengths)).astype(np.float64)
        return scores

    def _found(self, hashed: int, term: int) -> tuple[NDArray[Any], ...]:
        """Return where a term is: its number, the cell, and how often."""
        key = np.uint64(hashed)
        start, end = (int(np.searchsorted(self._sorted["hash"], key, side)) for side in _SIDES)
        fresh = np.flatnonzero(self._fresh["hash"] == key)
        cell, times = (np.concatenate([self._sorted[c][start:end], self._fresh[c][fresh]]) for c in ("cell", "times"))
        return np.full(len(cell), term, np.int32), cell, times

    def _sort_in(self) -> None:
        joined = _joined(self._sorted, self._fresh)
        order = np.argsort(joined["hash"], kind="stable")
        self._sorted = {name: column[order] for name, column in joined.items()}
        self._fresh = {name: np.empty(0, kind) for name, kind in _COLUMNS.items()}


def _joined(one: Table, other: Table) -> Table:
    return {name: np.concatenate([one[name], other[name].astype(kind)]) for name, kind in _COLUMNS.items()}


def _lengths(cells: NDArray[Any], times: NDArray[Any], count: int) -> Numbers:
    """Return how many terms each field of each passage has."""
    summed: Numbers = np.bincount(cells, weights=times, minlength=count * _FIELDS).astype(np.float64)
    return summed.reshape(count, _FIELDS)
