"""Which passages have which terms, and BM25 over them: each field for itself, then their weighted sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from shared.search.embedded.rows import TERM
from shared.search.fields import BOOSTS, K1, B

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Numbers = NDArray[np.float64]

_POSTING: Final = np.dtype([*TERM.descr, ("place", "<i4")])
_FIELDS: Final = len(BOOSTS)
_WEIGHTS: Final = np.array(list(BOOSTS.values()))
_FRESH_LEAST: Final = 20_000
_FRESH_SHARE: Final = 0.1


class Postings:
    """The terms of passages, which are numbered by their places from 0.

    Sorted by their hash, and beside them the fresh ones in the order they came: those are looked through whole, and
    sorted in when they become many.
    """

    def __init__(self) -> None:
        self._sorted = _in_order(np.empty(0, _POSTING))
        self._fresh = np.empty(0, _POSTING)
        self._lengths = np.zeros((0, _FIELDS))

    @property
    def size(self) -> int:
        """The bytes it takes here."""
        return sum(column.nbytes for column in self._sorted.values()) + self._fresh.nbytes + self._lengths.nbytes

    def append(self, blobs: Sequence[bytes]) -> None:
        """Add the terms of passages that take the next places."""
        found = np.frombuffer(b"".join(blobs), TERM)
        first = len(self._lengths)
        places = np.repeat(np.arange(len(blobs), dtype="<i4"), [len(blob) // TERM.itemsize for blob in blobs])
        self._lengths = np.concatenate([self._lengths, _lengths(found, places, len(blobs))])
        fresh = np.empty(len(found), _POSTING)
        for column in TERM.names or ():
            fresh[column] = found[column]
        fresh["place"] = places + first
        self._fresh = np.concatenate([self._fresh, fresh])
        if len(self._fresh) > max(_FRESH_LEAST, _FRESH_SHARE * len(self._sorted["hash"])):
            self._sort_in()

    def scores(self, hashes: Sequence[int], alive: Mask) -> Numbers:
        """Return every passage's BM25 score for the terms of these hashes; 0 where none is there."""
        found = [self._found(hashed, term) for term, hashed in enumerate(hashes)]
        term, place, field, times = (np.concatenate(column) for column in zip(*found, strict=True))
        kept = alive[place]
        return self._bm25(term[kept], place[kept], field[kept], times[kept], alive)

    def _bm25(self, term: Any, place: Any, field: Any, times: Any, alive: Mask) -> Numbers:
        lengths = self._lengths[alive]
        having = np.count_nonzero(lengths, axis=0)
        average = lengths.sum(axis=0) / np.maximum(having, 1)
        kinds, of_kind, frequency = np.unique(term * _FIELDS + field, return_inverse=True, return_counts=True)
        rarity = np.log1p((having[kinds % _FIELDS] - frequency + 0.5) / (frequency + 0.5))
        saturation = times + K1 * (1 - B + B * self._lengths[place, field] / average[field])
        parts = _WEIGHTS[field] * rarity[of_kind] * times / saturation
        scores: Numbers = np.bincount(place, weights=parts, minlength=len(self._lengths)).astype(np.float64)
        return scores

    def _found(self, hashed: int, term: int) -> tuple[Any, ...]:
        """Return the number of the term, and the places, fields and times of where it is."""
        key = np.uint64(hashed)
        column = self._sorted
        there = slice(*(np.searchsorted(column["hash"], key, side) for side in ("left", "right")))
        fresh = self._fresh[self._fresh["hash"] == key]
        place, field, times = (np.concatenate([column[c][there], fresh[c]]) for c in ("place", "field", "times"))
        return np.full(len(place), term), place, field.astype(np.intp), times.astype(np.float64)

    def _sort_in(self) -> None:
        columns = {c: np.concatenate([self._sorted[c], self._fresh[c]]) for c in self._sorted}
        order = np.argsort(columns["hash"], kind="stable")
        self._sorted = {c: column[order] for c, column in columns.items()}
        self._fresh = np.empty(0, _POSTING)


def _in_order(postings: NDArray[np.void]) -> dict[str, NDArray[Any]]:
    return {c: np.ascontiguousarray(postings[c]) for c in _POSTING.names or ()}


def _lengths(found: NDArray[np.void], places: NDArray[np.int32], count: int) -> Numbers:
    """Return how many terms each field of each passage has."""
    cells = places.astype(np.intp) * _FIELDS + found["field"]
    summed: Numbers = np.bincount(cells, weights=found["times"], minlength=count * _FIELDS).astype(np.float64)
    return summed.reshape(count, _FIELDS)
