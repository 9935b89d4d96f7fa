"""One owner's passages in this process, as columns to compute with; they follow the owner's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from shared.search.embedded.postings import Postings
from shared.search.embedded.rows import VECTOR
from shared.search.port import AllOf, AnyOf, Found, Is, Not

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shared.search.embedded.file import Added, OwnerFile
    from shared.search.port import Condition, State, Within

    Mask = NDArray[np.bool_]

_LEAST: Final = 64
"""Room for that many passages at first; it doubles."""

_DEAD_LEAST: Final = 1_000
_MASKS: Final = 64
_PASSAGES: Final = 4
"""For k states, so many times k passages are looked at: a memory has one or a few."""
_DECIMALS: Final = 6
"""Scores are compared to here: the same passages give the same order on every machine and after every start."""


class Columns:
    """The passages up to a change of the file, by their places from 0 in the order they came."""

    def __init__(self, dimension: int) -> None:
        self._change = 0
        self._count = 0
        self._dead = 0
        self._states: list[State] = []
        self._documents: list[str | None] = []
        self._number_of: dict[State, int] = {}
        self._postings = Postings()
        self._seqs = np.empty(_LEAST, np.int64)
        self._state_of = np.empty(_LEAST, np.int64)
        self._alive = np.zeros(_LEAST, np.bool_)
        self._asks = np.zeros(_LEAST, np.bool_)
        self._vectors = np.empty((_LEAST, dimension), np.float32)
        self._masks: dict[Is | Within, Mask] = {}

    @property
    def size(self) -> int:
        """The bytes they take here, about."""
        return self._vectors.nbytes + self._postings.size + 300 * len(self._states)

    @property
    def worn(self) -> bool:
        """Whether more of it is dead than alive, so that they had better be read anew."""
        return self._dead > max(_DEAD_LEAST, self._count // 2)

    def follow(self, file: OwnerFile) -> None:
        """Take over what changed in the file; call while reading it."""
        change = file.change()
        if change == self._change:
            return
        self._append(file.added_after(int(self._seqs[self._count - 1]) if self._count else 0))
        self._bury(file.removed_after(self._change))
        self._postings.weigh(self._alive[: self._count])
        self._masks.clear()
        self._change = change

    def mask(self, where: Condition, file: OwnerFile) -> Mask:
        """Return for each passage whether it is there and the condition holds; call while reading the file."""
        return self._alive[: self._count] & self._holds(where, file)

    def dense(self, vector: NDArray[np.float32], floor: float, mask: Mask, *, k: int) -> tuple[Found, ...]:
        """Return the k states with the most similar passages, of at least this similarity."""
        similar = np.clip(self._vectors[: self._count] @ vector, -1, 1).round(_DECIMALS)
        return self._best(similar, mask & (similar >= floor), k)

    def sparse(self, hashes: Sequence[int], mask: Mask, k: int) -> tuple[Found, ...]:
        """Return the k states with the passages whose words fit best."""
        if not hashes or not self._count:
            return ()
        alive = self._alive[: self._count] if self._dead else None
        scores = self._postings.scores(hashes, alive).round(_DECIMALS)
        return self._best(scores, mask & (scores > 0), k)

    def _best(self, scores: NDArray[Any], candidates: Mask, k: int) -> tuple[Found, ...]:
        places = np.flatnonzero(candidates)
        enough = _PASSAGES * k
        while enough < len(places):
            # All that are at least as good as the last of enough: few, and none is left out for another's sake.
            values = scores[places]
            best = places[values >= np.partition(values, -enough)[-enough]]
            if len(np.unique(self._state_of[best])) >= k:
                places = best
                break
            enough *= 4
        return self._first(places, scores, k)

    def _first(self, places: NDArray[np.intp], scores: NDArray[Any], k: int) -> tuple[Found, ...]:
        """Return the first k states, each by its best passage; of equal scores, those with the least ids."""
        ordered = places[np.argsort(-scores[places], kind="stable")]
        best: dict[State, Found] = {}
        last = 0.0
        for place in ordered:
            score = float(scores[place])
            if len(best) >= k and score < last:
                break
            number = self._state_of[place]
            state, last = self._states[number], score
            asks, document_id = bool(self._asks[place]), self._documents[number]
            best.setdefault(state, Found(state[0], state[1], last, asks=asks, document_id=document_id))
        return tuple(sorted(best.values(), key=lambda one: (-one.score, one.state))[:k])

    def _holds(self, where: Condition, file: OwnerFile) -> Mask:
        match where:
            case AllOf(parts):
                return np.logical_and.reduce([self._holds(p, file) for p in parts]) if parts else ~self._none()
            case AnyOf(parts):
                return np.logical_or.reduce([self._holds(p, file) for p in parts]) if parts else self._none()
            case Not(part):
                return ~self._holds(part, file)
        if where not in self._masks:
            self._masks[where] = self._read(where, file)
        return self._masks[where]

    def _read(self, where: Is | Within, file: OwnerFile) -> Mask:
        if len(self._masks) >= _MASKS:
            self._masks.clear()
        seqs = file.labelled(where.field, where.values) if isinstance(where, Is) else file.within(where)
        held = self._none()
        held[self._places(seqs)] = True
        return held

    def _none(self) -> Mask:
        return np.zeros(self._count, np.bool_)

    def _places(self, seqs: Sequence[int]) -> NDArray[np.intp]:
        """Return the places of the passages of these numbers; those that never came here have none."""
        wanted = np.array(seqs, np.int64)
        known = self._seqs[: self._count]
        places: NDArray[np.intp] = np.searchsorted(known, wanted)
        inside = places < self._count
        places, wanted = places[inside], wanted[inside]
        there: NDArray[np.intp] = places[known[places] == wanted]
        return there

    def _append(self, rows: Sequence[Added]) -> None:
        if not rows:
            return
        seqs, memories, revisions, documents, asks, vectors, terms = zip(*rows, strict=True)
        start, end = self._count, self._count + len(rows)
        self._make_room(end)
        self._seqs[start:end] = seqs
        states = zip(memories, revisions, strict=True)
        self._state_of[start:end] = [self._number(*one) for one in zip(states, documents, strict=True)]
        self._vectors[start:end] = np.frombuffer(b"".join(vectors), VECTOR).reshape(len(rows), -1)
        self._asks[start:end] = asks
        self._alive[start:end] = True
        self._postings.append(terms)
        self._count = end

    def _number(self, state: State, document: str | None) -> int:
        number = self._number_of.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
            self._documents.append(document)
        return number

    def _make_room(self, count: int) -> None:
        room = len(self._seqs)
        if count <= room:
            return
        more = max(count, 2 * room) - room
        self._seqs, self._state_of, self._alive, self._asks, self._vectors = (
            np.concatenate([column, np.zeros((more, *column.shape[1:]), column.dtype)])
            for column in (self._seqs, self._state_of, self._alive, self._asks, self._vectors)
        )

    def _bury(self, seqs: Sequence[int]) -> None:
        places = self._places(seqs)
        self._alive[places] = False
        self._dead += len(places)
