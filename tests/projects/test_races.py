"""Fifty at once: nobody is refused for it, nothing is lost, and nobody sees anything in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.events import Client
from tests.projects.racing import Progress, Race, race, racing_world, watched_race
from tests.projects.upkeep import sweep
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clients.events import Answer
    from tests.projects.world import World

WRITERS = 50
TASKS, TASK, DIGEST = f"{ROOT}/tasks", f"{ROOT}/tasks/t1", f"{ROOT}/project.md"
LONG = "word " * 8_000

Request = "Callable[[Client], Answer]"


@pytest.fixture
def world() -> Iterator[World]:
    with racing_world() as made:
        yield made


@pytest.fixture
def key(world: World) -> str:
    return world.key()


@pytest.fixture
def client(world: World, key: str) -> Client:
    made = Client(world.handler(), key)
    assert made.get(TASKS).status == 200
    return made


def _put_turn(task: str, turn: int, summary: str, **headers: str) -> Callable[[Client], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda sender: sender.put(turn_path(task, turn), json_body={"summary_md": summary}, headers=named)


def _put_artifact(name: str, body: bytes, **headers: str) -> Callable[[Client], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda sender: sender.put(artifact_path(name=name), body=body, headers=named)


def _pages(client: Client, path: str, rows: str, limit: int) -> list[dict[str, Any]]:
    """Return the rows of all pages."""
    seen: list[dict[str, Any]] = []
    cursor = None
    while True:
        query = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        page = client.get(path, query=query).json
        assert len(page[rows]) <= limit
        seen += page[rows]
        cursor = page["next_cursor"]
        if cursor is None:
            return seen


def _times(done: Race) -> list[str]:
    return [answer.json["updated_at"] for answer in done.answers]


def _turns_counted(base: int) -> Callable[[Client, Progress], None]:
    """Return a watcher of one task whose turns `base`, `base + 1`, … are written, besides `base` of earlier ones."""

    def watch(reader: Client, progress: Progress) -> None:
        sure = set(progress.acknowledged)
        tasks = reader.get(TASKS).json["tasks"]
        read = reader.get(TASK)
        possible = set(progress.started)
        listed = tasks[0] if tasks else {"turn_count": 0, "latest_turn": -1}
        assert base + len(sure) <= listed["turn_count"] <= base + len(possible)
        assert max(sure, default=-1) <= listed["latest_turn"] - base <= max(possible, default=-1)
        if read.status == 200:
            turns = {turn["turn"] - base for turn in read.json["turns"] if turn["turn"] >= base}
            assert sure <= turns <= possible
        else:
            assert not sure
            assert base == 0

    return watch


@pytest.mark.parametrize("existing", [0, 3])
def test_fifty_turns_of_one_task_are_all_written_and_counted(
    client: Client, world: World, key: str, existing: int
) -> None:
    for turn in range(existing):
        client.put(turn_path(turn=turn), json_body={})
    requests = [_put_turn("t1", existing + n, f"summary {n}") for n in range(WRITERS)]
    done = watched_race(world, key, requests, _turns_counted(existing))
    assert done.statuses == {200}
    assert len(set(_times(done))) == WRITERS
    whole = existing + WRITERS
    (listed,) = client.get(TASKS).json["tasks"]
    assert (listed["turn_count"], listed["latest_turn"], listed["updated_at"]) == (whole, whole - 1, max(_times(done)))
    assert client.get(TASKS).json["total"] == 1
    assert [turn["turn"] for turn in _pages(client, TASK, "turns", 7)] == list(range(whole))
    assert f"\nsummary {WRITERS - 1}\n" in client.get(DIGEST).content.decode()
    for n, answer in enumerate(done.answers):
        read = client.get(turn_path(turn=existing + n))
        assert (read.etag, read.json["summary_md"]) == (answer.etag, f"summary {n}")


@pytest.mark.parametrize("filler", ["", LONG])
def test_fifty_writers_of_one_turn_follow_one_another(client: Client, world: World, key: str, filler: str) -> None:
    written: list[str] = []

    def watch(reader: Client, progress: Progress) -> None:
        sure = bool(progress.acknowledged)
        read = reader.get(turn_path())
        assert read.status == 200 or not sure
        if read.status == 200:
            assert read.json["summary_md"].endswith(filler)
            written.append(read.json["updated_at"])

    done = watched_race(world, key, [_put_turn("t1", 1, f"{n} {filler}") for n in range(WRITERS)], watch)
    assert done.statuses == {200}
    assert len(set(_times(done))) == WRITERS
    assert written == sorted(written)
    last = max(range(WRITERS), key=lambda n: _times(done)[n])
    read = client.get(turn_path())
    assert (read.etag, read.json["summary_md"]) == (done.answers[last].etag, f"{last} {filler}")
    (listed,) = client.get(TASKS).json["tasks"]
    assert (listed["turn_count"], listed["updated_at"]) == (1, read.json["updated_at"])
    sweep(world)
    assert len(world.cloud.object_keys()) == (1 if filler else 0)


@pytest.mark.parametrize("long", ["", LONG])
def test_fifty_patches_of_one_turn_all_stay(client: Client, world: World, key: str, long: str) -> None:
    client.put(turn_path(), json_body={"meta": {"model": long}, "summary_md": long})

    def patch(n: int) -> Callable[[Client], Answer]:
        return lambda sender: sender.patch(turn_path(), json_body={"meta": {f"k{n}": n}})

    assert race(world, key, [patch(n) for n in range(WRITERS)], Progress()).statuses == {200}
    read = client.get(turn_path()).json
    assert read["meta"] == {"model": long, **{f"k{n}": n for n in range(WRITERS)}}
    assert read["summary_md"] == long
    sweep(world)
    assert len(world.cloud.object_keys()) == bool(long)


@pytest.mark.parametrize("existing", [False, True])
def test_fifty_artifacts_of_one_turn_are_all_there(client: Client, world: World, key: str, existing: bool) -> None:  # noqa: FBT001
    if existing:
        client.put(turn_path(), json_body={"summary_md": "kept"})

    def watch(reader: Client, progress: Progress) -> None:
        sure = set(progress.acknowledged)
        read = reader.get(turn_path())
        names = {int(a["name"]) for a in read.json["artifacts"]} if read.status == 200 else set()
        assert sure <= names <= set(progress.started)

    requests = [_put_artifact(f"{n}", b"x" * n) for n in range(WRITERS)]
    done = watched_race(world, key, requests, watch)
    assert done.statuses == {200}
    turn = client.get(turn_path()).json
    assert {a["name"]: a["size"] for a in turn["artifacts"]} == {f"{n}": n for n in range(WRITERS)}
    assert turn["summary_md"] == ("kept" if existing else "")
    assert client.get(TASKS).json["tasks"][0]["turn_count"] == 1
    assert client.get(TASKS).json["tasks"][0]["updated_at"] == turn["updated_at"] == max(_times(done))
    assert client.get(artifact_path(name="7")).content == b"x" * 7


def test_fifty_writers_of_one_artifact_leave_one_of_their_bodies_and_one_object(
    client: Client, world: World, key: str
) -> None:
    done = race(world, key, [_put_artifact("a", b"%d" % n) for n in range(WRITERS)], Progress())
    assert done.statuses == {200}
    last = max(range(WRITERS), key=lambda n: _times(done)[n])
    assert client.get(artifact_path(name="a")).content == b"%d" % last
    sweep(world)
    assert len(world.cloud.object_keys()) == 1


def test_fifty_tasks_of_one_project_are_all_counted_in_order(client: Client, world: World, key: str) -> None:
    old = [f"old{n}" for n in range(12)]
    for name in old:
        client.put(turn_path(name), json_body={})

    def watch(reader: Client, progress: Progress) -> None:
        sure = len(progress.acknowledged)
        total = reader.get(TASKS, query={"limit": 1}).json["total"]
        assert len(old) + sure <= total <= len(old) + len(progress.started)
        walked = [task["task_id"] for task in _pages(reader, TASKS, "tasks", 5)]
        assert [name for name in walked if name in old] == old[::-1]
        assert len(walked) == len(set(walked))

    requests = [_put_turn(f"new{n}", n, f"of {n}") for n in range(WRITERS)]
    done = watched_race(world, key, requests, watch)
    assert done.statuses == {200}
    whole = WRITERS + len(old)
    listed = _pages(client, TASKS, "tasks", 9)
    assert client.get(TASKS).json["total"] == len(listed) == whole
    assert [(t["updated_at"], t["task_id"]) for t in listed] == sorted(
        ((t["updated_at"], t["task_id"]) for t in listed), reverse=True
    )
    assert {t["task_id"] for t in listed} == {*old, *(f"new{n}" for n in range(WRITERS))}
    assert client.get(DIGEST).content.decode().count("\n## ") == whole


def test_a_digest_never_shows_a_task_without_the_summary_that_it_always_has(
    client: Client, world: World, key: str
) -> None:
    client.put(turn_path(turn=1), json_body={"summary_md": "older"})

    def watch(reader: Client, _: Progress) -> None:
        shown = reader.get(DIGEST).content.decode()
        assert shown.endswith(("\nolder\n", "\nnewer\n")), shown

    requests = [_put_turn("t1", 2, "newer" if n % 2 else "") for n in range(20)]
    assert watched_race(world, key, requests, watch).statuses == {200}


def _one_winner(done: Race) -> int:
    assert (done.count(200), done.count(412)) == (1, len(done.answers) - 1)
    return next(n for n, answer in enumerate(done.answers) if answer.status == 200)


@pytest.mark.parametrize("task", ["t1", "new"])
def test_of_fifty_that_create_one_turn_exactly_one_does(client: Client, world: World, key: str, task: str) -> None:
    client.put(turn_path(turn=0), json_body={})
    requests = [_put_turn(task, 1, f"{n}", If_None_Match="*") for n in range(WRITERS)]
    winner = _one_winner(race(world, key, requests, Progress()))
    assert client.get(turn_path(task)).json["summary_md"] == f"{winner}"


def test_of_fifty_that_change_one_turn_they_saw_exactly_one_does(client: Client, world: World, key: str) -> None:
    seen = client.put(turn_path(), json_body={}).etag
    requests = [_put_turn("t1", 1, f"{n}", If_Match=seen) for n in range(WRITERS)]
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
    done = race(world, key, [_put_artifact("a", b"%d" % n, **condition) for n in range(WRITERS)], Progress())
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
    writes = [_put_turn("t1", n, LONG if n % 2 else f"{n}") for n in range(12)]
    files = [_put_artifact(f"{n}", b"new") for n in range(6)]
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
    last = max(range(10), key=lambda n: _times(done)[n])
    assert client.get(artifact_path(name="a")).content == b"%d" % last
    sweep(world)
    assert len(world.cloud.object_keys()) == 1
