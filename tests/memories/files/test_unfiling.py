"""The worker's part of deleting a file: whole or in pieces, once or again, and what it must not touch."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from shared.aws.writes import Put, Update
from shared.kernel.errors import Unavailable
from shared.memories.files.unfiling import PAGE, Unfiling, remove_reading
from shared.memories.past import past_state
from tests.emulator.faults import Killed, kill_at
from tests.memories.fakes import Failing
from tests.memories.files.cabinet import Filer, filer, read, unfiled
from tests.memories.test_forgetting import left_of

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf

LONG = "Cedar and birch. " * 2_000


def test_much_goes_in_pieces(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    read(shelf, file_id, *[f"cedar {n}" for n in range(PAGE + 5)])
    task_id = client.unfile(file_id)
    assert not unfiled(shelf, task_id, late=True)
    told = client.receipt(task_id)
    assert (told["status"], told["removed"]) == ("accepted", {"objects": 0, "records": 2 + PAGE, "index": PAGE})
    assert unfiled(shelf, task_id)
    removed = {"objects": 1, "records": PAGE + 7, "index": PAGE + 5}
    assert client.receipt(task_id)["removed"] == removed
    assert left_of(shelf) == []
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["removed"] == removed


def test_chunks_that_were_changed_go_with_their_past_and_long_ones_with_their_objects(
    shelf: Shelf, client: Filer
) -> None:
    file_id = client.uploaded(shelf)
    read(shelf, file_id, "cedar", LONG)
    (changed,) = [row for row in map(shelf.table.get, shelf.rows("m#")) if row.get("text") == "cedar"]
    shelf.supersede(changed["sk"].removeprefix("m#"), "birch")
    assert len(shelf.rows("h#")) == 1
    task_id = client.unfile(file_id)
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["removed"] == {"objects": 2, "records": 2 + 3, "index": 2}
    assert left_of(shelf) == []
    assert not shelf.indexed("birch")
    assert not shelf.indexed("cedar")


def test_a_change_that_comes_between_is_removed_as_well(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    read(shelf, file_id, "cedar")
    ((pk, sk),) = shelf.rows("m#")
    task_id = client.unfile(file_id)
    numbers = count()

    def changed(name: str) -> None:
        if name == "remove" and next(numbers) == 0:
            row = shelf.table.get((pk, sk))
            shelf.table.write(Put(past_state(shelf.composed.backing, row)))
            shelf.table.write(Update((pk, sk), {"revision": row["revision"] + 7}))

    assert unfiled(shelf, task_id, index=Failing(shelf.index, changed))
    assert client.receipt(task_id)["removed"] == {"objects": 1, "records": 2 + 2, "index": 1}
    assert left_of(shelf) == []


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_worker_that_dies_in_it_is_followed_by_the_next_and_counts_once(shelf: Shelf, *, applied: bool) -> None:
    client = filer(shelf)
    for number in count(1):
        file_id = client.uploaded(shelf)
        shelf.clock.move(ms=1)
        read(shelf, file_id, "cedar", LONG, "birch")
        task_id = client.unfile(file_id)
        with kill_at(number, applied=applied) as calls, suppress(Killed):
            unfiled(shelf, task_id)
        assert unfiled(shelf, task_id)
        assert client.receipt(task_id)["removed"] == {"objects": 2, "records": 5, "index": 3}
        assert left_of(shelf) == []
        if calls.total < number:
            break
    assert number > 6


def test_an_index_that_is_down_lets_nothing_be_told_as_removed(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    read(shelf, file_id, "cedar")
    task_id = client.unfile(file_id)
    with pytest.raises(Unavailable):
        unfiled(shelf, task_id, index=Failing(shelf.index, lambda _: Unavailable()))
    assert client.receipt(task_id)["status"] == "accepted"
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["status"] == "success"


def test_a_receipt_that_is_gone_is_no_work(shelf: Shelf) -> None:
    told = {"tenant": "acme", "project": "default", "user_id": "ann", "erasure": "00000000-0000-4000-8000-000000000000"}
    assert Unfiling(shelf.composed.means).unfile(told, lambda: False)


def test_a_reading_that_no_document_names_any_more_goes_without_a_receipt(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    old = read(shelf, file_id, "cedar one", "cedar two")
    shelf.clock.move(ms=1)
    new = read(shelf, file_id, "birch")
    assert old != new
    assert not remove_reading(shelf.composed.means, shelf.address(), old, late=lambda: True)
    assert remove_reading(shelf.composed.means, shelf.address(), old, late=lambda: False)
    assert remove_reading(shelf.composed.means, shelf.address(), old, late=lambda: False)
    ((pk, sk),) = shelf.rows("m#")
    assert shelf.table.get((pk, sk))["token"] == new
    assert shelf.indexed("birch")
    assert not shelf.indexed("cedar one")
