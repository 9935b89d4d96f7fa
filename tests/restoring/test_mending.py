"""What a restored table has half, or has lost without anybody's wish, is brought in line with what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.writes import Delete, Put, Update
from tests.memories.shelf import ROOT as MEMORIES
from tests.projects.world import ROOT as PROJECTS
from tests.projects.world import artifact_path, turn_path
from tests.restoring.history import LONG, History, history, put_artifact, put_turn
from tests.restoring.test_restore import _World as Rows
from tests.stores.audit import audit
from tests.stores.world import ROOT as STORES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.aws.table import Table

PROJECT = "P#acme#default"


@pytest.fixture
def at() -> Iterator[History]:
    with history() as made:
        yield made


def restored(at: History, tear: Callable[[Table], None] = lambda _: None) -> History:
    """Return the stack on a copy of its table that was torn, and restored."""
    at.take_snapshot()
    name = at.restored("torn")
    restorer = at.restorer(name, old=None, reindex=lambda: at.reindex(name))
    tear(restorer.table)
    restorer.restoration().run(lambda *_: None)
    return at.switch_to(name)


def lose(at: History, begins: str, sk: str = "", attribute: str = "object") -> None:
    """Remove the objects of rows."""
    found = [row for row in at.rows(at.table_name).values() if row["pk"].startswith(begins) and sk in row["sk"]]
    lost = [row[attribute] for row in found if attribute in row]
    assert lost
    at.objects.delete(*lost)


def test_a_project_is_counted_anew(at: History) -> None:
    client = at.client("projects")
    for task in ("a", "b", "c"):
        put_turn(client, task, 1)
        put_turn(client, task, 2, "more")
        put_artifact(client, task, "log.txt", b"log")

    def tear(table: Table) -> None:
        table.write(Update((PROJECT, "count#00"), put={"l1": "~count#00"}, add={"n": 7}))
        table.write(Delete((PROJECT, "task#c")))
        table.write(Update((PROJECT, "task#a"), put={"turn_count": 9, "latest_turn": 9, "digest_turn": 9}))
        table.write(Delete(("T#acme#default#b", "0002")))
        table.write(Delete(("T#acme#default#b", "0001#log.txt")))

    client = restored(at, tear).client("projects")
    listed = client.get(f"{PROJECTS}/tasks").json
    assert ({task["task_id"] for task in listed["tasks"]}, listed["total"]) == ({"a", "b"}, 2)
    told = {name: client.get(f"{PROJECTS}/tasks/{name}").json for name in "ab"}
    assert {name: (task["turn_count"], task["latest_turn"]) for name, task in told.items()} == {
        "a": (2, 2),
        "b": (1, 1),
    }
    assert "more" in client.get(f"{PROJECTS}/project.md").content.decode()
    assert client.get(turn_path("b", 1)).json["artifacts"] == []
    put_turn(client, "b", 2, "again")
    assert client.get(f"{PROJECTS}/tasks/b").json["turn_count"] == 2


def test_a_turn_that_lost_its_summary_stays_as_long_as_it_has_artifacts(at: History) -> None:
    client = at.client("projects")
    put_turn(client, "a", 1, LONG)
    put_artifact(client, "a", "log.txt", b"log")
    put_turn(client, "b", 1, LONG)
    for task in "ab":
        at.objects.delete(at.rows(at.table_name)[(f"T#acme#default#{task}", "0001")]["object"])
    client = restored(at).client("projects")
    turn = client.get(turn_path("a", 1)).json
    assert (turn["summary_md"], [file["name"] for file in turn["artifacts"]]) == ("", ["log.txt"])
    assert client.get(artifact_path("a")).content == b"log"
    assert client.get(f"{PROJECTS}/tasks/b").status == 404
    assert client.get(f"{PROJECTS}/tasks").json["total"] == 1


def test_a_store_is_brought_in_line_with_the_memories_that_it_has(at: History) -> None:
    client = at.client("stores")
    store, archived = client.store(), client.store("archived")
    ids = {path: client.memory(store, path)["id"] for path in ("/a/b/c", "/a/b/d", "/a/e/f", "/top", "/lost")}
    client.memory(archived, "/x")
    assert client.post(f"{STORES}/{archived}/archive").status == 200
    lost = at.rows(at.table_name)[(f"H#acme#default#{store}", ids["/lost"])]
    at.objects.delete(lost["content"])

    def tear(table: Table) -> None:
        heads, places = f"H#acme#default#{store}", f"N#acme#default#{store}"
        table.write(Delete((heads, ids["/a/e/f"])))
        table.write(Delete((places, "/a/b/d")))
        table.write(Put({"pk": places, "sk": "/nothing", "kind": "file", "memory_id": "mem_none"}))
        table.write(Update((places, "/a"), put={"children": 5}))
        table.write(Update(("M#acme#default", store), put={"memories": 50}))
        table.write(Delete((f"H#acme#default#{archived}", "gate#07")))
        head = at.rows(at.table_name)[(heads, ids["/top"])]
        table.write(Delete((f"V#acme#default#{store}", head["version"])))

    switched = restored(at, tear)
    client = switched.client("stores")
    assert sorted(client.listed(store)) == ["/a/b/c", "/a/b/d"]
    audit(Rows(switched))  # type: ignore[arg-type]
    assert client.memory(store, "/a/e/f")["path"] == "/a/e/f"


def test_a_version_that_lost_its_bytes_goes_and_the_others_stay(at: History) -> None:
    client = at.client("stores")
    store = client.store()
    memory = client.memory(store, "/a", "first")
    client.update(store, memory["id"], content="second")
    at.objects.delete(at.rows(at.table_name)[(f"V#acme#default#{store}", memory["memory_version_id"])]["object"])
    switched = restored(at)
    client = switched.client("stores")
    assert client.retrieve(store, memory["id"]).json["content"] == "second"
    assert [version["operation"] for version in client.versions(store)] == ["modified"]
    audit(Rows(switched))  # type: ignore[arg-type]


def test_memories_that_lost_their_texts_go_and_their_past_keeps_what_was_decided(at: History) -> None:
    lost = at.shelf.put("lost " + "text " * 8_000)
    kept = at.shelf.put("past " + "text " * 8_000)
    at.shelf.supersede(kept, "what it says now")
    lose(at, "L#", "h#")
    lose(at, "L#", f"m#{lost}")
    client = restored(at).client("memories")
    assert client.memory(lost).status == 404
    assert client.memory(kept).json["data"]["memory"] == "what it says now"
    assert [entry["event"] for entry in client.history(kept).json["data"]["data"]] == ["UPDATE", "ADD"]


def test_an_add_whose_payload_is_there_goes_on(at: History) -> None:
    body: dict[str, Any] = {
        "user_id": "ann",
        "messages": [{"role": "user", "content": "Ann keeps bees.", "timestamp": -1}],
    }
    task = at.client("memories").post(f"{MEMORIES}/add", json_body=body).json["data"]["task_id"]
    switched = restored(at)
    switched.shelf.work()
    client = switched.client("memories")
    assert client.get(f"{MEMORIES}/add/status/{task}").json["status"] == "success"
    assert any("bees" in memory["memory"] for memory in client.listed())
