"""Many at once of whom one wins, deletes among writes, and uploads completed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.projects.racing import (  # noqa: F401 - fixtures are found by being here
    Progress,
    Race,
    put_artifact,
    put_turn,
    race,
    racing_client,
    racing_key,
    racing_world,
    times,
)
from tests.projects.upkeep import sweep
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.events import Answer, Client
    from tests.projects.world import World

WRITERS = 50
TASKS, TASK, DIGEST = f"{ROOT}/tasks", f"{ROOT}/tasks/t1", f"{ROOT}/project.md"
LONG = "word " * 8_000


def _one_winner(done: Race) -> int:
    assert (done.count(200), done.count(412)) == (1, len(done.answers) - 1)
    return next(n for n, answer in enumerate(done.answers) if answer.status == 200)


@pytest.mark.parametrize("task", ["t1", "new"])
def test_of_fifty_that_create_one_turn_exactly_one_does(client: Client, world: World, key: str, task: str) -> None:
    client.put(turn_path(turn=0), json_body={})
    requests = [put_turn(task, 1, f"{n}", If_None_Match="*") for n in range(WRITERS)]
    winner = _one_winner(race(world, key, requests, Progress()))
    assert client.get(turn_path(task)).json["summary_md"] == f"{winner}"


def test_of_fifty_that_change_one_turn_they_saw_exactly_one_does(client: Client, world: World, key: str) -> None:
    seen = client.put(turn_path(), json_body={}).etag
    requests = [put_turn("t1", 1, f"{n}", If_Match=seen) for n in range(WRITERS)]
    winner = _one_winner(race(world, key, requests, Progress()))
    assert client.get(turn_path()).json["summary_md"] == f"{winner}"


@pytest.mark.parametrize("create", [True, False])
def test_of_fifty_that_put_one_artifact_on_a_condition_exactly_one_does(
    client: Client,
    world: World,
    key: str,
    create: bool,  # noqa: FBT001
) -> None:
    seen = "" if create else client.put(artifact_path(name="a"), body=b"seen").etag
    condition = {"If_None_Match": "*"} if create else {"If_Match": seen}
    done = race(world, key, [put_artifact("a", b"%d" % n, **condition) for n in range(WRITERS)], Progress())
    assert client.get(artifact_path(name="a")).content == b"%d" % _one_winner(done)
    sweep(world)
    assert len(world.cloud.object_keys()) == 1


def test_of_many_deletes_one_deletes_and_the_others_find_nothing(client: Client, world: World, key: str) -> None:
    client.put(turn_path(), json_body={})
    client.put(turn_path("t2"), json_body={})
    done = race(world, key, [lambda sender: sender.delete(TASK)] * 20, Progress())
    assert (done.count(204), done.count(404)) == (1, 19)
    assert client.get(TASKS).json["total"] == 1


def test_a_delete_among_writes_takes_all_before_it_and_none_after_it(client: Client, world: World, key: str) -> None:
    for turn in range(100, 105):
        client.put(turn_path(turn=turn), json_body={})
        client.put(artifact_path(turn=turn), body=b"old")
    writes = [put_turn("t1", n, LONG if n % 2 else f"{n}") for n in range(12)]
    files = [put_artifact(f"{n}", b"new") for n in range(6)]
    deletes = [lambda sender: sender.delete(TASK) for _ in range(3)]
    done = race(world, key, [*writes, *deletes, *files], Progress())
    wrote = [*done.answers[:12], *done.answers[15:]]
    assert {answer.status for answer in wrote} == {200}
    assert {answer.status for answer in done.answers[12:15]} <= {204, 404}
    assert 204 in done.statuses
    _check_whole(client)
    after = client.put(turn_path(turn=50), json_body={"summary_md": "after"})
    assert client.get(turn_path(turn=50)).etag == after.etag
    assert client.get(turn_path(turn=100)).status == 404
    sweep(world)
    _check_whole(client)
    assert client.delete(TASK).status == 204
    sweep(world)
    assert world.leftovers() == ([], [])


def _check_whole(client: Client) -> None:
    """Hold the task's numbers to its turns, and every turn and artifact to what is listed."""
    listed = client.get(TASKS).json
    assert listed["total"] == len(listed["tasks"]) <= 1
    for task in listed["tasks"]:
        turns = client.get(TASK).json["turns"]
        assert (task["turn_count"], task["latest_turn"]) == (len(turns), max(turn["turn"] for turn in turns))
        for turn in turns:
            assert client.get(turn_path(turn=turn["turn"])).json["summary_md"][:2000] == turn["summary_md"]
            for artifact in turn["artifacts"]:
                assert client.get(artifact_path(turn=turn["turn"], name=artifact["name"])).content == b"new"


def _upload(client: Client, world: World, body: bytes, name: str = "a") -> str:
    started = client.post(artifact_path(name=name) + "/upload", json_body={"size": len(body)}).json
    row = next(i for i in world.cloud.items() if i["sk"]["S"] == f"u#{started['upload_id']}")
    world.cloud.aws.s3.put_object(Bucket=world.cloud.bucket_name, Key=row["object"]["S"], Body=body)
    return str(started["upload_id"])


def _complete(upload_id: str) -> Callable[[Client], Answer]:
    return lambda sender: sender.post(artifact_path(name="a") + "/complete", json_body={"upload_id": upload_id})


def test_an_upload_completed_many_times_at_once_is_one_artifact_with_one_answer(
    client: Client, world: World, key: str
) -> None:
    upload_id = _upload(client, world, b"bytes")
    done = race(world, key, [_complete(upload_id)] * 10, Progress())
    assert done.statuses == {200}
    assert {(answer.content, answer.etag) for answer in done.answers} == {
        (done.answers[0].content, done.answers[0].etag)
    }
    assert client.get(artifact_path(name="a")).content == b"bytes"
    assert len(world.cloud.object_keys()) == 1


def test_uploads_of_one_artifact_completed_at_once_leave_the_last_one(client: Client, world: World, key: str) -> None:
    ids = [_upload(client, world, b"%d" % n) for n in range(10)]
    done = race(world, key, [_complete(each) for each in ids], Progress())
    assert done.statuses == {200}
    last = max(range(10), key=lambda n: times(done)[n])
    assert client.get(artifact_path(name="a")).content == b"%d" % last
    sweep(world)
    assert len(world.cloud.object_keys()) == 1
