"""What an ended task changed, for who waited for it (seed, Add response, Completed synchronously).

The task keeps no text: texts and names are looked up, so that what is deleted is nowhere; what is gone has "".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each
from shared.kernel.scope import Scope
from shared.memories.records import document_key, memory_key
from shared.memories.sight import read_all
from shared.memories.texts import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing


def events_of(backing: Backing, task: Item, jobs: Sequence[Item]) -> list[dict[str, Any]]:
    """Return `{id, event, data: {memory}}` for each memory, and for each file that was made a document of.

    `jobs` are those of its files and images. A document's event has its id, its filename as `memory`, and beside it
    `document_id` and `revision`.
    """
    done = [job for job in jobs if job["status"] == "success"]
    looked = _Looked(backing, task, done)
    files = [job for job in done if job["of"] == "file" and job.get("event") in ("ADD", "UPDATE")]
    return [*map(looked.of_memory, task.get("events") or []), *map(looked.of_document, files)]


@dataclass
class _Looked:
    """The rows of a task's memories and documents as they are now: one round of reads, and one for long texts."""

    backing: Backing
    task: Item
    jobs: Sequence[Item]
    _rows: dict[Key, Item] = field(default_factory=dict)
    _texts: dict[Key, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        memories = [self._memory_key(event["id"]) for event in self.task.get("events") or []]
        documents = [self._document_key(job["document"]) for job in self.jobs]
        self._rows = read_all(self.backing.table, [*memories, *documents])
        visible = [key for key in memories if key in self._rows and self._is_visible(self._rows[key])]
        self._texts = dict(zip(visible, each(lambda key: self._text_of(self._rows[key]), visible), strict=True))

    def of_memory(self, event: Item) -> dict[str, Any]:
        """Return a memory's event."""
        text = self._texts.get(self._memory_key(event["id"]), "")
        return {"id": event["id"], "event": event["event"], "data": {"memory": text}}

    def of_document(self, job: Item) -> dict[str, Any]:
        """Return the event of the document that a file has made."""
        row = self._rows.get(self._document_key(job["document"]))
        name = row["filename"] if row and row["generation"] == self.task["generation"] else ""
        data = {"memory": name, "document_id": job["document"], "revision": job["revision"]}
        return {"id": job["document"], "event": job["event"], "data": data}

    def _is_visible(self, row: Item) -> bool:
        if row["generation"] != self.task["generation"]:
            return False
        if "token" not in row:
            return True
        document = self._rows.get(self._document_key(row["document_id"]))
        return bool(document and document["token"] == row["token"])

    def _text_of(self, row: Item) -> str:
        try:
            return text_of(self.backing.objects, row)
        except ObjectMissing:
            return ""  # changed or removed since its row was read

    def _memory_key(self, memory_id: str) -> Key:
        return memory_key(self._scope, memory_id)

    def _document_key(self, document_id: str) -> Key:
        return document_key(self._scope, document_id)

    @property
    def _scope(self) -> Scope:
        return Scope(self.task["tenant"], self.task["project"])
