from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.stores.world import store_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.stores.world import StoreClient, World


@pytest.fixture
def world() -> Iterator[World]:
    with store_world() as made:
        yield made


@pytest.fixture
def client(world: World) -> StoreClient:
    return world.client()


@pytest.fixture
def store(client: StoreClient) -> str:
    return client.store()
