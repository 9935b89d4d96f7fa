"""Forgetting all of a user: out of sight at once, removed by the worker, told in a receipt."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from infra.local.transactions import Conflicts
from shared.memories.erasing import KEPT_MS, Receipts
from shared.memories.records import erasure_key
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.shelf import ROOT, USER, Reader, shelf_world
from tests.memories.test_forgetting import left_of, log_of

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf

LONG = "Cedar and birch. " * 2_000


def filled(shelf: Shelf) -> list[str]:
    """Put some of everything in place for one user, and return the memories' ids."""
    made = [shelf.put(f"cedar {n}", kind="fact", number=n) for n in range(3)]
    made.append(shelf.put(LONG, kind="summary"))
    shelf.supersede(made[0], "maple now")
    return made


def test_everything_is_out_of_sight_at_once_and_gone_soon_after(shelf: Shelf, reader: Reader) -> None:
    made = filled(shelf)
    bob = shelf.put("cedar of bob", address=shelf.address("bob"))
    task_id = reader.forget_all()
    assert uuid.UUID(task_id)
    assert reader.listed() == []
    for mode in ("summary", "facts", "raw"):
        assert reader.hits("cedar", output_mode=mode, min_semantic_similarity=0) == []
    for memory_id in made:
        assert reader.memory(memory_id).status == 404
        assert reader.history(memory_id).status == 404
        assert reader.forget(memory_id).status == 404
        assert reader.change(memory_id, memory="x").status == 404
    told = reader.receipt(task_id)
    assert (told["status"], told["completed_at"]) == ("accepted", None)
    assert told["removed"] == {"objects": 0, "records": 0, "index": 0}
    assert shelf.work() == 1
    told = reader.receipt(task_id)
    assert told["status"] == "success"
    assert told["completed_at"] > told["created_at"]
    assert told["removed"]["objects"] == 1
    assert told["removed"]["records"] == 4 + 3 + 1
    assert told["removed"]["index"] > 4
    assert set(told) == {"task_id", "status", "removed", "created_at", "completed_at"}
    assert {row[1] for row in left_of(shelf) if isinstance(row, tuple)} == {f"m#{bob}"}
    assert not shelf.indexed("cedar 1")
    assert [hit["id"] for hit in reader.hits("cedar", "bob", output_mode="raw")] == [bob]
    assert log_of(shelf)[0]["kind"] == "memories_of_user"
    assert "ann" not in log_of(shelf)[0]["ids"].values()


def test_what_comes_after_is_kept_and_can_be_forgotten_again(shelf: Shelf, reader: Reader) -> None:
    filled(shelf)
    first = reader.forget_all()
    new = shelf.put("cedar, a new life")
    assert [hit["id"] for hit in reader.listed()] == [new]
    assert shelf.work() == 1
    assert [hit["id"] for hit in reader.hits("cedar", output_mode="raw")] == [new]
    second = reader.forget_all()
    assert shelf.work() == 1
    assert reader.receipt(second)["removed"] == {"objects": 0, "records": 1, "index": 1}
    assert reader.receipt(first)["status"] == "success"
    assert left_of(shelf) == []


def test_a_message_that_comes_twice_counts_nothing_twice(shelf: Shelf, reader: Reader) -> None:
    filled(shelf)
    task_id = reader.forget_all()
    (body,) = shelf.messages()
    assert body["work"] == "erase"
    shelf.work()
    told = reader.receipt(task_id)
    shelf.composed.backing.queue.send(body, group="g", once="again")
    assert shelf.work() == 1
    assert reader.receipt(task_id) == told


def test_a_user_with_nothing_can_be_forgotten_too(shelf: Shelf, reader: Reader) -> None:
    task_id = reader.forget_all("nobody at all")
    assert shelf.work() == 1
    assert reader.receipt(task_id)["removed"] == {"objects": 0, "records": 0, "index": 0}
    assert reader.receipt(task_id)["status"] == "success"


def test_a_queue_that_is_down_does_not_keep_a_user_from_being_forgotten(shelf: Shelf, reader: Reader) -> None:
    filled(shelf)
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == "sqs" else None):
        task_id = reader.forget_all()
    assert reader.listed() == []
    assert shelf.messages() == []
    shelf.clock.move(ms=6 * 60_000)
    assert shelf.sweep()["errors"] == 0
    assert shelf.work() == 1
    assert reader.receipt(task_id)["status"] == "success"
    assert left_of(shelf) == []


def test_a_receipt_is_kept_for_a_month_without_whose_it_was(shelf: Shelf, reader: Reader) -> None:
    task_id = reader.forget_all()
    shelf.work()
    shelf.clock.move(ms=6 * 60_000)
    assert shelf.sweep()["errors"] == 0
    key = erasure_key(shelf.address().scope, task_id)
    row = shelf.table.get(key)
    assert USER not in str(row)
    assert row["expires_at"] == row["created_at"] + KEPT_MS
    assert reader.receipt(task_id.upper())["status"] == "success"
    shelf.clock.move(ms=KEPT_MS)
    assert Receipts(shelf.composed.backing).look(row)
    assert reader.get(f"{ROOT}/erasures/{task_id}").status == 404


def test_a_receipt_is_told_to_its_own_project_only(shelf: Shelf, reader: Reader) -> None:
    task_id = reader.forget_all()
    assert shelf.client(tenant="other").get(f"{ROOT}/erasures/{task_id}").status == 404
    assert shelf.client(project="second").get(f"{ROOT}/erasures/{task_id}").status == 404


def test_users_whose_names_are_alike_are_not_forgotten_with_another(shelf: Shelf, reader: Reader) -> None:
    # The last two have characters that SQS does not take as they are.
    names = ["ann", "ann2", "ANN", "a%6en", "an%", "用户", "ann/../bob", "a b/c?#", "ann\ufffe", "\uffffann"]
    for name in names:
        shelf.put("cedar", address=shelf.address(name))
    gone = {"an%", "a b/c?#", "\uffffann"}
    for name in gone:
        reader.forget_all(name)
    shelf.work()
    left = {name for name in names if reader.texts("cedar", name, output_mode="raw") == ["cedar"]}
    assert left == set(names) - gone


@pytest.mark.parametrize("query", ["", "user_id=", "user_id=%20%20", f"user_id={'u' * 256}", "user_id=a%00b"])
def test_nobody_is_forgotten_by_mistake(shelf: Shelf, reader: Reader, query: str) -> None:
    shelf.put("cedar")
    assert reader.delete(ROOT, query=query).status == 422
    assert len(reader.listed()) == 1


@pytest.mark.parametrize("name", ["session_id", "agent_id", "app_id", "filters", "kind", "run_id", "scope"])
def test_a_wish_that_looks_narrower_than_all_of_a_user_deletes_nothing(shelf: Shelf, reader: Reader, name: str) -> None:
    """A parameter that was not known was left alone, and all was deleted where a part was meant."""
    shelf.put("cedar")
    answer = reader.delete(ROOT, query={"user_id": USER, name: "source"})
    assert answer.status == 422
    assert answer.json["error"]["details"][0]["loc"] == ["query", name]
    assert len(reader.listed()) == 1


def test_parallel_wishes_to_forget_one_user_all_succeed() -> None:
    with shelf_world(conflicts=Conflicts(0.002)) as shelf:
        filled(shelf)
        key = shelf.key()
        clients = [Reader(shelf.handler(), key) for _ in range(5)]
        with ThreadPoolExecutor(5) as pool:
            tasks = list(pool.map(lambda client: client.forget_all(), clients))
        assert len(set(tasks)) == 5
        shelf.work()
        assert {clients[0].receipt(task)["status"] for task in tasks} == {"success"}
        assert sum(clients[0].receipt(task)["removed"]["records"] for task in tasks) == 4 + 3 + 1
        assert left_of(shelf) == []


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_death_at_any_call_of_the_request_leaves_all_or_nothing_in_sight(shelf: Shelf, *, applied: bool) -> None:
    key = shelf.key()
    for number in count(1):
        doomed, fresh = (Reader(shelf.handler(), key) for _ in range(2))
        filled(shelf)
        finished = False
        with kill_at(number, applied=applied), suppress(Killed):
            finished = bool(doomed.forget_all())
        assert len(fresh.listed()) in (0, 4)
        fresh.forget_all()
        assert fresh.listed() == []
        if finished:
            break
    assert number > 3
    shelf.clock.move(ms=6 * 60_000)
    shelf.sweep()
    shelf.work()
    assert left_of(shelf) == []


@pytest.mark.parametrize("service", ["dynamodb", "s3"])
def test_what_can_not_be_forgotten_for_sure_is_503(shelf: Shelf, reader: Reader, service: str) -> None:
    filled(shelf)
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == service else None):
        answer = reader.delete(ROOT, query={"user_id": USER})
    assert answer.status == 503
    assert len(reader.listed()) == 4
