"""From chunks of a file, and what an add says of it, to rows of memories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from shared.memories.attempts import address_of
from shared.memories.files.readings import chunk_id
from shared.memories.models import EVERY_MODE
from shared.memories.rows import Origin, memory_row

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.documents.port import Chunk
    from shared.memories.models import Add, Kind

PART = "A part of a document."
SHOWN = "What an image shows."
BETWEEN = " > "
"""What stands between the headings of a path."""


@dataclass(frozen=True)
class ChunkDraft:
    """The making of one reading's rows: of the task, its job and its add; the moment (ms) that they are dated from."""

    task: Item
    job: Item
    add: Add
    at: int

    def chunk(self, index: int, chunk: Chunk) -> Item:
        """Return the row of a chunk of a file."""
        place = {"index": index, "heading": list(chunk.heading), "page": chunk.page, "sheet": chunk.sheet}
        above = (PurePath(self.job["filename"]).stem, *([chunk.sheet] if chunk.sheet else []), *chunk.heading)
        return self._row(index, "chunk", chunk.text, place=place, previous=BETWEEN.join(above), reason=PART)

    def image(self) -> Item:
        """Return the row of what an image shows."""
        return self._row(0, "raw", self.job["caption"], place={"index": 0}, previous="", reason=SHOWN)

    def _row(self, index: int, kind: Kind, text: str, *, place: dict[str, Any], **said: str) -> Item:
        address, at = address_of(self.task), self.at + index
        origin = self._origin(kind)
        return memory_row(
            address,
            chunk_id(address, self.job["token"], index),
            kind,
            origin=origin,
            text=text,
            size=len(text.encode()),
            modes=list(EVERY_MODE),
            revision=1,
            generation=self.task["generation"],
            created_at=at,
            updated_at=at,
            decided_at=at,
            event_at=self._said_at(),
            memory_type="semantic",
            categories=[],
            immutable=False,
            fingerprint=None,
            speaker="",
            following="",
            event="ADD",
            task=self.task["task"],
            token=self.job["token"],
            place={**place, "filename": self.job["filename"], "chunks": self.job["chunks_total"] or 1},
            **said,
        )

    def _origin(self, kind: Kind) -> Origin:
        add = self.add
        talk = "code" if add.content_type == "code" else "dialogue"
        return Origin(
            self.job["token"],
            tuple(self.job["positions"]),
            content_type="document" if kind == "chunk" else talk,
            source="document" if kind == "chunk" else "dialogue",
            key_id=add.key_id,
            agent_id=add.agent_id,
            app_id=add.app_id,
            session_id=add.session_id,
            document_id=self.job["document"],
            metadata=add.metadata,
        )

    def _said_at(self) -> int | None:
        times = (self.add.messages[n].at for n in self.job["positions"])
        return next((at for at in times if at is not None), self.add.at)
