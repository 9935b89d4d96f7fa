"""Forgetting a memory: alone, or with all that came from the same messages."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.transactions import Conflicts
from shared.memories.leftovers import LEFTOVERS
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.shelf import ROOT, Reader, ids_of, shelf_world

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf

LONG = "Cedar and birch. " * 2_000


def left_of(shelf: Shelf) -> list[Any]:
    """Return the rows of memories, the jobs and the objects that are stored, but for the erasure log's."""
    jobs = [item["pk"]["S"] for item in shelf.cloud.items() if item.get("kind", {}).get("S") == LEFTOVERS]
    objects = [key for key in shelf.cloud.object_keys() if not key.startswith("keep/erasures/")]
    rows = [row for row in shelf.rows() if row[1] != "user"]
    return [*rows, *jobs, *objects]


def log_of(shelf: Shelf) -> list[Any]:
    keys = [key for key in shelf.cloud.object_keys() if key.startswith("keep/erasures/")]
    return [json.loads(shelf.objects.get(key)) for key in keys]


@pytest.mark.parametrize("text", ["My pin is 1234.", LONG], ids=["short", "long"])
def test_what_is_forgotten_is_in_no_answer_and_nowhere_else(shelf: Shelf, reader: Reader, text: str) -> None:
    memory_id = shelf.put(text + "!", kind="fact")
    shelf.supersede(memory_id, text, fingerprint=shelf.memory_row(memory_id)["fingerprint"])
    kept = shelf.put("cedar and pin stay", kind="fact", number=1)
    answer = reader.forget(memory_id)
    assert answer.status == 200
    assert answer.json["data"] == {"id": memory_id, "deleted": [memory_id]}
    assert reader.memory(memory_id).status == 404
    assert reader.history(memory_id).status == 404
    assert reader.forget(memory_id).status == 404
    assert reader.change(memory_id, memory="x").status == 404
    assert ids_of(reader.listed()) == [kept]
    assert ids_of(reader.hits("cedar pin", output_mode="facts", min_semantic_similarity=0)) == [kept]
    assert not shelf.indexed(text)
    assert not shelf.indexed(text + "!")
    assert reader.forget(kept).status == 200
    assert left_of(shelf) == []
    assert [entry["kind"] for entry in log_of(shelf)] == ["memories", "memories"]
    assert text not in str(log_of(shelf))


def test_a_memory_with_a_long_past_goes_whole(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("state 0")
    for number in range(1, 60):
        shelf.supersede(memory_id, f"state {number}")
    assert reader.forget(memory_id).status == 200
    assert left_of(shelf) == []
    assert not any(shelf.indexed(f"state {number}") for number in range(60))


def task_of(shelf: Shelf, messages: int = 3, word: str = "Cedar") -> dict[str, str]:
    """Put the memories of one task in place: a raw one and a fact a message, and a summary of all."""
    task = str(uuid.uuid4())
    made = {"summary": shelf.put(f"{word} in all.", kind="summary", task=task, positions=range(messages))}
    for n in range(messages):
        made[f"raw{n}"] = shelf.put(f"{word} said {n}.", task=task, number=n)
        made[f"fact{n}"] = shelf.put(f"{word} fact {n}.", kind="fact", task=task, number=n)
    return made


def test_with_its_source_goes_what_came_from_the_same_messages(shelf: Shelf, reader: Reader) -> None:
    made = task_of(shelf)
    assert shelf.indexed("Cedar said 1.")
    others = task_of(shelf, 2, "Maple")
    answer = reader.forget(made["fact1"], "scope=source")
    assert answer.status == 200
    gone = {made[name] for name in ("fact1", "raw1", "summary")}
    assert answer.json["data"]["id"] == made["fact1"]
    assert set(answer.json["data"]["deleted"]) == gone
    assert set(ids_of(reader.listed())) == {*made.values(), *others.values()} - gone
    assert not shelf.indexed("Cedar said 1.")
    assert set(reader.forget(others["summary"], "scope=source").json["data"]["deleted"]) == set(others.values())
    assert reader.forget(made["raw0"], "scope=memory").json["data"]["deleted"] == [made["raw0"]]
    assert reader.forget(made["raw2"], "scope=all").status == 422


def test_with_its_source_go_the_states_of_others_that_came_from_it(shelf: Shelf, reader: Reader) -> None:
    made = task_of(shelf, 1)
    moved = str(uuid.uuid4())
    row = shelf.memory_row(made["fact0"])
    l2 = row["l2"].replace(row["origin"], moved)
    shelf.supersede(made["fact0"], "Maple now.", origin=moved, l2=l2, task=moved)
    assert set(reader.forget(made["raw0"], "scope=source").json["data"]["deleted"]) == {made["raw0"], made["summary"]}
    (state,) = reader.history(made["fact0"]).json["data"]["data"]
    assert state["memory"] == "Maple now."
    assert reader.texts("maple", output_mode="facts") == ["Maple now."]
    assert not shelf.indexed("Cedar fact 0.")


def test_a_source_of_many_messages_goes_whole(shelf: Shelf, reader: Reader) -> None:
    made = task_of(shelf, 40)
    assert len(reader.forget(made["summary"], "scope=source").json["data"]["deleted"]) == 81
    assert left_of(shelf) == []


@pytest.mark.parametrize("query", ["", "scope=source"], ids=["alone", "source"])
def test_overlapping_deletes_at_once_all_finish(query: str) -> None:
    with shelf_world(conflicts=Conflicts(0.002)) as shelf:
        made = list(task_of(shelf, 2).values())
        key = shelf.key()
        clients = [Reader(shelf.handler(), key) for _ in range(5)]

        def forget(number: int) -> list[int]:
            return [clients[number].forget(made[(number + n) % len(made)], query).status for n in range(4)]

        with ThreadPoolExecutor(5) as pool:
            statuses = [status for of_one in pool.map(forget, range(5)) for status in of_one]
        assert set(statuses) <= {200, 404}
        assert len(statuses) == 20
        assert clients[0].listed() == []
        assert left_of(shelf) == []


def test_a_change_and_a_delete_at_once_leave_nothing() -> None:
    with shelf_world(conflicts=Conflicts(0.002)) as shelf:
        key = shelf.key()
        changing, forgetting = (Reader(shelf.handler(), key) for _ in range(2))
        for number in range(6):
            memory_id = shelf.put(f"cedar {number}", number=number)
            with ThreadPoolExecutor(2) as pool:
                changed = pool.submit(changing.change, memory_id, memory=f"maple {number}")
                forgotten = pool.submit(forgetting.forget, memory_id)
            assert changed.result().status in (200, 404)
            assert forgotten.result().status == 200
            assert changing.memory(memory_id).status == 404
            assert not shelf.indexed(f"maple {number}")
        assert left_of(shelf) == []


@pytest.mark.parametrize(
    ("query", "applied"),
    [("", True), ("scope=source", False), ("scope=source", True)],
    ids=["alone", "before", "after"],
)
def test_a_death_at_any_call_can_be_tried_again_and_leaves_nothing(shelf: Shelf, query: str, *, applied: bool) -> None:
    key = shelf.key()
    for number in count(1):
        doomed, fresh = (Reader(shelf.handler(), key) for _ in range(2))
        task = str(uuid.uuid4())
        raw = shelf.put(f"{LONG} {number}", task=task)
        fact = shelf.put(f"Cedar fact {number}.", kind="fact", task=task)
        finished = False
        with kill_at(number, applied=applied), suppress(Killed):
            finished = doomed.forget(fact, query).status == 200
        there = fresh.memory(fact).status == 200
        assert (f"Cedar fact {number}." in fresh.texts(f"fact {number}", output_mode="facts", top_k=50)) is there
        assert fresh.forget(fact, query).status == (200 if there else 404)
        assert fresh.history(fact).status == 404
        if not query:
            assert fresh.forget(raw).status == 200
        if finished:
            break
    shelf.sweep()
    shelf.work()
    assert left_of(shelf) == []
    assert not any(shelf.indexed(f"Cedar fact {n}.") for n in range(1, number + 1))
    assert len({entry["id"] for entry in log_of(shelf)}) >= number


@pytest.mark.parametrize("broken", ["remove", "s3 delete"])
def test_what_does_not_answer_is_removed_later_and_seen_no_more(shelf: Shelf, reader: Reader, broken: str) -> None:
    memory_id = shelf.put(LONG)
    shelf.index.broken = {broken}
    failing = "DeleteObject" if broken == "s3 delete" else None
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.operation == failing else None):
        assert reader.forget(memory_id).status == 200
    assert reader.hits("cedar", output_mode="raw") == []
    assert left_of(shelf)
    shelf.index.broken = set()
    assert shelf.sweep()["errors"] == 0
    assert shelf.work() == 1
    assert left_of(shelf) == []
    assert not shelf.indexed(LONG)


@pytest.mark.parametrize("service", ["dynamodb", "s3"])
def test_what_can_not_be_forgotten_for_sure_is_503_and_stays(shelf: Shelf, reader: Reader, service: str) -> None:
    memory_id = shelf.put("cedar")
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == service else None):
        answer = reader.forget(memory_id)
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0
    assert reader.memory(memory_id).status == 200
    assert reader.texts("cedar", output_mode="raw") == ["cedar"]


def test_forgetting_needs_a_key_that_writes(shelf: Shelf) -> None:
    memory_id = shelf.put("cedar")
    reading = shelf.client(permissions=("read",))
    assert reading.forget(memory_id).status == 403
    assert reading.delete(ROOT, query={"user_id": "ann"}).status == 403
    assert reading.memory(memory_id).status == 200
    assert shelf.client(permissions=("write",)).forget(memory_id).status == 200
