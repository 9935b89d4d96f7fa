"""Somebody else writes, and the sweeper runs, exactly between two calls of one request."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.scope import Scope
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.emulator.faults import Call, intercepted
from tests.projects.scenes import LONG, LONGER, Stage, nothing_beside, warm
from tests.projects.upkeep import sweep
from tests.projects.world import ROOT, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clients.events import Answer
    from tests.projects.world import World

TASKS, TASK, DIGEST = f"{ROOT}/tasks", f"{ROOT}/tasks/t1", f"{ROOT}/project.md"


@pytest.fixture
def world() -> Iterator[World]:
    with nothing_beside(), project_world() as made:
        yield made


@pytest.fixture
def stage(world: World) -> Stage:
    """The stage of one client."""
    client = world.client()
    warm(client)
    sweep(world)
    return Stage(world, client, "t1")


@pytest.fixture
def other(stage: Stage) -> Stage:
    """The same stage with another instance of the function: for what happens in between."""
    return stage.again()


@contextmanager
def just_before(operation: str, event: Callable[[], Any]) -> Iterator[None]:
    """Let `event` happen just before the first call of `operation`."""
    left = [event]

    def around(call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        if call.name == operation and left:
            left.pop()()
        return apply()

    with intercepted(around):
        yield
    assert not left, f"there was no {operation}"


def _replaced(other: Stage, **body: Any) -> Callable[[], None]:
    def happen() -> None:
        assert other.turn(1, **body).status == 200
        sweep(other.world)

    return happen


def _deleted(other: Stage) -> Callable[[], None]:
    def happen() -> None:
        assert other.client.delete(TASK).status == 204
        sweep(other.world)

    return happen


def test_a_digest_falls_back_with_a_summary_that_is_taken_away(stage: Stage, other: Stage) -> None:
    stage.turn(0, summary_md="older")
    stage.turn(1, summary_md="newer")
    with just_before("dynamodb.BatchGetItem", _replaced(other)):
        shown = stage.client.get(DIGEST).content
    assert shown.endswith(b"\nolder\n")
    assert shown == stage.client.get(DIGEST).content


@pytest.mark.parametrize("call", ["dynamodb.BatchGetItem", "s3.GetObject"])
def test_a_digest_leaves_out_what_is_deleted_while_it_is_read(stage: Stage, other: Stage, call: str) -> None:
    stage.turn(1, summary_md=LONG)
    with just_before(call, _deleted(other)):
        shown = stage.client.get(DIGEST)
    assert shown.status == 200
    assert shown.content == stage.client.get(DIGEST).content
    assert shown.content.endswith(b"No tasks yet.\n")


def test_a_digest_whose_etag_is_older_than_its_text_is_not_confirmed(stage: Stage, other: Stage) -> None:
    stage.turn(1, summary_md="old")
    with just_before("dynamodb.BatchGetItem", _replaced(other, summary_md="new")):
        shown = stage.client.get(DIGEST)
    assert b"new" in shown.content
    assert stage.client.get(DIGEST, headers={"If-None-Match": shown.etag}).status == 200


def test_reads_follow_an_object_that_was_replaced_under_them(stage: Stage, other: Stage) -> None:
    for path in (turn_path(), TASK, DIGEST):
        stage.turn(1, summary_md=LONG, meta={"big": LONG})
        with just_before("s3.GetObject", _replaced(other, summary_md=LONGER, meta={"big": LONGER})):
            read = stage.client.get(path)
        assert read.status == 200
        assert LONG.encode() not in read.content
        assert LONGER.encode() in read.content


def test_an_artifact_that_is_replaced_while_it_is_read_is_the_new_one_with_its_headers(
    stage: Stage, other: Stage
) -> None:
    stage.artifact("a", b"old")

    def replace() -> None:
        other.client.put(artifact_path(name="a"), body=b"newer", headers={"Content-Type": "text/new"})
        sweep(other.world)

    for headers, status, body in (({}, 200, b"newer"), ({"Range": "bytes=1-9"}, 206, b"ewer")):
        stage.artifact("a", b"old")
        with just_before("s3.GetObject", replace):
            read = stage.client.get(artifact_path(name="a"), headers=headers)
        assert (read.status, read.content, read.headers["content-type"]) == (status, body, "text/new")
        assert read.etag == stage.client.head(artifact_path(name="a")).etag


@pytest.mark.parametrize("path", [turn_path(), artifact_path(name="a"), TASK])
def test_what_is_deleted_while_it_is_read_is_404(stage: Stage, other: Stage, path: str) -> None:
    stage.turn(1, summary_md=LONG, meta={"big": LONG})
    stage.artifact()
    with just_before("s3.GetObject", _deleted(other)):
        assert stage.client.get(path).status == 404


def test_a_patch_changes_what_is_there_when_it_is_written(stage: Stage, other: Stage) -> None:
    for call in ("s3.GetObject", "dynamodb.TransactWriteItems"):
        stage.turn(1, summary_md=LONG, meta={"big": LONG})
        with just_before(call, _replaced(other, summary_md=LONGER, meta={"big": LONGER, "model": "other"})):
            patched = stage.client.patch(turn_path(), json_body={"meta": {"job_id": "mine"}})
        assert patched.status == 200
        read = stage.client.get(turn_path())
        assert (read.json["summary_md"], read.etag) == (LONGER, patched.etag)
        assert read.json["meta"] == {"big": LONGER, "model": "other", "job_id": "mine"}


@pytest.mark.parametrize("summary", ["short", LONG])
def test_a_write_whose_task_is_deleted_under_it_begins_a_new_life(stage: Stage, other: Stage, summary: str) -> None:
    stage.turn(1, summary_md=LONG)
    stage.artifact()
    with just_before("dynamodb.TransactWriteItems", _deleted(other)):
        put = stage.turn(1, summary_md=summary)
    assert put.status == 200
    assert put.json["artifacts"] == []
    assert put.json["created_at"] == put.json["updated_at"]
    assert stage.client.get(turn_path()).json == put.json
    assert stage.client.get(TASKS).json["total"] == 1
    assert len(stage.world.cloud.object_keys()) == (2 if summary == LONG else 1)  # one is the erasure log's


def test_a_patch_whose_task_is_deleted_under_it_is_404(stage: Stage, other: Stage) -> None:
    stage.turn(1, summary_md="s")
    with just_before("dynamodb.TransactWriteItems", _deleted(other)):
        assert stage.client.patch(turn_path(), json_body={"summary_md": "x"}).status == 404
    assert stage.client.get(TASKS).json["total"] == 0


def test_a_turn_that_another_made_with_artifacts_shows_them_in_the_answer_of_a_put(stage: Stage, other: Stage) -> None:
    stage.turn(0)
    with just_before("dynamodb.TransactWriteItems", lambda: other.artifact("a", b"theirs")):
        put = stage.turn(1, summary_md="mine")
    assert [a["name"] for a in put.json["artifacts"]] == ["a"]
    assert put.json == stage.client.get(turn_path()).json
    with just_before("dynamodb.TransactWriteItems", lambda: other.artifact("a", b"replaced")):
        put = stage.turn(1, summary_md="mine again")
    assert [a["size"] for a in put.json["artifacts"]] == [8]
    assert put.json == stage.client.get(turn_path()).json


@pytest.mark.parametrize("replaced", [False, True])
def test_an_upload_whose_bytes_change_while_it_is_completed_makes_no_artifact(stage: Stage, replaced: bool) -> None:  # noqa: FBT001
    upload_id = stage.begin_upload(b"bytes")
    s3, bucket = stage.world.cloud.aws.s3, stage.world.cloud.bucket_name
    (key,) = stage.world.cloud.object_keys()
    change: Any = partial(s3.put_object, Body=b"other") if replaced else s3.delete_object
    with just_before("s3.CopyObject", partial(change, Bucket=bucket, Key=key)):
        completed = _complete(stage, upload_id, [])
    assert completed.status == 409
    assert stage.client.get(artifact_path(name="a")).status == 404
    assert stage.client.get(TASKS).json["total"] == 0


def _complete(stage: Stage, upload_id: str, answers: list[Answer]) -> Answer:
    path = f"{artifact_path(name='a')}/complete"
    answers.append(stage.client.post(path, json_body={"upload_id": upload_id}))
    return answers[-1]


def test_an_upload_that_another_completes_first_has_one_answer(stage: Stage, other: Stage) -> None:
    for call in ("s3.HeadObject", "s3.GetObject", "s3.CopyObject", "dynamodb.TransactWriteItems"):
        upload_id = stage.begin_upload(b"bytes")
        theirs: list[Answer] = []
        with just_before(call, partial(_complete, other, upload_id, theirs)):
            mine = _complete(stage, upload_id, [])
        assert mine.status == 200, call
        assert (mine.json, mine.etag) == (theirs[0].json, theirs[0].etag)


def test_a_projects_retention_that_changes_under_a_write_holds_for_it(stage: Stage) -> None:
    stage.turn(0)
    world = stage.world
    projects = tenancy(Environment.of(world.environ), world.cloud.aws, world.clock).projects
    with just_before(
        "dynamodb.BatchGetItem", lambda: projects.change(Scope("acme", "default"), {"retention_days": 365})
    ):
        stage.turn(1, summary_md=LONG)
    assert [key.split("/")[0] for key in world.cloud.object_keys()] == ["r365"]


def test_a_second_delete_in_between_is_404_and_counts_once(stage: Stage, other: Stage) -> None:
    stage.turn(1)
    with just_before("dynamodb.TransactWriteItems", _deleted(other)):
        assert stage.client.delete(TASK).status == 404
    assert stage.client.get(TASKS).json["total"] == 0


def test_a_delete_takes_the_life_that_is_there_when_it_comes(stage: Stage, other: Stage) -> None:
    stage.turn(1)

    def reborn() -> None:
        _deleted(other)()
        other.turn(2)

    with just_before("dynamodb.TransactWriteItems", reborn):
        assert stage.client.delete(TASK).status == 204
    assert stage.client.get(TASKS).json["total"] == 0
    sweep(stage.world)
    assert stage.world.leftovers() == ([], [])


def test_a_task_written_while_the_sweeper_ends_it_lives(stage: Stage, other: Stage) -> None:
    stage.turn(1, summary_md=LONG)
    stage.artifact()
    stage.world.clock.move(days=31)
    with just_before("dynamodb.TransactWriteItems", lambda: other.turn(2, summary_md=LONGER)):
        sweep(stage.world)
    assert [turn["turn"] for turn in stage.client.get(TASK).json["turns"]] == [2]
    assert stage.client.get(turn_path(turn=2)).json["summary_md"] == LONGER
    assert stage.client.get(TASKS).json["total"] == 1
    assert len(stage.world.leftovers()[1]) == 1
