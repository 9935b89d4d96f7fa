from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memories.files.cabinet import filer

if TYPE_CHECKING:
    from tests.memories.files.cabinet import Filer
    from tests.memories.shelf import Shelf


@pytest.fixture
def client(shelf: Shelf) -> Filer:
    return filer(shelf)
