from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.logs.stack import functions_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.logs.stack import Functions


@pytest.fixture
def at() -> Iterator[Functions]:
    with functions_world() as made:
        yield made
