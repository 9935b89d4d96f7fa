"""What each operation costs: as the committed table says, and the same in a project of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulator.faults import Calls, recorded
from tests.projects.calls import DIGEST, TABLE, TASKS, loaded, table
from tests.projects.scenes import nothing_beside
from tests.projects.world import ROOT, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.events import Answer, Client

SMALL, LARGE = 100, 20_000
AIMS = {
    "get turn": 2,
    "put turn": 2,
    "get artifact": 2,
    "put artifact": 2,
    "list tasks": 1,
    "digest, not modified": 1,
}


def test_every_operation_makes_the_calls_that_the_table_says() -> None:
    committed = TABLE.read_text()
    # Once more if need be: a busy machine may start a second thread later than a call takes.
    assert table() == committed or table() == committed, "write the table anew with `python -m tests.projects.calls`"


@pytest.mark.parametrize("operation", AIMS)
def test_the_table_keeps_to_its_aims(operation: str) -> None:
    (row,) = [line for line in TABLE.read_text().splitlines() if line.startswith(f"| {operation} |")]
    assert int(row.split("|")[2]) <= AIMS[operation]


def _requests(etag: str) -> dict[str, Callable[[Client], Answer]]:
    task = f"{TASKS}/task-000042"
    turn, file = turn_path("task-000042", 1), artifact_path("task-000042", 1)
    return {
        "get turn": lambda client: client.get(turn),
        "put turn": lambda client: client.put(turn, json_body={"summary_md": "new"}),
        "put turn, first of its task": lambda client: client.put(turn_path("new"), json_body={"summary_md": "new"}),
        "put artifact": lambda client: client.put(file, body=b"bytes"),
        "get artifact": lambda client: client.get(file),
        "get task": lambda client: client.get(task),
        "list tasks": lambda client: client.get(TASKS),
        "digest, not modified": lambda client: client.get(DIGEST, headers={"If-None-Match": etag}),
        "delete task": lambda client: client.delete(task),
    }


def _costs(tasks: int) -> dict[str, Calls]:
    with nothing_beside(), project_world() as world:
        loaded(world, tasks)
        client = world.client(project="big", principal="writer")
        assert client.get(TASKS, query={"limit": 1}).json["total"] == tasks
        costs = {}
        for name in _requests(""):
            etag = client.get(DIGEST).etag if name.startswith("digest") else ""
            with recorded() as costs[name]:
                assert _requests(etag)[name](client).status in {200, 204, 304}
        assert client.get(f"{ROOT}/tasks/task-000042").status == 404
        return costs


def test_no_operation_gets_dearer_as_a_project_grows() -> None:
    small, large = _costs(SMALL), _costs(LARGE)
    for name, calls in large.items():
        assert sorted(calls.names) == sorted(small[name].names), name
        assert calls.request_bytes < 1.1 * small[name].request_bytes + 100, name
        assert calls.response_bytes < 3 * small[name].response_bytes + 100, name
