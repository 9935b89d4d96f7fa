"""S3's objects as rows and files of the journal, in place of moto's lists of open buffers.

A key's row is read when it is asked for and written at the end of the call, so memory does not grow with the bucket
and a listing reads what it returns. Object bytes live in `Blobs`.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlparse

from moto.core.base_backend import BaseBackend
from moto.s3.exceptions import PreconditionFailed
from moto.s3.models import FakeBucket, FakeKey, S3Backend, s3_backends
from moto.s3.responses import S3Response
from moto.utilities.utils import LowercaseDict, md5_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from moto.core.common_types import TYPE_RESPONSE

    from infra.local.journal import Journal

PLAIN = (
    "_storage_class",
    "encryption",
    "kms_key_id",
    "bucket_key_enabled",
    "checksum_algorithm",
    "checksum_value",
    "checksum_type",
    "checksum_parts",
    "website_redirect_location",
)


_list_objects_v2 = S3Backend.list_objects_v2
_put_object_tagging = S3Backend.put_object_tagging
_copy_object = S3Response.copy_object


class ObjectStore:
    """The journal that keys write to, and what the call under way has changed."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.changed: dict[tuple[str, str], StoredKey | None] = {}
        self.discarded: list[str] = []

    def flush(self) -> None:
        """Commit what the call changed, then forget bytes that have no row any more."""
        if self.changed:
            with self.journal.changes() as db:
                for (bucket, name), key in self.changed.items():
                    if key is None:
                        db.execute("DELETE FROM objects WHERE bucket = ? AND name = ?", (bucket, name))
                    else:
                        row = (bucket, name, key.blob, key.record())
                        db.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)", row)
            self.changed.clear()
        if self.discarded:
            self.journal.blobs.remove(self.discarded)
            self.discarded.clear()


class _Current:
    """The store of the emulator that runs; moto's classes are global and have to find it."""

    store: ObjectStore


current = _Current()


class StoredKey(FakeKey):
    """An object whose bytes are in a blob."""

    # What a key that is read from its row does not set itself.
    blob = ""
    disposed = False
    multipart = None
    website_redirect_location = checksum_algorithm = checksum_value = checksum_type = checksum_parts = None
    encryption = kms_key_id = bucket_key_enabled = lock_mode = lock_legal_status = lock_until = None
    _expiry = None
    _version_id = "null"
    _is_versioned = False
    _tick = 0
    _stored_etag = ""
    _storage_class = "STANDARD"
    _value_buffer = property(lambda _key: None, lambda _key, buffer: buffer.close())

    @property
    def value(self) -> bytes:
        """The object's bytes."""
        return current.store.journal.blobs.read(self.blob)

    @value.setter
    def value(self, data: bytes) -> None:
        self.blob = current.store.journal.blobs.write(data)
        self.contentsize = len(data)
        self._stored_etag = md5_hash(data).hexdigest()

    @property
    def etag(self) -> str:
        """The quoted MD5 of the bytes, or what a multipart upload computed."""
        return f'"{self._etag or self._stored_etag}"'

    def dispose(self, garbage: bool = False) -> None:  # noqa: FBT001, FBT002 - moto's signature
        """Forget the bytes once the row is gone."""
        if not garbage and not self.disposed:
            current.store.discarded.append(self.blob)
            self.disposed = True

    def __del__(self) -> None:
        """Leave the bytes: keys come and go with each call."""

    def record(self) -> str:
        """Write what S3 knows of the object, as JSON."""
        kept = {name: value for name in PLAIN if (value := getattr(self, name)) is not None}
        return json.dumps(
            {
                **kept,
                "size": self.contentsize,
                "etag": self.etag[1:-1],
                "modified": self.last_modified.isoformat(),
                "metadata": dict(self.metadata),
            }
        )

    @classmethod
    def read(cls, bucket: FakeBucket, name: str, row: tuple[str, str]) -> StoredKey:
        """Make the key that `record` described."""
        blob, text = row
        record = json.loads(text)
        metadata = LowercaseDict()
        metadata.update(record["metadata"])
        key = cls.__new__(cls)
        key.__dict__.update(
            {attribute: record[attribute] for attribute in PLAIN if attribute in record},
            name=name,
            blob=blob,
            acl=bucket.acl,
            account_id=bucket.account_id,
            bucket_name=bucket.name,
            partition=bucket.partition,
            region_name=bucket.region_name,
            contentsize=record["size"],
            last_modified=datetime.fromisoformat(record["modified"]),
            _etag=record["etag"],
            _metadata=metadata,
        )
        return cast("StoredKey", key)


class StoredKeys:
    """The keys of one bucket, as moto asks for them; one version each."""

    def __init__(self, bucket: FakeBucket) -> None:
        self._bucket = bucket

    def get(self, name: str, default: Any = None) -> Any:
        """Return the key, or `default`."""
        changed = current.store.changed
        if (self._bucket.name, name) in changed:
            return changed[self._bucket.name, name] or default
        query = "SELECT blob, record FROM objects WHERE bucket = ? AND name = ?"
        rows = current.store.journal.rows(query, self._bucket.name, name)
        return StoredKey.read(self._bucket, name, rows[0]) if rows else default

    def getlist(self, name: str, default: Any = None) -> Any:
        """Return the versions of a key, of which there is one."""
        key = self.get(name)
        return default if key is None else [key]

    def __getitem__(self, name: str) -> StoredKey:
        key = self.get(name)
        if key is None:
            raise KeyError(name)
        return key  # type: ignore[no-any-return]

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def setlist(self, name: str, keys: list[StoredKey]) -> None:
        """Put the one version of a key in the place of what was there."""
        old = self.get(name)
        if old is not None and old is not keys[-1]:
            old.dispose()
        current.store.changed[self._bucket.name, name] = keys[-1]

    def pop(self, name: str) -> None:
        """Remove a key; KeyError when there is none."""
        self[name].dispose()
        current.store.changed[self._bucket.name, name] = None

    def page(self, prefix: str, after: str, limit: int) -> list[StoredKey]:
        """Return the keys under `prefix` that come after the name `after`, in order, at most `limit`."""
        query = (
            "SELECT name, blob, record FROM objects "
            "WHERE bucket = ? AND name >= ? AND name < ? AND name > ? ORDER BY name LIMIT ?"
        )
        values = (self._bucket.name, prefix, prefix + "\U0010ffff", after, limit)
        rows = current.store.journal.rows(query, *values)
        return [StoredKey.read(self._bucket, name, (blob, record)) for name, blob, record in rows]

    def items(self) -> Iterator[tuple[str, StoredKey]]:
        """Yield every name with its key, in order."""
        return ((key.name, key) for key in self.page("", "", -1))

    def values(self) -> Iterable[StoredKey]:
        """Return every key, in order."""
        return self.page("", "", -1)

    def __len__(self) -> int:
        query = "SELECT count(*) FROM objects WHERE bucket = ?"
        return int(current.store.journal.rows(query, self._bucket.name)[0][0])


class StoredBucket(FakeBucket):
    """A bucket whose keys are in the journal."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keys = StoredKeys(self)  # type: ignore[assignment]


def list_objects_v2(backend: Any, bucket: Any, **asked: Any) -> Any:
    """List a page of a bucket's keys (moto's keywords), reading only what it returns."""
    if asked["delimiter"]:
        return _list_objects_v2(backend, bucket, **asked)
    token = asked["continuation_token"]
    after = backend._pagination_tokens.get(token, "") if token else asked["start_after"] or ""  # noqa: SLF001
    keys = bucket.keys.page(asked["prefix"] or "", after, asked["max_keys"] + 1)
    return backend._truncate_result(keys, asked["max_keys"])  # noqa: SLF001 - half of what is replaced


def reset(backend: S3Backend) -> None:
    """Forget the buckets, but leave their keys where they are: moto would dispose of each."""
    for name in backend.buckets:
        s3_backends.bucket_accounts.pop(name, None)
    BaseBackend.reset(backend)


def put_object_tagging(backend: S3Backend, key: FakeKey, tags: dict[str, str] | None) -> FakeKey:
    """Tag an object, but keep nothing for objects without tags."""
    return _put_object_tagging(backend, key, tags) if tags else key


def copy_object(response: S3Response) -> TYPE_RESPONSE:
    """Copy an object, with the two conditions that moto passes over.

    Raises:
        PreconditionFailed: the source has another ETag (`x-amz-copy-source-if-match`), or the target
            exists (`If-None-Match: *`).
    """
    source = unquote(urlparse(response.headers["x-amz-copy-source"]).path).lstrip("/")
    wanted = response.headers.get("x-amz-copy-source-if-match")
    bucket_name, name = source.split("/", 1)
    found = response.backend.get_object(bucket_name, name)
    if wanted and found is not None and wanted.strip('"') != found.etag.strip('"'):
        raise PreconditionFailed("x-amz-copy-source-If-Match")
    target = response.backend.get_object(response.bucket_name, response.parse_key_name())
    if response.headers.get("If-None-Match") == "*" and target is not None:
        raise PreconditionFailed("If-None-Match")
    return _copy_object(response)
