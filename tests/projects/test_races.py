"""Fifty at once: nobody is refused for it, nothing is lost, and nobody sees anything in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.projects.racing import (  # noqa: F401 - fixtures are found by being here
    Progress,
    put_artifact,
    put_turn,
    race,
    racing_client,
    racing_key,
    racing_world,
    times,
    watched_race,
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
    requests = [put_turn("t1", existing + n, f"summary {n}") for n in range(WRITERS)]
    done = watched_race(world, key, requests, _turns_counted(existing))
    assert done.statuses == {200}
    assert len(set(times(done))) == WRITERS
    whole = existing + WRITERS
    (listed,) = client.get(TASKS).json["tasks"]
    assert (listed["turn_count"], listed["latest_turn"], listed["updated_at"]) == (whole, whole - 1, max(times(done)))
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

    done = watched_race(world, key, [put_turn("t1", 1, f"{n} {filler}") for n in range(WRITERS)], watch)
    assert done.statuses == {200}
    assert len(set(times(done))) == WRITERS
    assert written == sorted(written)
    last = max(range(WRITERS), key=lambda n: times(done)[n])
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

    requests = [put_artifact(f"{n}", b"x" * n) for n in range(WRITERS)]
    done = watched_race(world, key, requests, watch)
    assert done.statuses == {200}
    turn = client.get(turn_path()).json
    assert {a["name"]: a["size"] for a in turn["artifacts"]} == {f"{n}": n for n in range(WRITERS)}
    assert turn["summary_md"] == ("kept" if existing else "")
    assert client.get(TASKS).json["tasks"][0]["turn_count"] == 1
    assert client.get(TASKS).json["tasks"][0]["updated_at"] == turn["updated_at"] == max(times(done))
    assert client.get(artifact_path(name="7")).content == b"x" * 7


def test_fifty_writers_of_one_artifact_leave_one_of_their_bodies_and_one_object(
    client: Client, world: World, key: str
) -> None:
    done = race(world, key, [put_artifact("a", b"%d" % n) for n in range(WRITERS)], Progress())
    assert done.statuses == {200}
    last = max(range(WRITERS), key=lambda n: times(done)[n])
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

    requests = [put_turn(f"new{n}", n, f"of {n}") for n in range(WRITERS)]
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

    requests = [put_turn("t1", 2, "newer" if n % 2 else "") for n in range(20)]
    assert watched_race(world, key, requests, watch).statuses == {200}
