"""Project memory itself over a hundred days, through its function and the sweeper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.kernel.clock import DAY_MS
from tests.emulator.ageing import expire_items, expire_objects, s3_clock
from tests.projects.world import ROOT, World, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Client

LONG = "# Summary\n" + "word " * 8_000


@pytest.fixture
def lodestore() -> Iterator[World]:
    with project_world() as made, s3_clock(made.clock):
        yield made


def _night(world: World) -> None:
    """Go to the next midnight, let S3 and DynamoDB apply their rules, and run the night's job."""
    world.clock.now += DAY_MS - world.clock.now % DAY_MS
    expire_objects(world.cloud, world.clock.now_ms())
    expire_items(world.cloud, world.clock.now_ms())
    world.clock.now += 137 * 60_000
    assert world.sweep("reconcile")["errors"] == 0


def _write(client: Client, task: str, turn: int) -> None:
    assert client.put(turn_path(task=task, turn=turn), json_body={"summary_md": LONG + task}).status == 200
    assert client.put(artifact_path(task=task, turn=turn), body=b"bytes of " + task.encode()).status == 200


def _check(client: Client, task: str, turn: int) -> None:
    answer = client.get(turn_path(task=task, turn=turn))
    assert (answer.status, answer.json["summary_md"]) == (200, LONG + task)
    assert client.get(artifact_path(task=task, turn=turn)).content == b"bytes of " + task.encode()


def test_a_task_written_to_for_a_hundred_days_keeps_its_first_turn_and_others_go_with_all_they_have(
    lodestore: World,
) -> None:
    client = lodestore.client()
    _write(client, "kept", 0)
    _write(client, "forgotten", 0)
    for day in range(1, 101):
        _night(lodestore)
        if day % 25 == 0:
            assert client.put(turn_path(task="kept", turn=day), json_body={}).status == 200
        if day % 10 == 0:
            _check(client, "kept", 0)
            tasks = {task["task_id"] for task in client.get(f"{ROOT}/tasks").json["tasks"]}
            assert tasks == ({"kept", "forgotten"} if day <= 30 else {"kept"})
    assert client.get(f"{ROOT}/tasks").json["total"] == 1
    for _ in range(34):
        _night(lodestore)
    assert client.get(f"{ROOT}/tasks").json["total"] == 0
    assert lodestore.leftovers() == ([], [])
