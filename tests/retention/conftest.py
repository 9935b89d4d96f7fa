from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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


@pytest.fixture
def one_bucket_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spread the due index over one bucket instead of four: a quarter of the calls of a long simulation."""
    monkeypatch.setattr("shared.retention.records.DUE_SPREAD", 1)
