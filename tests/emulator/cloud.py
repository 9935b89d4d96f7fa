"""An emulated account with the resources of the project's own template.

with emulated_cloud() as cloud:
    cloud.aws                      # shared.aws.clients.Aws
    cloud.environment("ProjectsFunction")   # what the template gives that function
"""

from __future__ import annotations

import itertools
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from infra.local.emulator import Emulator
from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import Aws
from shared.kernel import contention
from shared.tenancy import background

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from infra.local.tables import OrderedTable
    from infra.local.transactions import Conflicts

_numbers = itertools.count()

PATIENCE = 20


@cache
def shared_aws() -> Aws:
    """Return the clients that all tests share: building them takes longer than most tests."""
    return Aws({})


@lru_cache(maxsize=1)
def _environments(stack: Stack) -> dict[str, dict[str, str]]:
    return {function.name: function.environment for function in stack.functions()}


@dataclass(frozen=True)
class Cloud:
    """One stack in the emulated account."""

    emulator: Emulator
    stack: Stack
    aws: Aws

    @property
    def table_name(self) -> str:
        return str(self.stack.outputs["TableName"])

    @property
    def bucket_name(self) -> str:
        return str(self.stack.outputs["BucketName"])

    @property
    def table(self) -> OrderedTable:
        return self.emulator.table(self.table_name)

    def environment(self, function: str) -> dict[str, str]:
        """Return the variables of a function by its name in the template."""
        return _environments(self.stack)[function]

    def items(self) -> list[dict[str, Any]]:
        """Return every item of the table, in DynamoDB's JSON, by partition and sort key."""
        return [item.to_json()["Attributes"] for item in self.table.all_items()]

    def object_keys(self) -> list[str]:
        """Return every key of the bucket, in order."""
        pages = self.aws.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket_name)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]


@contextmanager
def patient(pauses: float = 1) -> Iterator[None]:
    """Let the product try again for twenty times as long, with pauses as many times as long as is said."""
    slow = patient_time(lambda seconds: time.sleep(seconds * pauses))
    with patch("shared.kernel.contention.time", slow) if contention.time is time else nullcontext():
        yield


def patient_time(sleep: Callable[[float], None]) -> Any:
    """Return what stands for the module `time` where twenty seconds are as one; `sleep` is how it pauses."""
    return SimpleNamespace(monotonic=lambda: time.monotonic() / PATIENCE, sleep=sleep)


@contextmanager
def nothing_left_beside() -> Iterator[None]:
    """Wait at the end for what is written beside requests: later it would come to the next stack, or to AWS itself."""
    try:
        yield
    finally:
        background.finish()


@contextmanager
def emulated_cloud(
    parameters: Mapping[str, Any] | None = None, *, conflicts: Conflicts | None = None
) -> Iterator[Cloud]:
    """Start an account that has one stack of the template, and forget it afterwards (30 ms).

    Where there are conflicts, the product tries again for longer before it gives up: here DynamoDB is this machine.
    """
    with Emulator(conflicts=conflicts) as emulator, nothing_left_beside(), patient() if conflicts else nullcontext():
        stack = Stack(TEMPLATE, parameters, name=f"test-{next(_numbers)}")
        aws = shared_aws()
        make_resources(stack, aws)
        yield Cloud(emulator, stack, aws)
