"""The filing of files, as the worker does it: chunks become memories that search finds, all of them at one moment.

Batch by batch their passages go into the index, where nothing finds them yet, and their rows into the table with how
far the job is. Then the document names the reading: that is the moment. No lease of the user is held meanwhile.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from shared.aws.writes import Put
from shared.kernel.errors import Conflict
from shared.memories.attempts import Fenced
from shared.memories.files.documents import Switch, repeat, seen_by, standing
from shared.memories.files.drafting import ChunkDraft
from shared.memories.files.jobs import Replaced
from shared.memories.files.pieces import CHUNKS, Pieces
from shared.memories.files.readings import Readings, chunk_id
from shared.memories.files.stages import TimeOver
from shared.memories.indexing import passages_of
from shared.memories.leftovers import Leftovers
from shared.memories.models import Add
from shared.memories.plan import state_of
from shared.memories.tidying import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shared.aws.items import Item
    from shared.documents.port import Chunk
    from shared.memories.files.jobs import FileJob
    from shared.memories.means import Means
    from shared.search.port import State

AT_ONCE: Final = 40
"""Chunks that are embedded, indexed and committed together; a piece is a multiple of it."""

ROUNDS: Final = 3
"""How often a job looks at the document anew because another one was faster."""

ASKED: Final = 1_000
"""States that the index is asked for at a time."""


class Filing:
    """The stage of jobs that lets search find what was read."""

    begins = frozenset({"parsed", "indexing"})
    status = "indexing"

    def __init__(self, means: Means) -> None:
        self._means = means

    def __call__(self, job: FileJob, late: Callable[[], bool]) -> None:
        """Index a job's chunks from where it was, and let its document name them.

        Raises:
            Erased: everything of the user was forgotten meanwhile.
            Fenced: another attempt has taken over.
            FileGone: the file was deleted.
            Unavailable: a dependency is down, or the time is over.
        """
        document = seen_by(job).document
        if there := standing(document, job.task, job.row):
            repeat(job, there)
            return
        if "at" not in job.row:
            job.progress(*job.holds(), at=self._means.backing.clock.now_ms())
        _Work(self._means, job, late)()


class _Work:
    """One attempt's filing."""

    def __init__(self, means: Means, job: FileJob, late: Callable[[], bool]) -> None:
        self._means, self._job, self._late = means, job, late
        self._backing = means.backing
        self._total: int = job.row["chunks_total"]
        add = Add.from_json(json.loads(self._backing.objects.get(job.task["object"])))
        self._draft = ChunkDraft(job.task, job.row, add, job.row["at"])
        self._piece: tuple[int, list[Chunk]] = (-1, [])

    def __call__(self) -> None:
        while self._job.row["chunks_done"] < self._total:
            self._go_on()
            self._commit(self._rows(self._job.row["chunks_done"]))
        self._see_all()
        self._switch()

    def _go_on(self) -> None:
        if self._late():
            raise TimeOver

    def _rows(self, start: int) -> list[Item]:
        """Return the rows of the batch that begins at a chunk."""
        number, inside = divmod(start, CHUNKS)
        if self._piece[0] != number:
            self._piece = (number, Pieces(self._backing, self._job.row).read(number))
        some = self._piece[1][inside : inside + AT_ONCE]
        return [self._draft.chunk(start + n, chunk) for n, chunk in enumerate(some)]

    def _commit(self, rows: Sequence[Item]) -> None:
        with self._left_if_fenced(rows):
            self._put(rows)
            done = self._job.row["chunks_done"] + len(rows)
            self._job.progress(*self._job.holds(), *map(Put, rows), chunks_done=done)
        self._backing.note(self._job.address.scope, memories=len(rows), bytes=sum(row["size"] for row in rows))

    def _put(self, rows: Sequence[Item]) -> None:
        self._means.index.put(passages_of([(row, row["text"]) for row in rows], self._means.embedder))

    @contextmanager
    def _left_if_fenced(self, rows: Sequence[Item]) -> Iterator[None]:
        """Leave a job for passages that an attempt has put which was taken for dead: nothing can keep it from that."""
        try:
            yield
        except Fenced:
            leftovers = Leftovers(self._backing, self._job.address)
            self._backing.table.write(Put(leftovers.if_it_dies(list(map(state_of, rows)))))
            raise

    def _see_all(self) -> None:
        """Make sure that search finds every chunk: what the index has lost is put again.

        Raises:
            Unavailable: it does not find one of them even so.
        """
        for start in range(0, self._total, ASKED):
            missing = self._missing(range(start, min(start + ASKED, self._total)))
            for first in sorted({n - n % AT_ONCE for n in missing}):
                self._go_on()
                self._put(self._rows(first))
            if missing and self._missing(missing):
                raise NotFound("Search does not find yet what was stored.")

    def _missing(self, places: Sequence[int]) -> list[int]:
        states: dict[int, State] = {n: (chunk_id(self._job.address, self._job.row["token"], n), 1) for n in places}
        found = self._means.index.present(self._job.address.owner, set(states.values()))
        return [n for n, state in states.items() if state not in found]

    def _switch(self) -> None:
        """Let the document name this reading, unless another one does that is to stand.

        Raises:
            Conflict: other jobs kept being faster.
        """
        job, readings = self._job, Readings(self._backing, self._job.address)
        for _ in range(ROUNDS):
            document = seen_by(job).document
            try:
                if there := standing(document, job.task, job.row):
                    return repeat(job, there)
                switch = Switch(self._backing, job.task, job.row, document, self._total)
                left = switch.left
                job.hand_over(*job.holds(), *switch.writes(left), chunks=self._total, **switch.ended)
            except Replaced:
                continue
            if left:
                readings.send(left)
            return None
        raise Conflict("Others kept changing this document at the same time.")
