"""The files and images of an add, on their way into the transaction that accepts it.

Bytes that came with the request are objects first, under fresh keys; then the transaction makes the rows of their
files and the jobs of the task. What dies before it leaves objects that no record owns, and the reconciliation removes
them. Bytes that are there already are not kept twice: their file's row is used, and marked as `kept`, so that the
request that made it does not take it back. What changes between look and transaction has both done again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed
from shared.aws.writes import ABSENT, Check, Delete, Put, Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import InvalidInput, Unavailable
from shared.memories.attempts import generation_check
from shared.memories.files.finding import is_there
from shared.memories.files.media import media_type_of
from shared.memories.files.rows import by_arrival, document_name, document_of, extension_of
from shared.memories.leftovers import Leftovers
from shared.memories.records import file_job_key, file_key, has_form
from shared.retention.records import KEEP, object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.writes import Write
    from shared.memories.backing import Backing
    from shared.memories.files.rows import Attachment
    from shared.memories.records import UserAddress
    from shared.memories.tasks import NewTask

UNTOUCHED = "#tries = :none"
"""What a job is that nobody has begun."""


@dataclass(frozen=True)
class Kept:
    """An attachment and the file that it is; `digest` (hex) and `object` where its bytes came with the request."""

    attachment: Attachment
    file_id: str
    digest: str | None = None
    object: str | None = None


@dataclass
class Attaching:
    """The attachments of one add: their objects, their files' rows, the task's jobs for them.

    `check` holds the rows of files that are named by id, by `n`, to the caller's rules, None for one that is not there.
    `language` is that of captions.
    """

    backing: Backing
    address: UserAddress
    attachments: Sequence[Attachment]
    check: Callable[[Mapping[int, Item | None]], None]
    now: int
    language: str
    made: dict[str, Item] = field(default_factory=dict)
    _rows: dict[str, Item] = field(default_factory=dict)
    _old: dict[str, Item] = field(default_factory=dict)

    @cached_property
    def kept(self) -> list[Kept]:
        """The attachments with their files, in order; the same bytes twice are one object."""
        kept: list[Kept] = []
        objects: dict[str, str] = {}
        for attachment in self.attachments:
            if attachment.content is None:
                kept.append(Kept(attachment, attachment.file_id or ""))
                continue
            digest = hashlib.sha256(attachment.content).hexdigest()
            file_id = self.address.file_id(*_seed(attachment, digest))
            key = objects.setdefault(file_id, object_key(KEEP, self.now, self.address.scope))
            kept.append(Kept(attachment, file_id, digest, key))
        return kept

    @property
    def ids(self) -> dict[int, str]:
        """The ids of all files, by the attachment's `n`."""
        return {each.attachment.n: each.file_id for each in self.kept}

    @property
    def waiting(self) -> int:
        """How many have to be read: files, and images without a caption."""
        return sum(_status(each) == "queued" for each in self.attachments)

    @property
    def keys(self) -> list[Key]:
        """The keys of the files' rows, for the look that is taken of them."""
        return list({each.file_id: self._key(each.file_id) for each in self.kept if has_form(each.file_id)}.values())

    @property
    def puts(self) -> list[Callable[[], None]]:
        """What stores the bytes."""
        contents = {each.object: each for each in self.kept if each.object}
        return [partial(self._put, each) for each in contents.values()]

    @property
    def objects(self) -> set[str]:
        """The objects that were stored."""
        return {each.object for each in self.kept if each.object}

    @property
    def spare(self) -> set[str]:
        """Those of them that no row was made for, since the bytes were there already."""
        return self.objects - {row["object"] for row in self.made.values()}

    def see(self, found: Mapping[Key, Item]) -> None:
        """Take in what is there of the files.

        Raises:
            NotFound, Conflict, InvalidInput, TooLarge: as `check` says; or two contents have one name.
        """
        generations = found.get(self.address.generation_key)
        rows = {each.file_id: found.get(self._key(each.file_id)) for each in self.kept if has_form(each.file_id)}
        mine = {file_id: row for file_id, row in rows.items() if row and row["user"] == self.address.user}
        self._rows = {file_id: row for file_id, row in mine.items() if is_there(row, generations, self.now)}
        self._old = {file_id: row for file_id, row in mine.items() if file_id not in self._rows}
        named = [each for each in self.kept if each.object is None]
        self.check({each.attachment.n: self._rows.get(each.file_id) for each in named})
        self._check_names()

    def writes(self, task: NewTask) -> list[Write]:
        """Return what the task's transaction makes and holds itself to; none without attachments."""
        if not self.kept:
            return []
        self.made = {}
        files = {each.file_id: each for each in self.kept}
        writes: list[Write] = [generation_check(self.address, task.generation)]
        writes += [self._file(each, task) for each in files.values()]
        if over := [self._old[file_id]["object"] for file_id in self.made if file_id in self._old]:
            writes.append(Put(Leftovers(self.backing, self.address).due((), over)))
        return [*writes, *map(Put, self.jobs(task))]

    def jobs(self, task: NewTask) -> list[Item]:
        """Return the rows of the task's jobs, in order."""
        return [self._job(each, task) for each in self.kept]

    def undone(self, task: NewTask) -> Iterator[Write]:
        """Yield what takes the jobs back, as long as nobody has begun one."""
        for each in self.kept:
            key = file_job_key(self.address.scope, task.task_id, each.attachment.n)
            yield Delete(key, when=f"{ABSENT} OR {UNTOUCHED}", values={"none": 0})

    def take_back(self) -> None:
        """Remove the rows that were made, but for those that another request uses, and all bytes that no row has."""
        free = self.spare
        for file_id, row in self.made.items():
            if self._is_taken_back(file_id, row):
                free.add(row["object"])
        self.backing.objects.discard(*free)

    def _is_taken_back(self, file_id: str, row: Item) -> bool:
        ours = "#object = :object AND attribute_not_exists(#kept)"
        try:
            self.backing.table.write(Delete(self._key(file_id), ours, {"object": row["object"]}))
        except ConditionFailed as failed:
            return not failed.item or failed.item.get("object") != row["object"]
        except (Unavailable, LostRace):
            return False
        self.note(-row["size"])
        return True

    def note(self, size: int) -> None:
        """Count bytes that are kept by now, or no longer."""
        self.backing.note(self.address.scope, bytes=size)

    def note_made(self) -> None:
        """Count the bytes of the files that were made, less those of forgotten ones whose place they took."""
        size = sum(row["size"] for row in self.made.values())
        over = sum(self._old[file_id]["size"] for file_id in self.made if file_id in self._old)
        if size - over:
            self.note(size - over)

    def _check_names(self) -> None:
        """Refuse two contents under one name: the later one would take the earlier one's place."""
        digests: dict[str, str] = {}
        for each in self.kept:
            if each.attachment.of == "file":
                digest = each.digest or self._rows[each.file_id]["sha256"]
                if digests.setdefault(document_name(self._name_of(each)), digest) != digest:
                    loc = ("body", "messages", each.attachment.position, "content")
                    message = "Two files of one request have the same name: send them one after the other"
                    raise InvalidInput.at(*loc, message=message, type_="combination")

    def _name_of(self, kept: Kept) -> str:
        name = kept.attachment.filename if kept.object else self._rows[kept.file_id]["filename"]
        return str(name)

    def _file(self, kept: Kept, task: NewTask) -> Write:
        key, row = self._key(kept.file_id), self._rows.get(kept.file_id)
        if row is not None:
            there = "#status = :ready AND #generation = :generation"
            values = {"ready": "ready", "generation": task.generation}
            if "sent_by" in row:
                return Update(key, {"kept": True, "sent_by": task.task_id}, when=there, values=values)
            return Check(key, there, values)
        made = self.made[kept.file_id] = self._row(kept, task)
        if kept.file_id in self._old:
            return Put(made, when=f"{ABSENT} OR #object = :old", values={"old": self._old[kept.file_id]["object"]})
        return Put(made, when=ABSENT)

    def _row(self, kept: Kept, task: NewTask) -> Item:
        (pk, sk), attachment, user = self._key(kept.file_id), kept.attachment, self.address.user
        measures = {"pixels": attachment.pixels, "frames": attachment.frames} if attachment.of == "image" else {}
        return {
            "pk": pk,
            "sk": sk,
            "user": user,
            "user_id": self.address.user_id,
            "generation": task.generation,
            "sent_by": task.task_id,
            **_named(attachment),
            "size": len(attachment.content or b""),
            "sha256": kept.digest,
            **measures,
            "status": "ready",
            "object": kept.object,
            "l1": by_arrival(user, self.now, kept.file_id),
            "created_at": self.now,
        }

    def _job(self, kept: Kept, task: NewTask) -> Item:
        attachment, address = kept.attachment, self.address
        pk, sk = file_job_key(address.scope, task.task_id, attachment.n)
        file = self._rows.get(kept.file_id) or self.made[kept.file_id]
        job = {
            "pk": pk,
            "sk": sk,
            **task.shared,
            **{name: getattr(attachment, name) for name in ("of", "n", "index", "caption", "detail")},
            "positions": [attachment.position],
            "language": self.language,
            "file": kept.file_id,
            **{name: file[name] for name in ("filename", "extension", "media_type", "size")},
            "digest": file["sha256"],
            "status": _status(attachment),
            "token": address.memory_id(task.task_id, "reading", attachment.n),
            **_NOT_BEGUN,
            "updated_at": self.now,
        }
        return {**job, "document": document_of(address, job)}

    def _put(self, kept: Kept) -> None:
        owner = owner_of(self._key(kept.file_id))
        self.backing.objects.put(kept.object or "", kept.attachment.content or b"", owner=owner)

    def _key(self, file_id: str) -> Key:
        return file_key(self.address.scope, file_id)


_NOT_BEGUN: dict[str, Any] = {
    "revision": None,
    "chunks_done": 0,
    "chunks_total": None,
    "tries": 0,
    "fence": None,
    "error": None,
}


def _seed(attachment: Attachment, digest: str) -> tuple[str, ...]:
    """Return what makes a file the same: name and bytes, of an image bytes and caption."""
    if attachment.of == "file":
        return document_name(attachment.filename or ""), digest
    return "image", digest, (attachment.caption or "").strip()


def _named(attachment: Attachment) -> dict[str, Any]:
    if attachment.of == "image":
        return {"filename": None, "extension": None, "media_type": attachment.media_type}
    name = attachment.filename or ""
    return {"filename": name, "extension": extension_of(name), "media_type": media_type_of(extension_of(name))}


def _status(attachment: Attachment) -> str:
    return "queued" if attachment.caption is None else "parsed"
