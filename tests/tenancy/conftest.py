from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.aws.clients import calls_made
from tests.emulator.cloud import emulated_cloud
from tests.tenancy.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def desk() -> Iterator[Desk]:
    calls: list[str] = []
    token = calls_made.set(calls)
    with emulated_cloud() as cloud:
        yield Desk(cloud, calls)
    calls_made.reset(token)
