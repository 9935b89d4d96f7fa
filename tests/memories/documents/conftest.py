from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memories.documents.desk import desk_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.documents.desk import Desk


@pytest.fixture
def desk() -> Iterator[Desk]:
    with desk_world() as made:
        yield made
