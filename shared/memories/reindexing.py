"""The search index made anew from the records, while those are written.

Whoever writes during it puts into both indexes. What is read here may change before it is in the new one: so the
records are read again after every batch, and what is not theirs any more is taken back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from shared.aws.errors import ObjectMissing
from shared.aws.items import key_of
from shared.memories.indexing import passages_of
from shared.memories.records import GENERATIONS, MEMORY_ROWS
from shared.memories.rows import memory_id_of
from shared.memories.sight import generation_in, read_all
from shared.memories.texts import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.objects import Objects
    from shared.aws.table import Page, Start, Table
    from shared.models.port import Embedder
    from shared.search.port import Passage, Rebuild, State

BATCH: Final = 200
"""Rows that are embedded, written and looked at again together."""


@dataclass(frozen=True)
class Progress:
    """How far a rebuild is: memories read and passages written in this run."""

    memories: int = 0
    passages: int = 0


class Reindexing:
    """A rebuild of the index of one table's memories."""

    def __init__(self, table: Table, objects: Objects, embedder: Embedder, *, rebuild: Rebuild) -> None:
        self._table = table
        self._objects = objects
        self._embedder = embedder
        self._rebuild = rebuild

    def run(self, tell: Callable[[Progress], None]) -> Progress:
        """Rebuild the index and switch to it; `tell` hears of the progress after every page.

        Interrupted, it goes on after the last whole page when it is run again.

        Raises:
            Unavailable: something does not answer; what was done is kept.
        """
        mark = self._rebuild.begin()
        progress = Progress()
        for page in self._pages(json.loads(mark) if mark else None):
            progress = self._add(page.items, progress)
            self._rebuild.note(json.dumps(page.last))
            tell(progress)
        self._rebuild.finish()
        return progress

    def _pages(self, start: Start) -> Iterator[Page]:
        while True:
            page = self._table.scan(*MEMORY_ROWS, start)
            if page.last is None:
                yield replace(page, last=start)  # the mark of its beginning: it is read again, and nothing before it
                return
            yield page
            start = page.last

    def _add(self, rows: list[Item], progress: Progress) -> Progress:
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            passages = passages_of(list(self._with_texts(self._visible(some))), self._embedder)
            self._rebuild.put(passages)
            self._take_back(passages, some)
            progress = Progress(progress.memories + len(some), progress.passages + len(passages))
        return progress

    def _take_back(self, passages: Sequence[Passage], rows: Sequence[Item]) -> None:
        now = read_all(self._table, [key_of(row) for row in rows])
        valid = {_state(row) for row in self._visible(list(now.values()))}
        stale = [passage for passage in passages if (passage.memory_id, passage.revision) not in valid]
        if stale:
            self._rebuild.discard(stale)

    def _visible(self, rows: Sequence[Item]) -> list[Item]:
        """Return the rows that are not of a generation that was forgotten.

        What no document names is put too: one may from the next moment on, and who removes it finds it in both indexes.
        """
        generations = read_all(self._table, [(row["pk"], GENERATIONS) for row in rows])
        return [row for row in rows if row["generation"] == generation_in(generations.get(_counted(row)), row["user"])]

    def _with_texts(self, rows: Sequence[Item]) -> Iterator[tuple[Item, str]]:
        for row in rows:
            try:
                yield row, text_of(self._objects, row)
            except ObjectMissing:
                continue  # changed or removed since: who did so has written to the new index as well


def _state(row: Item) -> State:
    return memory_id_of(row), row["revision"]


def _counted(row: Item) -> Key:
    return row["pk"], GENERATIONS
