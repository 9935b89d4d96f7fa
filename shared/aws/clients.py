"""The boto3 clients of one process: built on first use, with tight time-outs and bounded retries."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

calls_made: ContextVar[list[str] | None] = ContextVar("calls_made", default=None)
"""The AWS calls of the request under way, one `service.Operation` each; None outside of a request."""

CONNECT_SECONDS = 2
READ_SECONDS = 6
ATTEMPTS = 3


class Aws:
    """Lazily built, thread-safe clients, shared by everything in this process.

    `environ` may hold `PRESIGN_ENDPOINT_URL`: the address that presigned URLs are signed for
    when it is not S3's own (the local run takes such requests itself).
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.RLock()

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """The DynamoDB client."""
        client: DynamoDBClient = self._client("dynamodb")
        return client

    @cached_property
    def s3(self) -> S3Client:
        """The S3 client."""
        client: S3Client = self._client("s3")
        return client

    @cached_property
    def sqs(self) -> SQSClient:
        """The SQS client."""
        client: SQSClient = self._client("sqs")
        return client

    @cached_property
    def presigner(self) -> S3Client:
        """The S3 client that signs URLs for callers; it makes no call itself."""
        endpoint = self._environ.get("PRESIGN_ENDPOINT_URL")
        client: S3Client = self._client("s3", endpoint_url=endpoint) if endpoint else self.s3
        return client

    def _client(self, service: str, **options: Any) -> Any:
        import boto3  # noqa: PLC0415 - 200 ms that an import of this module should not cost
        from botocore.config import Config  # noqa: PLC0415

        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            signature_version="s3v4" if service == "s3" else None,
            s3={"addressing_style": self._addressing(options)},
            max_pool_connections=50,
        )
        with self._lock:  # sessions are not thread-safe while they build clients
            session: Any = boto3.session.Session()
            client = session.client(service, config=config, **options)
        client.meta.events.register("before-call", _note_call)
        return client

    def _addressing(self, options: Mapping[str, Any]) -> Literal["path", "virtual"]:
        """Name buckets in the host of their region.

        The global host sends the presigned requests of new buckets elsewhere,
        which their signature does not survive. Other endpoints than AWS's own take the bucket in the path.
        """
        elsewhere = options or any(self._environ.get(name) for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"))
        return "path" if elsewhere else "virtual"


def _note_call(model: Any, **_: Any) -> None:
    made = calls_made.get()
    if made is not None:
        made.append(f"{model.service_model.service_name}.{model.name}")
