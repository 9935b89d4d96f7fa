"""Artifacts by presigned URL: above the gateway's limit the bytes go to S3 and not through the function.

`start` signs a URL for one object, one method, one length, once; `complete` checks what came, copies
it to a key of the artifact's own and makes it visible in the same transaction that ends the upload.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing
from shared.aws.writes import Update
from shared.kernel.clock import DAY_MS, rfc3339
from shared.kernel.errors import Conflict, InvalidInput, NotFound
from shared.kernel.ids import is_ulid, prefixed
from shared.projects.artifacts import DEFAULT_TYPE, Description, Record, Replacement
from shared.projects.records import UPLOAD_PREFIX, artifact_record
from shared.projects.sight import look_for_write
from shared.retention.records import UPLOADS, due_bucket, object_key, ttl_of

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.aws.writes import Write
    from shared.kernel.preconditions import Preconditions
    from shared.projects.backing import Backing
    from shared.projects.models import UploadRequest
    from shared.projects.records import Address
    from shared.projects.sight import Sight

_PREFIX = "upload"
URL_SECONDS = 15 * 60
KEPT_MS = DAY_MS
"""How long an upload can be completed, and its completion repeated."""


class Uploads:
    """Presigned uploads of artifacts."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def start(self, address: Address, wanted: UploadRequest) -> Record:
        """Return `{upload_id, method, url, headers, expires_at}`; the headers must be sent as given."""
        now = self._backing.clock.now_ms()
        row = self._row(address, wanted, now)
        self._backing.table.create(row)
        url, headers = self._backing.objects.presign_put(row["object"], size=row["size"], seconds=URL_SECONDS)
        upload_id = row["sk"].removeprefix(UPLOAD_PREFIX)
        expires_at = rfc3339(now + URL_SECONDS * 1000)
        return {"upload_id": upload_id, "method": "PUT", "url": url, "headers": headers, "expires_at": expires_at}

    def complete(
        self, address: Address, principal: str, upload_id: str, *, preconditions: Preconditions
    ) -> tuple[Record, str]:
        """Make an upload visible and return its ArtifactRecord and ETag; repeating it answers the same.

        Raises:
            NotFound: no such upload for this artifact.
            Conflict: its bytes have not come.
            InvalidInput: they differ in size or hash from what was announced.
            PreconditionFailed: a condition of the request does not hold.
        """
        if not _is_id(upload_id):  # what can't be one is asked of no table: it may be longer than a key
            raise NotFound("No such upload.")
        key: Key = address.pk, f"{UPLOAD_PREFIX}{upload_id}"
        row = self._find(address, key)
        if "done" in row:
            return row["done"], row["etag"]
        try:
            answer = self._complete(address, principal, row, preconditions=preconditions)
        except Conflict:
            ended = self._find(address, key)  # completed twice at once: the other one won
            if "done" in ended:
                return ended["done"], ended["etag"]
            raise
        self._backing.objects.discard(row["object"])
        return answer

    def _complete(
        self, address: Address, principal: str, row: Item, *, preconditions: Preconditions
    ) -> tuple[Record, str]:
        description, source_etag = self._verified(row)
        change = Replacement(self._backing, address, principal, description=description, preconditions=preconditions)
        change.store = lambda target, owner: self._copy(row["object"], target, owner, etag=source_etag)
        change.beside = _Ending(row["sk"], address)
        return change.run()

    def _copy(self, source: str, target: str, owner: str, *, etag: str) -> None:
        try:
            self._backing.objects.copy(source, target, owner=owner, etag=etag)
        except ObjectMissing:  # waiting would not bring it back
            raise Conflict("The bytes that came are gone: start a new upload.") from None

    def _row(self, address: Address, wanted: UploadRequest, now: int) -> Item:
        upload_id = prefixed(_PREFIX, now)
        task = look_for_write(self._backing, address).task
        return {
            "pk": address.pk,
            "sk": f"{UPLOAD_PREFIX}{upload_id}",
            "kind": "upload",
            "gen": task["gen"] if task else "",
            "turn": address.turn,
            "name": address.name,
            "size": wanted.size,
            "content_type": wanted.content_type or DEFAULT_TYPE,
            "sha256": wanted.sha256,
            "object": object_key(UPLOADS, now, address.scope),
            "created_at": now,
            "expires_at": now + KEPT_MS,
            "due": due_bucket(now + KEPT_MS, upload_id),
            "ttl": ttl_of(now + KEPT_MS),
        }

    def _find(self, address: Address, key: Key) -> Item:
        row = _in(look_for_write(self._backing, address, key[1]), key[1])
        if (row["turn"], row["name"]) != (address.turn, address.name):
            raise NotFound("No such upload.")
        if row["expires_at"] <= self._backing.clock.now_ms():
            raise NotFound("No such upload.")
        return row

    def _verified(self, row: Item) -> tuple[Description, str]:
        """Read the uploaded bytes and hold them to what was announced."""
        try:
            head = self._backing.objects.head(row["object"])
            if head.size != row["size"]:
                raise _differs("size", f"{head.size} bytes came, {row['size']} were announced")
            digest = hashlib.sha256()
            for chunk in self._backing.objects.stream(row["object"]):
                digest.update(chunk)
        except ObjectMissing:
            raise Conflict("The bytes have not come yet: PUT them to the upload's URL first.") from None
        if row["sha256"] not in (None, digest.hexdigest()):
            raise _differs("sha256", "the bytes that came have another SHA-256 than was announced")
        return Description(row["content_type"], row["size"], digest.hexdigest()), head.etag


def _is_id(text: str) -> bool:
    prefix, _, rest = text.partition("_")
    return prefix == _PREFIX and is_ulid(rest)


def _in(sight: Sight, sort_key: str) -> Item:
    """Return an upload as it is seen; one that was begun in a life of the task that has ended ended with it."""
    row = sight.stored.get(sort_key)
    if row is None or (row["gen"] and row["gen"] != (sight.task["gen"] if sight.task else None)):
        raise NotFound("No such upload.")
    return row


def _differs(field: str, message: str) -> InvalidInput:
    return InvalidInput.at("body", field, message=message, type_="value_error")


@dataclass(frozen=True)
class _Ending:
    """An upload that ends with its artifact's write, once."""

    sort_key: str
    address: Address

    def check(self, sight: Sight) -> None:
        """Hold the write to an upload that has not ended yet, by itself or with its task."""
        if "done" in _in(sight, self.sort_key):
            raise Conflict("It is completed already.")

    def write(self, artifact: Item) -> Write:
        """Keep the answer, for whoever completes the upload again."""
        done = {"done": artifact_record(self.address, artifact), "etag": artifact["etag"], "gen": artifact["gen"]}
        key = self.address.pk, self.sort_key
        return Update(key, put=done, when="attribute_exists(#pk) AND attribute_not_exists(#done)")
