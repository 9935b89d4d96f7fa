"""The one bucket, typed: whole objects under keys that are never reused."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing, translated
from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from shared.aws.clients import Aws

DELETE_BATCH = 1000
PAGE = 1000
CHUNK = 1 << 20


@dataclass(frozen=True)
class Head:
    """What is known of an object without its bytes: length, user metadata, S3's own ETag."""

    size: int
    metadata: Mapping[str, str]
    etag: str


@dataclass(frozen=True)
class Listed:
    """One page of a listing: (key, last modified) in order, and where to go on (None at the end)."""

    objects: list[tuple[str, datetime]]
    token: str | None


class Objects:
    """The stack's bucket."""

    def __init__(self, aws: Aws, bucket: str) -> None:
        self._aws = aws
        self.bucket = bucket

    def put(self, key: str, body: bytes, *, owner: str) -> None:
        """Store `body` at a fresh key; `owner` names the record that will own it (`pk|sk`)."""
        with translated():
            self._aws.s3.put_object(Bucket=self.bucket, Key=key, Body=body, Metadata={"owner": owner})

    def get(self, key: str, bytes_range: tuple[int, int] | None = None) -> bytes:
        """Return an object's bytes, or those from the first to the last position given.

        Raises:
            ObjectMissing: there is no object at the key.
        """
        options: dict[str, Any] = {}
        if bytes_range:
            options["Range"] = f"bytes={bytes_range[0]}-{bytes_range[1]}"
        with translated():
            return self._aws.s3.get_object(Bucket=self.bucket, Key=key, **options)["Body"].read()

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield an object's bytes a mebibyte at a time, so that a large one never fills the memory."""
        with translated():
            body = self._aws.s3.get_object(Bucket=self.bucket, Key=key)["Body"]
            yield from body.iter_chunks(CHUNK)

    def head(self, key: str) -> Head:
        """Return what is known of an object.

        Raises:
            ObjectMissing: there is no object at the key.
        """
        with translated():
            answer = self._aws.s3.head_object(Bucket=self.bucket, Key=key)
        return Head(answer["ContentLength"], answer["Metadata"], answer["ETag"])

    def copy(self, source: str, target: str, *, owner: str, etag: str | None = None) -> None:
        """Copy an object, if it still has `etag` where one is given, to a fresh key, for another owner.

        Raises:
            ObjectMissing: there is no object at the key, or one of another ETag.
        """
        unchanged: Any = {"CopySourceIfMatch": etag} if etag else {}
        with translated():
            self._aws.s3.copy_object(
                Bucket=self.bucket,
                Key=target,
                CopySource={"Bucket": self.bucket, "Key": source},
                MetadataDirective="REPLACE",
                Metadata={"owner": owner},
                **unchanged,
            )

    def discard(self, *keys: str) -> None:
        """Remove objects that nothing will own; what fails is left to the nightly reconciliation."""
        if keys:
            with suppress(Unavailable):
                self.delete(*keys)

    def delete(self, *keys: str) -> None:
        """Remove objects; keys without one are fine.

        Raises:
            Unavailable: S3 refused some of them.
        """
        for start in range(0, len(keys), DELETE_BATCH):
            self._delete_batch(keys[start : start + DELETE_BATCH])

    def _delete_batch(self, keys: Sequence[str]) -> None:
        with translated():
            if len(keys) == 1:
                self._aws.s3.delete_object(Bucket=self.bucket, Key=keys[0])
                return
            wanted: Any = {"Objects": [{"Key": k} for k in keys], "Quiet": True}
            answer = self._aws.s3.delete_objects(Bucket=self.bucket, Delete=wanted)
        if answer.get("Errors"):
            raise Unavailable

    def list(self, prefix: str, token: str | None = None, *, after: str = "", size: int = PAGE) -> Listed:
        """Return one page of the objects under `prefix`, in key order, from behind the key `after`."""
        options: dict[str, Any] = {"ContinuationToken": token} if token else {}
        if after:
            options["StartAfter"] = after
        with translated():
            answer = self._aws.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix, MaxKeys=size, **options)
        found = [(o["Key"], o["LastModified"]) for o in answer.get("Contents", [])]
        return Listed(found, answer.get("NextContinuationToken"))

    def exists(self, key: str) -> bool:
        """Tell whether there is an object at the key."""
        try:
            self.head(key)
        except ObjectMissing:
            return False
        return True

    def presign_get(self, key: str, *, seconds: int, content_type: str, disposition: str = "attachment") -> str:
        """Return a URL that downloads one object, for `seconds`, with these headers."""
        parameters = {
            "Bucket": self.bucket,
            "Key": key,
            "ResponseContentType": content_type,
            "ResponseContentDisposition": disposition,
        }
        return self._aws.presigner.generate_presigned_url("get_object", Params=parameters, ExpiresIn=seconds)

    def presign_put(self, key: str, *, size: int, seconds: int) -> tuple[str, dict[str, str]]:
        """Return a URL that takes exactly `size` bytes at a key once, and the headers to send with it.

        Length and `If-None-Match: *` are signed: the URL can neither store more nor overwrite.
        """
        parameters = {"Bucket": self.bucket, "Key": key, "ContentLength": size, "IfNoneMatch": "*"}
        url = self._aws.presigner.generate_presigned_url("put_object", Params=parameters, ExpiresIn=seconds)
        return url, {"Content-Length": str(size), "If-None-Match": "*"}
