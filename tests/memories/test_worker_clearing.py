"""Forgetting all of a user: the worker's part, whole or in pieces, and what it must not touch."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.errors import Unavailable
from shared.memories.clearing import PAGE, Clearing
from shared.memories.erasing import Erasing
from shared.memories.records import UserAddress, erasure_key
from tests.emulator.faults import Killed, kill_at
from tests.memories.fakes import Failing
from tests.memories.line import Line, line
from tests.memories.works import ANA, SCOPE, never

if TYPE_CHECKING:
    from collections.abc import Iterator

BEN = UserAddress(SCOPE, "ben")


@pytest.fixture
def queue() -> Iterator[Line]:
    with line() as made:
        yield made


def erased(queue: Line, address: UserAddress = ANA) -> str:
    """Have all of a user forgotten, and return the receipt's name."""
    told = Erasing(queue.world.backing).erase(address, "corr")
    name: str = told["task_id"]
    return name


def receipt(queue: Line, name: str) -> dict[str, Any]:
    found: dict[str, Any] = Erasing(queue.world.backing).receipt(SCOPE, name)
    return found


def body(queue: Line, name: str) -> dict[str, Any]:
    row = queue.world.table.get(erasure_key(SCOPE, name)) or {}
    return {n: row[n] for n in ("tenant", "project", "user_id", "erasure", "generation")} | {"work": "erase"}


def rows_of(queue: Line, address: UserAddress) -> list[str]:
    pk = address.pk
    return sorted(i["sk"]["S"].split("#")[0] for i in queue.world.cloud.items() if i["pk"]["S"] == pk)


def test_all_of_a_user_goes_and_the_receipt_counts_it(queue: Line) -> None:
    queue.add("city: Oslo. pet: cat.")
    queue.add("city: Rome.", "long " * 10_000)
    queue.add("city: Bonn.", address=BEN)
    queue.run()
    before = rows_of(queue, BEN)
    name = erased(queue)
    assert queue.world.texts() == []
    queue.run()
    told = receipt(queue, name)
    assert told["status"] == "success"
    assert told["completed_at"]
    assert told["removed"]["objects"] == 2  # the long message, and its fact
    assert told["removed"]["records"] >= 10
    assert told["removed"]["index"] > 60
    assert rows_of(queue, ANA) == ["user"]
    assert [key for key in queue.world.cloud.object_keys() if not key.startswith("keep/erasures")] == []
    assert rows_of(queue, BEN) == before
    assert queue.world.facts(BEN) == ["city: Bonn."]
    assert "city: Bonn." in queue.world.found("Bonn", BEN)


def test_what_is_added_after_it_stays(queue: Line) -> None:
    queue.add("city: Oslo.")
    queue.run()
    name = erased(queue)
    queue.add("city: Oslo.")
    queue.run()
    assert receipt(queue, name)["status"] == "success"
    assert queue.world.facts() == ["city: Oslo."]
    assert "city: Oslo." in queue.world.found("Oslo")
    assert rows_of(queue, ANA).count("f") == 2  # of the fact and the summary


def test_adds_that_overtake_the_clearing_are_not_cleared(queue: Line) -> None:
    queue.add("city: Oslo.")
    queue.run()
    name = erased(queue)
    queue.world.add("city: Oslo.")
    clearing = Clearing(queue.world.means())
    assert clearing.erase(body(queue, name), never)
    assert queue.world.facts() == ["city: Oslo."]
    assert "city: Oslo." in queue.world.found("Oslo")
    assert queue.world.add("City: Oslo")["memory"] == {"total": 1}


def test_much_goes_in_pieces_each_sent_anew(queue: Line) -> None:
    queue.add(*[f"message {n}" for n in range(PAGE + 20)], mode="raw")
    queue.run()
    name = erased(queue)
    clearing = Clearing(queue.world.means())
    assert not clearing.erase(body(queue, name), lambda: True)
    assert receipt(queue, name)["status"] == "accepted"
    assert 0 < receipt(queue, name)["removed"]["records"] < PAGE + 20
    queue.run()
    told = receipt(queue, name)
    assert (told["status"], told["removed"]["records"]) == ("success", PAGE + 20)


def test_each_piece_gets_further_however_much_its_user_has_added_since(queue: Line) -> None:
    queue.add(*[f"message {n}" for n in range(PAGE + 20)], mode="raw")
    queue.run()
    name = erased(queue)
    queue.world.add(*[f"later {n}" for n in range(3 * PAGE)], mode="raw")
    clearing = Clearing(queue.world.means())
    assert any(clearing.erase(body(queue, name), lambda: True) for _ in range(PAGE))
    assert receipt(queue, name)["removed"]["records"] == PAGE + 20
    assert len(queue.world.texts()) == 3 * PAGE


def test_a_worker_that_dies_in_it_is_followed_by_the_next_and_counts_once(queue: Line) -> None:
    for step in count(1):
        queue.world.add("city: Oslo. pet: cat.")
        expected = sum(name not in {"lease", "user"} for name in rows_of(queue, ANA))
        name = erased(queue)
        clearing = Clearing(queue.world.means())
        with kill_at(step) as calls, suppress(Killed):
            clearing.erase(body(queue, name), never)
        if calls.total < step:
            break
        assert clearing.erase(body(queue, name), never)
        told = receipt(queue, name)
        assert (told["status"], told["removed"]["records"]) == ("success", expected)
        assert rows_of(queue, ANA) == ["user"]
    assert step > 3


def test_it_waits_for_an_index_that_is_down(queue: Line) -> None:
    queue.add("city: Oslo.")
    queue.run()
    numbers = count()
    queue.means["index"] = Failing(queue.world.index, lambda _: Unavailable() if next(numbers) < 3 else None)
    name = erased(queue)
    queue.run()
    assert receipt(queue, name)["status"] == "success"


def test_one_that_can_t_be_done_is_buried_and_its_user_s_adds_go_on(queue: Line) -> None:
    queue.means["index"] = Failing(queue.world.index, lambda name: RuntimeError() if name == "clear" else None)
    name = erased(queue)
    task = queue.add("city: Oslo.")
    assert queue.run() < 200
    assert len(queue.letters()) == 1
    assert queue.world.row(task)["status"] == "success"
    assert receipt(queue, name)["status"] == "accepted"


def test_a_receipt_that_is_gone_or_done_is_no_work(queue: Line) -> None:
    name = erased(queue)
    queue.run()
    done = body(queue, name)
    clearing = Clearing(queue.world.means())
    assert clearing.erase(done, never)
    assert clearing.erase({**done, "erasure": "00000000-0000-4000-8000-000000000000"}, never)
