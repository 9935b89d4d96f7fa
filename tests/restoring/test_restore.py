"""A table restored to an earlier moment, made to forget what was erased since, and read through the functions."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from functions.memories import worker
from functions.platform import sweeper
from shared.retention.restoring import RestoreRefused
from shared.tenancy.opening import MARK, TableClosed
from tests.clients.events import CONTEXT
from tests.memories.shelf import ROOT as MEMORIES
from tests.projects.world import ROOT as PROJECTS
from tests.projects.world import artifact_path, turn_path
from tests.restoring.history import SECRET, History, a_day, put_turn, sweep
from tests.stores.audit import audit
from tests.stores.world import ROOT as STORES

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def day() -> Iterator[History]:
    """A stack with a table that was restored and made fit, and still the old one in use."""
    with a_day() as at:
        name = at.restored("restored")
        assert at.client("projects").get(turn_path("kept")).status == 200
        at.restorer(name, reindex=lambda: at.reindex(name)).restoration().run(lambda *_: None)
        yield at.switch_to(name)


def test_the_old_table_is_closed_for_good(day: History) -> None:
    old = History(day.shelf, keys=day.keys)
    old.shelf.clock.move(ms=60_000)
    old.shelf.settings["TABLE_NAME"], new = day.shelf.cloud.table_name, day.table_name
    try:
        answer = old.client("projects").get(turn_path("kept"))
        assert (answer.status, answer.headers["retry-after"]) == (503, "60")
        assert old.client("stores").get(STORES).status == 503
        for build in (sweeper.build, worker.build):
            function = build({**old.shelf.environ, **old.shelf.cloud.environment("WorkerFunction")}, *of(old))
            with pytest.raises(TableClosed):
                function({"job": "sweep", "Records": []}, CONTEXT)
    finally:
        old.shelf.settings["TABLE_NAME"] = new


def test_tasks_that_were_deleted_are_nowhere_and_the_others_are_there(day: History) -> None:
    client = day.client("projects")
    listed = client.get(f"{PROJECTS}/tasks").json
    assert {task["task_id"] for task in listed["tasks"]} == {"kept", "overwritten", "moved"}
    assert listed["total"] == 3
    for task in ("deleted", "reborn", "new", "only-long"):
        assert client.get(f"{PROJECTS}/tasks/{task}").status == 404
    assert SECRET not in client.get(f"{PROJECTS}/project.md").content.decode()
    for task in ("kept", "moved"):
        assert client.get(turn_path(task, 1)).json["summary_md"].startswith("A long summary")
        assert client.get(artifact_path(task)).content == f"log of {task}".encode()
        assert client.get(f"{PROJECTS}/tasks/{task}").json["turn_count"] == 2


def test_what_was_overwritten_since_is_lost_and_its_task_says_so(day: History) -> None:
    client = day.client("projects")
    assert client.get(artifact_path("overwritten")).status == 404
    assert client.get(turn_path("overwritten", 1)).status == 404
    task = client.get(f"{PROJECTS}/tasks/overwritten").json
    assert [turn["turn"] for turn in task["turns"]] == [2]
    assert (task["turn_count"], task["latest_turn"]) == (1, 2)


def test_stores_that_were_deleted_and_contents_that_were_redacted_are_nowhere(day: History) -> None:
    client = day.client("stores")
    assert [store["name"] for store in client.get(STORES).json["data"]] == ["kept"]
    assert client.get(f"{STORES}/{day.ids['deleted store']}").status == 404
    store = day.ids["store"]
    assert sorted(client.listed(store)) == ["/a/b/kept.md", "/top.md"]
    for path in ("/a/b/kept.md", "/top.md"):
        assert client.retrieve(store, day.ids[path]).json["content"] == f"text {path}"
    for path in ("/a/b/redacted.md", "/a/c/redacted.md"):
        version = client.get(f"{STORES}/{store}/memory_versions/{day.ids[f'version of {path}']}").json
        assert version["redacted_at"] is not None
        assert version["redacted_by"] == {"type": "api_actor", "api_key_id": day.ids["admin key"]}
        assert version["content"] is version["path"] is None
    audit(_World(day))  # type: ignore[arg-type]


def test_memories_that_were_forgotten_are_nowhere_and_are_found_by_nothing(day: History) -> None:
    client = day.client("memories")
    for name in ("deleted memory", "long memory", "beside", "of bob"):
        assert client.memory(day.ids[name]).status == 404
        assert client.history(day.ids[name]).status == 404
    for user, mode in itertools.product(("ann", "bob", "cyd", "dan"), ("summary", "facts", "raw")):
        assert SECRET not in json.dumps([client.hits(SECRET, user, output_mode=mode), client.listed(user)])
    assert "ann keeps bees" in client.texts("ann keeps bees", output_mode="facts")
    assert "cyd likes tea" in client.texts("cyd likes tea", "cyd", output_mode="raw")
    assert "ann lives in Oslo" in client.texts("ann lives in", output_mode="facts")
    past = client.history(day.ids["changed memory"]).json["data"]["data"]
    assert "ann lives in Rome" in json.dumps(past)
    assert client.receipt(day.ids["erasure of bob"])["status"] == "success"


def test_messages_are_not_found_by_the_words_of_a_forgotten_one_beside_them(day: History) -> None:
    first, last = (day.shelf.memory_row(day.ids[name]) for name in ("first", "last"))
    assert (first["following"], last["previous"]) == ("", "")
    assert not [row for row in day.rows(day.table_name).values() if SECRET in repr(row)]


def test_files_that_were_deleted_are_nowhere_with_all_that_was_made_of_them(day: History) -> None:
    client = day.client("memories")
    assert [file["id"] for file in client.files()] == [day.ids["kept file"]]
    assert client.file(day.ids["file"]).status == 404
    assert client.content_of(day.ids["kept file"]).status in {200, 302}
    assert "plain words in a chunk" in client.texts("plain words in a chunk")
    assert client.receipt(day.ids["erasure of the file"])["status"] == "success"


def test_an_add_that_was_under_way_ends_and_may_be_sent_again(day: History) -> None:
    client = day.client("memories")
    for name in ("task of ann", "task of cyd", "ended task of dan"):
        told = client.get(f"{MEMORIES}/add/status/{day.ids[name]}").json
        assert (told["status"], told["error"]["code"]) == ("failed", "interrupted"), name
    body: dict[str, Any] = {
        "user_id": "dan",
        "messages": [{"role": "user", "content": "Dan says hello.", "timestamp": -1}],
        "metadata": {"idempotency_key": "k-dan"},
    }
    answer = client.post(f"{MEMORIES}/add", json_body=body)
    assert answer.status == 202
    assert answer.json["data"]["task_id"] != day.ids["ended task of dan"]
    day.shelf.work()
    assert any("hello" in memory["memory"] for memory in client.listed("dan"))


def test_a_key_that_was_revoked_since_is_refused(day: History) -> None:
    for surface in ("projects", "stores", "memories", "platform"):
        assert day.client(surface, "stolen").get(f"{PROJECTS}/tasks").status in {401, 404}
    assert day.client("projects", "stolen").get(f"{PROJECTS}/tasks").status == 401
    keys = day.client("platform").get("/v1/api_keys").json["data"]
    assert day.ids["stolen key"] not in {key["id"] for key in keys}


def test_writes_go_on_and_the_sweeper_finds_nothing_wrong(day: History) -> None:
    projects, stores = day.client("projects"), day.client("stores")
    put_turn(projects, "deleted", 1, "a new life")
    assert projects.get(f"{PROJECTS}/tasks").json["total"] == 4
    assert projects.delete(f"{PROJECTS}/tasks/deleted").status == 204
    made = stores.memory(day.ids["store"], "/a/b/redacted.md", "written again")
    assert stores.remove(day.ids["store"], made["id"]).status == 200
    assert sweep(day)["errors"] == 0
    day.shelf.work()
    assert projects.get(f"{PROJECTS}/tasks").json["total"] == 3
    audit(_World(day))  # type: ignore[arg-type]


def test_a_table_that_is_open_is_not_restored_again(day: History) -> None:
    with pytest.raises(RestoreRefused):
        day.restorer(day.table_name).check()
    assert day.table.get(MARK)["name"] == day.table_name  # type: ignore[index]


def of(at: History) -> tuple[Any, Any]:
    return at.shelf.cloud.aws, at.shelf.clock


class _World:
    """What the audit of stores looks at: the restored table."""

    def __init__(self, at: History) -> None:
        table = at.shelf.cloud.emulator.table(at.table_name)
        items = [item.to_json()["Attributes"] for item in table.all_items()]
        self.cloud = type("Rows", (), {"items": staticmethod(lambda: items)})
        self.objects = at.objects
