from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from shared.tenancy.usage import stored_partition
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.emulator.faults import faults
from tests.projects.test_uploads import bring, start
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from tests.clients.events import Client
    from tests.emulator.faults import Call
    from tests.projects.world import World

TASK = f"{ROOT}/tasks/t1"


def _fill(client: Client, world: World) -> None:
    for turn in range(3):
        client.put(turn_path(turn=turn), json_body={"summary_md": "s" * 40_000})
        client.put(artifact_path(turn=turn), body=b"bytes")
    start(client)
    bring(world, start(client))


def test_a_deleted_task_leaves_nothing_behind(client: Client, world: World) -> None:
    _fill(client, world)
    assert client.delete(TASK).status == 204
    world.sweep()
    assert world.leftovers() == ([], [])


def test_its_erasure_is_in_the_log_before_the_answer(client: Client, world: World) -> None:
    client.put(turn_path(), json_body={"summary_md": "secret"})
    client.delete(TASK)
    (key,) = [k for k in world.cloud.object_keys() if k.startswith("keep/erasures/")]
    entry = json.loads(world.objects.get(key))
    assert (entry["kind"], entry["tenant"], entry["ids"]["task"]) == ("task", "acme", "t1")
    assert "secret" not in json.dumps(entry)
    world.sweep()
    assert [k for k in world.cloud.object_keys() if k.startswith("keep/erasures/")] == [key]


def test_a_task_past_its_time_is_removed_with_its_count(client: Client, world: World) -> None:
    _fill(client, world)
    client.put(turn_path(task="lives"), json_body={})
    world.clock.move(days=15)
    client.put(turn_path(task="lives"), json_body={})
    world.clock.move(days=15.1)
    world.sweep()
    rows, keys = world.leftovers()
    assert {sk for _, sk in rows} == {"task#lives", "0001"}
    assert keys == []
    assert client.get(f"{ROOT}/tasks").json["total"] == 1
    assert "lives" in client.get(f"{ROOT}/project.md").content.decode()


def test_a_task_reborn_before_the_sweep_keeps_only_its_new_life(client: Client, world: World) -> None:
    _fill(client, world)
    client.delete(TASK)
    client.put(turn_path(turn=1), json_body={"summary_md": "n" * 40_000})
    client.put(artifact_path(turn=2), body=b"new")
    world.sweep()
    rows, keys = world.leftovers()
    assert sorted(sk for _, sk in rows) == ["0001", "0002", "0002#log.txt", "task#t1"]
    assert len(keys) == 2
    assert client.get(artifact_path(turn=2)).content == b"new"
    assert client.get(turn_path()).json["summary_md"] == "n" * 40_000


def test_a_task_expired_and_reborn_before_the_sweep_keeps_only_its_new_life(client: Client, world: World) -> None:
    _fill(client, world)
    world.clock.move(days=31)
    client.put(turn_path(turn=1), json_body={"summary_md": "new"})
    world.sweep()
    rows, keys = world.leftovers()
    assert sorted(sk for _, sk in rows) == ["0001", "task#t1"]
    assert keys == []
    assert client.get(f"{ROOT}/tasks").json["total"] == 1


def _usage(world: World) -> dict[str, int]:
    tenancy(Environment.of(world.environ), world.cloud.aws, world.clock).meter.flush()
    item = world.table.get((stored_partition("acme"), "default")) or {}
    return {name.removeprefix(MINE): value for name, value in item.items() if name.startswith(MINE)}


MINE = "projects__"
NOTHING = {"tasks": 0, "turns": 0, "artifacts": 0, "bytes": 0}


def test_usage_falls_to_nothing_when_a_task_is_deleted(client: Client, world: World) -> None:
    _fill(client, world)
    client.put(artifact_path(turn=7), body=b"before its turn")
    assert _usage(world)["tasks"] == 1
    client.delete(TASK)
    assert _usage(world)["tasks"] == 0
    world.sweep()
    assert _usage(world) == NOTHING


def test_usage_falls_to_nothing_when_a_task_is_past_its_time(client: Client, world: World) -> None:
    _fill(client, world)
    world.clock.move(days=31)
    world.sweep()
    assert _usage(world) == NOTHING


@pytest.mark.parametrize("expired", [True, False])
def test_usage_does_not_count_what_a_new_life_takes_the_place_of(
    client: Client, world: World, *, expired: bool
) -> None:
    _fill(client, world)
    if expired:
        world.clock.move(days=31)
    else:
        client.delete(TASK)
    client.put(turn_path(turn=1), json_body={"summary_md": "new"})
    client.put(artifact_path(turn=2), body=b"new")
    world.sweep()
    empty = len(b"{}")
    assert _usage(world) == {"tasks": 1, "turns": 2, "artifacts": 1, "bytes": 2 * len(b"new") + 2 * empty}
    client.delete(TASK)
    world.sweep()
    assert _usage(world) == NOTHING


def test_replaced_objects_are_removed(client: Client, world: World) -> None:
    for size in (40_000, 50_000, 10):
        client.put(turn_path(), json_body={"summary_md": "s" * size})
        client.put(artifact_path(), body=bytes(size))
    world.sweep()
    rows, keys = world.leftovers()
    assert len(keys) == 1
    assert sorted(sk for _, sk in rows) == ["0001", "0001#log.txt", "task#t1"]


def test_uploads_never_completed_are_removed_after_a_day(client: Client, world: World) -> None:
    bring(world, start(client))
    world.sweep()
    assert len(world.leftovers()[1]) == 1
    world.clock.move(days=1.1)
    world.sweep()
    assert world.leftovers() == ([], [])


def test_ten_thousand_turns_are_hidden_at_once_and_removed_in_the_background(client: Client, world: World) -> None:
    client.put(turn_path(turn=0), json_body={"summary_md": "first"})
    first = next(i for i in world.cloud.items() if i["sk"]["S"] == "0000")
    rows = [{**first, "sk": {"S": f"{n:04d}"}} for n in range(10_000)]
    for n in range(0, len(rows), 25):
        puts: list[Any] = [{"PutRequest": {"Item": row}} for row in rows[n : n + 25]]
        world.cloud.aws.dynamodb.batch_write_item(RequestItems={world.cloud.table_name: puts})
    assert len(client.get(TASK).json["turns"]) == 200
    assert client.delete(TASK).status == 204
    assert client.get(TASK).status == 404
    assert client.get(turn_path(turn=5000)).status == 404
    while not world.sweep()["complete"]:
        pass
    assert world.leftovers() == ([], [])


def test_an_object_renewed_while_its_task_is_removed_goes_with_it(client: Client, world: World) -> None:
    client.put(artifact_path(), body=b"bytes")
    client.delete(TASK)
    (key,) = world.leftovers()[1]
    removed = []

    def renew_at_the_last_moment(call: Call) -> None:
        if call.operation == "DeleteObject" and not removed:  # its row was read, and is deleted next
            removed.append(call)
            row = next(i for i in world.cloud.items() if i["sk"]["S"] == "0001#log.txt")
            fresh = key.replace("/acme/", "/acme/fresh-")
            world.objects.put(fresh, b"bytes", owner="x")
            item = {**row, "object": {"S": fresh}}
            world.cloud.aws.dynamodb.put_item(TableName=world.cloud.table_name, Item=item)

    with faults(renew_at_the_last_moment):
        world.sweep()
    assert removed
    assert world.leftovers() == ([], [])
