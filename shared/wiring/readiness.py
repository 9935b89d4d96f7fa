"""Whether what a function rests on answers, told within a bounded time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Literal

from shared.aws.table import Table
from shared.kernel.errors import Unavailable
from shared.tenancy.opening import check_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.aws.clients import Aws
    from shared.wiring.environment import Environment

    Check = Callable[[], object]
    State = Literal["ok", "unavailable"]

SECONDS = 3.0
_PROBE_SECONDS = 2.0


class Readiness:
    """The dependencies of a stack: the table, the bucket, and the queue and search where there are some."""

    def __init__(self, environment: Environment, aws: Aws, seconds: float = SECONDS) -> None:
        self._aws = aws
        self._checks = dict(_checks(environment, aws))
        self._seconds = seconds

    def states(self) -> dict[str, State]:
        """Return the state of each dependency; one that does not answer in time is unavailable."""
        # Building clients takes a cold function as long as all the answers: that is not the dependencies' doing.
        _ = self._aws.dynamodb, self._aws.s3, self._aws.sqs
        asked = {name: _threads().submit(copy_context().run, check) for name, check in self._checks.items()}
        wait(asked.values(), timeout=self._seconds)
        for future in asked.values():
            future.cancel()
        return {
            name: "ok" if future.done() and not future.cancelled() and future.exception() is None else "unavailable"
            for name, future in asked.items()
        }


def _checks(environment: Environment, aws: Aws) -> Iterator[tuple[str, Check]]:
    yield "table", lambda: check_open(Table(aws, environment.table_name))
    yield "bucket", lambda: aws.s3.head_bucket(Bucket=environment.bucket_name)
    if environment.queue_url:
        yield "queue", lambda: aws.sqs.get_queue_attributes(QueueUrl=environment.queue_url, AttributeNames=["QueueArn"])
    if environment.search_endpoint:
        yield "search", lambda: _reach(environment.search_endpoint)


def _reach(endpoint: str) -> None:
    """Ask for the front page of an endpoint: any answer but a failure of its own shows that it is there."""
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415 - only where there is search
    from urllib.parse import urlsplit  # noqa: PLC0415

    address = urlsplit(endpoint)
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = kind(address.netloc, timeout=_PROBE_SECONDS)
    try:
        connection.request("HEAD", "/")
        if connection.getresponse().status >= 500:
            raise Unavailable
    finally:
        connection.close()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(8, thread_name_prefix="ready")
