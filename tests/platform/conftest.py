from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.platform.world import World, platform_world

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def world() -> Iterator[World]:
    with platform_world() as made:
        yield made
