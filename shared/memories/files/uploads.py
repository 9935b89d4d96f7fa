"""Files that are uploaded: the bytes go to S3 by a presigned URL, past the functions (contract, "Files").

`start` signs a URL for one object, one method, one length, once; `complete` holds what came to what was announced,
copies it to a key of the file's own, and makes the file ready in one write.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ConditionFailed, ObjectMissing, TransactionFailed
from shared.aws.items import key_of
from shared.aws.writes import Delete, Update
from shared.documents.pictures import BrokenPicture, measured
from shared.kernel.clock import DAY_MS, rfc3339
from shared.kernel.contention import persist
from shared.kernel.errors import Conflict, LodestoreError, Unavailable
from shared.memories.attempts import generation_check
from shared.memories.files.finding import seen_file
from shared.memories.files.media import is_picture, media_type_of
from shared.memories.files.rows import UPLOAD, by_arrival
from shared.memories.files.views import file_view, file_views
from shared.memories.records import UserAddress, file_key
from shared.memories.sight import generation_in
from shared.retention.records import KEEP, UPLOADS, due_bucket, object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing
    from shared.retention.sweeper import Handler

    Record = dict[str, Any]

URL_SECONDS: Final = 15 * 60
KEPT_MS: Final = DAY_MS
"""How long an upload can be completed."""


@dataclass(frozen=True)
class UploadWish:
    """A file that is announced: its name, its extension in small letters, its length, its SHA-256 in hex if known."""

    address: UserAddress
    filename: str
    extension: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True)
class Uploads:
    """Presigned uploads of files."""

    backing: Backing

    def start(self, wish: UploadWish) -> Record:
        """Return `{id, status, upload: {method, url, headers, expires_at}}`; the headers must be sent as given."""
        backing, now = self.backing, self.backing.clock.now_ms()
        generations = backing.table.get(wish.address.generation_key)
        file_id = wish.address.file_id("upload", str(uuid.uuid4()))
        row = _pending(wish, file_id, now, generation=generation_in(generations, wish.address.user))
        backing.table.create(row)
        url, headers = backing.objects.presign_put(row["object"], size=wish.size, seconds=URL_SECONDS)
        expires_at = rfc3339(now + URL_SECONDS * 1000)
        upload = {"method": "PUT", "url": url, "headers": headers, "expires_at": expires_at}
        return {"id": file_id, "status": "pending", "upload": upload}

    def complete(self, scope: Scope, file_id: str, user_id: str | None = None) -> Record:
        """Make a file ready whose bytes have come, and return it; repeating it answers the same.

        Raises:
            NotFound: there is no such file, or not of the user that is named.
            Conflict: its bytes have not come, or differ in size or hash from what was announced.
            Unavailable: a store does not answer; it may have been done or not.
        """
        row, _ = seen_file(self.backing, scope, file_id, user_id=user_id)
        if row["status"] == "ready":
            return file_views(self.backing.table, scope, [row])[0]
        try:
            return file_view(self._finish(scope, row))
        except Conflict:
            # Completed twice at once: the other one won.
            ended, _ = seen_file(self.backing, scope, file_id, user_id=user_id)
            if ended["status"] != "ready":
                raise
            return file_view(ended)

    def _finish(self, scope: Scope, row: Item) -> Item:
        known, etag = self._verified(row)
        fresh = object_key(KEEP, self.backing.clock.now_ms(), scope)
        ready = {"status": "ready", "object": fresh, **known}
        try:
            self._copy(row, fresh, etag)
            made = self._switch(scope, row, ready)
        except Unavailable:
            raise  # it may have been applied all the same: what it names must stay
        except LodestoreError:
            self.backing.objects.discard(fresh)
            raise
        self.backing.note(scope, bytes=row["size"])
        self.backing.objects.discard(row["object"])
        return made

    def _copy(self, row: Item, fresh: str, etag: str) -> None:
        try:
            self.backing.objects.copy(row["object"], fresh, owner=owner_of(key_of(row)), etag=etag)
        except ObjectMissing:  # waiting would not bring it back
            raise Conflict("The bytes that came are gone: start a new upload.") from None

    def _switch(self, scope: Scope, row: Item, ready: Item) -> Item:
        """Make the file ready, as it was seen.

        Raises:
            Conflict: it is no longer pending: completed by another, or gone.
        """
        address = UserAddress(scope, row["user_id"])
        same = "#status = :pending AND #object = :seen"
        seen = {"pending": "pending", "seen": row["object"]}
        switch = Update(key_of(row), ready, drop=_OF_PENDING, when=same, values=seen)
        try:
            persist(lambda: self.backing.table.transact(switch, generation_check(address, row["generation"])))
        except TransactionFailed as failed:
            there = failed.items.get(0)
            if there is None or there.get("object") != ready["object"]:  # else ours: only the answer was lost
                raise Conflict("It was completed or deleted meanwhile.") from None
        return {name: value for name, value in {**row, **ready}.items() if name not in _OF_PENDING}

    def _verified(self, row: Item) -> tuple[Item, str]:
        """Hold the bytes to what was announced, and return what is known of them now, and S3's ETag of them."""
        objects, digest, content = self.backing.objects, hashlib.sha256(), bytearray()
        try:
            head = objects.head(row["object"])
            if head.size != row["size"]:
                raise _differ(f"{head.size} bytes came, {row['size']} were announced")
            for piece in objects.stream(row["object"]):
                digest.update(piece)
                if is_picture(row["media_type"]):
                    content += piece
        except ObjectMissing:
            raise Conflict("The bytes have not come yet: PUT them to the upload's URL first.") from None
        if row["sha256"] not in (None, digest.hexdigest()):
            raise _differ("the bytes that came have another SHA-256 than was announced")
        measures = _measures(bytes(content), row["media_type"]) if is_picture(row["media_type"]) else {}
        return {"sha256": digest.hexdigest(), **measures}, head.etag


@dataclass(frozen=True)
class Lapsing:
    """The sweeper's care for uploads: one that was not completed in time goes, with what came of its bytes."""

    backing: Backing

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by kind."""
        return {UPLOAD: self.look}

    def look(self, row: Item) -> bool:
        """Remove an upload whose time is over."""
        self.backing.objects.delete(row["object"])
        over = {"pending": "pending", "seen": row["object"]}
        try:
            self.backing.table.write(Delete(key_of(row), "#status = :pending AND #object = :seen", over))
        except ConditionFailed:
            return True  # deleted meanwhile
        return True


_OF_PENDING = ("expires_at", "due", "kind")


def _pending(wish: UploadWish, file_id: str, now: int, *, generation: int) -> Item:
    pk, sk = file_key(wish.address.scope, file_id)
    return {
        "pk": pk,
        "sk": sk,
        "kind": UPLOAD,
        "user": wish.address.user,
        "user_id": wish.address.user_id,
        "generation": generation,
        "filename": wish.filename,
        "extension": wish.extension,
        "media_type": media_type_of(wish.extension),
        "size": wish.size,
        "sha256": wish.sha256,
        "status": "pending",
        "object": object_key(UPLOADS, now, wish.address.scope),
        "l1": by_arrival(wish.address.user, now, file_id),
        "created_at": now,
        "expires_at": now + KEPT_MS,
        "due": due_bucket(now + KEPT_MS, file_id),
    }


def _differ(how: str) -> Conflict:
    return Conflict(f"These are not the bytes that were announced: {how}. Start a new upload.")


def _measures(content: bytes, media_type: str) -> Item:
    """Return how large a picture is when it is decompressed; None in place of it for what is no such picture."""
    try:
        picture = measured(content)
    except BrokenPicture:
        return {"pixels": None, "frames": None}
    if f"image/{picture.form}" != media_type:
        return {"pixels": None, "frames": None}
    return {"pixels": picture.pixels, "frames": picture.frames}
