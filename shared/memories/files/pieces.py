"""Pieces: runs of chunks of a file that are parsed and not yet indexed, an object of JSON lines each.

A document is never held whole: who reads it writes a piece at a time, who indexes it reads a piece at a time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from shared.aws.items import key_of
from shared.aws.table import Query
from shared.aws.writes import Delete, Put
from shared.documents.port import Chunk
from shared.kernel.scope import Scope
from shared.kernel.strict_json import compact
from shared.memories.records import piece_key
from shared.retention.records import object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing

CHUNKS: Final = 200
"""Chunks of a piece; only a file's last has fewer."""

CLASS: Final = "r30"
"""The class of pieces: they go when their job ends, the class is the backstop."""


class Pieces:
    """The pieces of one file job."""

    def __init__(self, backing: Backing, job: Item) -> None:
        self._backing = backing
        self._job = job
        self._scope = Scope(job["tenant"], job["project"])

    def store(self, number: int, chunks: Sequence[Chunk]) -> Put:
        """Store a piece under a key that nothing uses yet, and return the write that makes it count."""
        pk, sk = key = self._key(number)
        name = object_key(CLASS, self._backing.clock.now_ms(), self._scope)
        self._backing.objects.put(name, _lines(chunks), owner=owner_of(key))
        whose = {"user": self._job["user"], "generation": self._job["generation"]}
        return Put({"pk": pk, "sk": sk, **whose, "object": name, "chunks": len(chunks)})

    def read(self, number: int) -> list[Chunk]:
        """Return the chunks of a piece.

        Raises:
            KeyError: it was removed: the job has ended.
            ObjectMissing: the same.
        """
        row = self._backing.table.batch_get([self._key(number)])[self._key(number)]
        return [_chunk(json.loads(line)) for line in self._backing.objects.get(row["object"]).split(b"\n")]

    def remove(self) -> None:
        """Remove all of them, objects first: what a crash leaves is found by its row.

        Raises:
            Unavailable: some of them are left.
        """
        pk, sk = self._key(0)
        table = self._backing.table
        rows = list(table.every(Query(pk, begins=sk.rpartition("#")[0] + "#")))
        if objects := [row["object"] for row in rows]:
            self._backing.objects.delete(*objects)
        for row in rows:
            table.write(Delete(key_of(row)))

    def _key(self, number: int) -> Key:
        return piece_key(self._scope, self._job["task"], self._job["n"], piece=number)


def _lines(chunks: Sequence[Chunk]) -> bytes:
    return b"\n".join(compact({**vars(chunk), "heading": list(chunk.heading)}).encode() for chunk in chunks)


def _chunk(kept: dict[str, Any]) -> Chunk:
    return Chunk(**{**kept, "heading": tuple(kept["heading"])})
