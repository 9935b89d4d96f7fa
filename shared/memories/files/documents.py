"""Documents: which reading of a file counts. To let another one count, or none, is one write, whatever its size."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.items import key_of
from shared.aws.writes import ABSENT, Check, Put, Update
from shared.memories.attempts import Erased, address_of
from shared.memories.files.jobs import FileGone
from shared.memories.files.readings import Readings
from shared.memories.records import by_origin, document_key, file_key
from shared.memories.sight import generation_in

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.aws.table import Table
    from shared.aws.writes import Write
    from shared.memories.backing import Backing
    from shared.memories.files.jobs import FileJob


@dataclass(frozen=True)
class Seen:
    """What a job rests on, as it was read: the file, and the document as it is now, where there is one."""

    file: Item
    document: Item | None


def seen_by(job: FileJob) -> Seen:
    """Read the file and the document of a job.

    Raises:
        Erased: everything of the user was forgotten since the task was accepted.
        FileGone: the file was deleted.
    """
    return seen_of(job.backing.table, job.task, job.row)


def seen_of(table: Table, task: Item, job: Item) -> Seen:
    """Read the file and the document of a task's job by its row.

    Raises:
        Erased: everything of the user was forgotten since the task was accepted.
        FileGone: the file was deleted.
    """
    address = address_of(task)
    keys = [file_key(address.scope, job["file"]), document_key(address.scope, job["document"])]
    found = table.batch_get([address.generation_key, *keys])
    generation = task["generation"]
    if generation_in(found.get(address.generation_key), address.user) != generation:
        raise Erased("All memories of the user were deleted after this request was accepted.")
    file, document = found.get(keys[0]), found.get(keys[1])
    if file is None or file["generation"] != generation or file["status"] != "ready":
        raise FileGone("The file was deleted.")
    return Seen(file, document if document and document["generation"] == generation else None)


def digest_of(job: Item) -> str:
    """Return what two jobs have in common that make the same document: the bytes; of an image, its caption too."""
    if job["of"] == "file":
        digest: str = job["digest"]
        return digest
    return hashlib.sha256(f"{job['digest']}\n{job['caption']}".encode()).hexdigest()


def standing(document: Item | None, task: Item, job: Item) -> Item | None:
    """Return the document where nothing is to be made of a job: it says the same, or what was added later."""
    if document is None:
        return None
    same = document["digest"] == digest_of(job) and document["token"] != job["token"]
    later = document["received_at"] > task["received_at"]
    return document if same or later else None


def repeat(job: FileJob, document: Item) -> None:
    """End a job well that has nothing to make: what it may have indexed is left to be removed.

    Raises:
        Fenced: it is not this attempt's to end, or the task has ended.
        Replaced: the document is another by now.
    """
    readings = Readings(job.backing, job.address)
    outdated = document["digest"] != digest_of(job.row)
    is_left = outdated or job.row["status"] == "indexing"
    left = readings.left(job.row, outdated=outdated) if is_left else None
    job.hand_over(
        *job.holds(), said_again(document, job.task, job.row), *([Put(left)] if left else []), **repeated(document)
    )
    if left:
        readings.send(left)


def repeated(document: Item) -> Item:
    """Return the end of a job that had nothing to make."""
    counted = {"chunks_done": document["chunks"], "chunks_total": document["chunks"]}
    return {"status": "success", "event": "NONE", "revision": document["revision"], **counted}


def said_again(document: Item, task: Item, job: Item) -> Write:
    """Return the write that holds a document to the reading that it was seen with.

    The same bytes, added again, are the later word from then on: what was added in between does not take their place.
    """
    key, same, token = key_of(document), "#token = :token", {"token": document["token"]}
    if document["digest"] != digest_of(job) or document["received_at"] > task["received_at"]:
        return Check(key, same, token)
    later = {"received_at": task["received_at"], "sent_by": task["task"]}
    return Update(key, later, when=same, values=token)


@dataclass(frozen=True)
class Switch:
    """The write that lets a job's reading of so many chunks count, and what goes with it."""

    backing: Backing
    task: Item
    job: Item
    old: Item | None
    chunks: int

    @property
    def row(self) -> Item:
        """The document's row as it will be."""
        address, now = address_of(self.task), self.backing.clock.now_ms()
        pk, sk = document_key(address.scope, self.job["document"])
        old = self.old or {"revision": 0, "created_at": now}
        return {
            "pk": pk,
            "sk": sk,
            "l2": by_origin(address.user, self.task["task"], sk),
            "user": address.user,
            "user_id": address.user_id,
            "generation": self.task["generation"],
            **{name: self.job[name] for name in ("of", "file", "filename", "token", "positions")},
            "digest": digest_of(self.job),
            "revision": old["revision"] + 1,
            "chunks": self.chunks,
            "task": self.task["task"],
            "sent_by": self.task["task"],
            "received_at": self.task["received_at"],
            "created_at": old["created_at"],
            "updated_at": now,
        }

    @property
    def ended(self) -> Item:
        """The end of the job."""
        done = {"chunks_done": self.chunks, "chunks_total": self.chunks, "revision": self.row["revision"]}
        return {"status": "success", "event": "UPDATE" if self.old else "ADD", **done}

    @property
    def left(self) -> Item | None:
        """The job for what the reading before has left."""
        return (
            Readings(self.backing, address_of(self.task)).left(self.old, outdated=self.old["file"] != self.job["file"])
            if self.old
            else None
        )

    def writes(self, left: Item | None) -> list[Write]:
        """Return the writes, the first of them held to the document as it was seen."""
        generation = {"generation": self.task["generation"]}
        free, values = f"{ABSENT} OR #generation < :generation", generation
        if self.old:
            free, values = "#token = :seen AND #generation = :generation", {"seen": self.old["token"], **generation}
        return [Put(self.row, free, values), *([Put(left)] if left else [])]
