from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from moto.dynamodb.models import dynamodb_backends
from moto.s3.models import s3_backends

from infra.local.stack import ACCOUNT, REGION
from shared.aws.objects import Listed, Objects
from shared.aws.table import Table
from tests.emulator.ageing import s3_clock
from tests.emulator.cloud import Cloud, emulated_cloud
from tests.retention.world import MovedClock, World

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with emulated_cloud() as made:
        yield made


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def world(cloud: Cloud, clock: MovedClock) -> Iterator[World]:
    with s3_clock(clock):
        yield World(cloud, clock)


@pytest.fixture(autouse=True)
def idle_calls_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer at once what would find nothing: nine calls of ten in a hundred days, and most of their time."""
    due, listing = Table.due, Objects.list

    def due_if_any(table: Table, bucket: str, start: Any = None) -> Any:
        emulated = dynamodb_backends[ACCOUNT][REGION].get_table(table.name)
        idle = emulated.stale_rows is None and bucket not in emulated.rows.entries["due"]
        return ([], None) if idle else due(table, bucket, start)

    def list_if_any(objects: Objects, prefix: str, *args: Any, **options: Any) -> Listed:
        stored = s3_backends[ACCOUNT]["aws"].buckets[objects.bucket].keys
        idle = not stored.page(prefix, "", 1)
        return Listed([], None) if idle else listing(objects, prefix, *args, **options)

    monkeypatch.setattr(Table, "due", due_if_any)
    monkeypatch.setattr(Objects, "list", list_if_any)
