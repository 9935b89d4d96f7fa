from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.projects.world import project_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Client
    from tests.projects.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with project_world() as made:
        yield made


@pytest.fixture
def client(world: World) -> Client:
    return world.client()


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the nightly rounds walk through the classes that there are."""
    monkeypatch.setattr("shared.retention.rounds.DAYS", (30,))
    monkeypatch.setattr("shared.retention.rounds.CLASSES", ("r30", "up"))
