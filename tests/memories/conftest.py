from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memories.front import front_world, warm
from tests.memories.shelf import shelf_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.front import AddClient, Front
    from tests.memories.shelf import Reader, Shelf


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with shelf_world() as made:
        yield made


@pytest.fixture
def reader(shelf: Shelf) -> Reader:
    return shelf.client()


@pytest.fixture
def front() -> Iterator[Front]:
    with front_world() as made:
        yield made


@pytest.fixture
def client(front: Front) -> AddClient:
    made = front.client()
    warm(front, made)
    return made
