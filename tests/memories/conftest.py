from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memories.shelf import shelf_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.shelf import Reader, Shelf


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with shelf_world() as made:
        yield made


@pytest.fixture
def reader(shelf: Shelf) -> Reader:
    return shelf.client()
