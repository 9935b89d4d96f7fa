"""The search index of one machine: exact, visible at once, durable, and as fast as its owner's passages are few."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from shared.search.analysis import query_terms
from shared.search.embedded.folder import Folder
from shared.search.embedded.owners import Owners
from shared.search.embedded.rows import hash_of, row_of
from shared.search.port import Channels

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from shared.search.embedded.owners import Owner
    from shared.search.port import Ask, Passage, State


class EmbeddedIndex:
    """A `SearchIndex` of files under a folder, a file an owner. Threads and processes may share the folder."""

    def __init__(self, folder: Path, embedder: str, dimension: int) -> None:
        """Take a folder for the vectors of one embedder, of this length; nothing is read or made yet."""
        self._folder = Folder(folder, embedder, dimension)
        self._dimension = dimension
        self._owners = Owners(folder, dimension)

    def ensure(self) -> None:
        """Make the folder where there is none.

        Raises:
            IndexMismatch: it is there, and not for this embedder and mapping.
            Unavailable: the folder can't be used.
        """
        self._folder.ensure()

    def close(self) -> None:
        """Let go of all files."""
        self._owners.close()

    def put(self, passages: Sequence[Passage]) -> None:
        """Store passages, all of them searchable and durable when it returns; one transaction an owner."""
        by_owner = attrgetter("owner")
        for owner, of_owner in groupby(sorted(passages, key=by_owner), by_owner):
            rows = [row_of(passage, self._dimension) for passage in of_owner]
            with self._owners.made(owner) as held:
                held.file.add(rows)

    def present(self, owner: str, states: Collection[State]) -> set[State]:
        """Return those of the states that search would find now."""
        with self._owners.holding(owner) as held:
            return {state for state in states if held.file.holds(state)} if held else set()

    def search(self, asks: Sequence[Ask]) -> list[Channels]:
        """Answer all questions, in order."""
        return [self._answer(ask) for ask in asks]

    def remove(self, owner: str, states: Collection[State]) -> None:
        """Remove all passages of these states, and let no search find them when it returns."""
        with self._owners.holding(owner) as held:
            if held:
                held.file.remove(states)

    def clear(self, owner: str, before_generation: int) -> int:
        """Remove an owner's passages of earlier generations, and return how many there were."""
        with self._owners.holding(owner) as held:
            return held.file.clear(before_generation) if held else 0

    def _answer(self, ask: Ask) -> Channels:
        with self._owners.holding(ask.owner) as held:
            return _channels(held, ask) if held else Channels()


def _channels(held: Owner, ask: Ask) -> Channels:
    with held.reading() as columns:
        mask = columns.mask(ask.where, held.file)
    dense = columns.dense(np.asarray(ask.vector, np.float32), ask.floor, mask, k=ask.k_dense) if ask.k_dense else ()
    words = [hash_of(term) for term in query_terms(ask.text)] if ask.k_sparse else []
    return Channels(dense, columns.sparse(words, mask, ask.k_sparse))
