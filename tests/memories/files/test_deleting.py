"""Deleting a file: out of sight at once with what was made of it, removed by the worker, told in a receipt."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from infra.local.transactions import Conflicts
from shared.aws.table import Table
from shared.memories.erasing import KEPT_MS
from shared.memories.records import erasure_key
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.files.cabinet import (
    BYTES,
    FILES,
    Filer,
    bring,
    done_beside_completion,
    filer,
    objects_of,
    read,
    row_of,
    unfiled,
)
from tests.memories.shelf import ROOT, USER, shelf_world
from tests.memories.test_forgetting import left_of, log_of

if TYPE_CHECKING:
    from shared.aws.writes import Write
    from tests.memories.shelf import Shelf

NOTHING = {"objects": 0, "records": 0, "index": 0}


def test_a_file_is_gone_at_once_and_what_was_made_of_it_soon_after(shelf: Shelf, client: Filer) -> None:
    file_id, other = client.uploaded(shelf), client.uploaded(shelf, filename="other.txt")
    read(shelf, file_id, "Cedars grow slowly.", "Birches grow fast.")
    read(shelf, other, "Maples.")
    memory = shelf.put("cedar of mine")
    task_id = client.unfile(file_id)
    assert str(uuid.UUID(task_id)) == task_id
    for answer in (client.file(file_id), client.content_of(file_id), client.complete(file_id)):
        assert answer.status == 404
    assert client.delete(f"{FILES}/{file_id}").status == 404
    assert [file["id"] for file in client.files()] == [other]
    assert [sk for _, sk in shelf.rows("d#")] == [f"d#{shelf.address().document_id('other.txt')}"]
    told = client.receipt(task_id)
    assert (told["status"], told["completed_at"]) == ("accepted", None)
    assert told["removed"] == {**NOTHING, "records": 2}
    assert unfiled(shelf, task_id)
    told = client.receipt(task_id)
    assert told["status"] == "success"
    assert told["completed_at"] > told["created_at"]
    assert told["removed"] == {"objects": 1, "records": 4, "index": 2}
    assert set(told) == {"task_id", "status", "removed", "created_at", "completed_at"}
    assert not shelf.indexed("Cedars grow slowly.")
    assert shelf.indexed("Maples.")
    assert {sk for _, sk in shelf.rows("m#")} >= {f"m#{memory}"}
    assert len(shelf.rows("m#")) == 2
    assert len(objects_of(shelf)) == 1


def test_the_log_of_erasures_says_which_file_it_was_and_nothing_of_its_name(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    token = read(shelf, file_id, "Cedars.")
    row = row_of(shelf, file_id) or {}
    client.unfile(file_id)
    (entry,) = log_of(shelf)
    document_id = shelf.address().document_id("trees.txt")
    assert entry["kind"] == "memory_file"
    assert entry["ids"]["file"] == file_id
    assert entry["ids"]["created_at"] == row["created_at"]
    assert entry["ids"]["documents"] == [{"document": document_id, "token": token}]
    assert "trees" not in str(entry)
    assert "ann" not in str(entry["ids"])


def test_an_image_that_is_a_document_too_goes_as_both(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf, filename="scan.png")
    read(shelf, file_id, "What is written in it.")
    shelf.clock.move(ms=1)
    read(shelf, file_id, "What it shows.", of_image=True)
    task_id = client.unfile(file_id)
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["removed"] == {"objects": 1, "records": 5, "index": 2}
    assert left_of(shelf) == []


def test_a_document_that_another_file_has_taken_over_stays(shelf: Shelf, client: Filer) -> None:
    old, new = client.uploaded(shelf), client.uploaded(shelf, BYTES[::-1])
    read(shelf, new, "Words of the new one.")
    task_id = client.unfile(old)
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["removed"] == {"objects": 1, "records": 1, "index": 0}
    assert client.file(new).json["data"]["document_id"]
    assert shelf.indexed("Words of the new one.")


def test_a_file_of_another_user_with_the_same_name_stays(shelf: Shelf, client: Filer) -> None:
    mine, bobs = client.uploaded(shelf), client.uploaded(shelf, user_id="bob")
    read(shelf, mine, "Mine.")
    read(shelf, bobs, "Of Bob.", address=shelf.address("bob"))
    assert unfiled(shelf, client.unfile(mine))
    assert client.file(bobs).json["data"]["document_id"]
    assert shelf.indexed("Of Bob.", shelf.address("bob"))


def test_a_pending_file_can_be_deleted_and_what_came_of_it(shelf: Shelf, client: Filer) -> None:
    told = client.announced()
    bring(shelf, told)
    task_id = client.unfile(told["id"])
    assert objects_of(shelf) == []
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["removed"] == {**NOTHING, "records": 1}
    assert left_of(shelf) == []


def test_the_queue_s_message_has_it_done_beside_the_user_s_adds(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    task_id = client.unfile(file_id)
    (body,) = shelf.messages()
    assert (body["work"], body["erasure"], body["user_id"]) == ("unfile", task_id, USER)
    assert "generation" not in body


def test_a_queue_that_is_down_does_not_keep_a_file_from_being_deleted(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == "sqs" else None):
        task_id = client.unfile(file_id)
    assert shelf.messages() == []
    shelf.clock.move(ms=6 * 60_000)
    assert shelf.sweep()["errors"] == 0
    (body,) = shelf.messages()
    assert (body["work"], body["erasure"]) == ("unfile", task_id)


def test_a_receipt_is_kept_for_a_month_without_whose_it_was(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    token = read(shelf, file_id, "Cedars.")
    task_id = client.unfile(file_id)
    assert unfiled(shelf, task_id)
    shelf.clock.move(ms=6 * 60_000)
    assert shelf.sweep()["errors"] == 0
    row = shelf.table.get(erasure_key(shelf.address().scope, task_id))
    assert USER not in str(row)
    assert token not in str(row)
    assert row["expires_at"] == row["created_at"] + KEPT_MS
    assert client.receipt(task_id)["status"] == "success"
    assert filer(shelf, tenant="other").get(f"{ROOT}/erasures/{task_id}").status == 404


@pytest.mark.parametrize("conflicts", [None, Conflicts(0.002)])
def test_deleted_many_times_at_once_it_is_deleted_once(conflicts: Conflicts | None) -> None:
    with shelf_world(conflicts=conflicts) as shelf:
        client = filer(shelf)
        file_id = client.uploaded(shelf)
        read(shelf, file_id, "Cedars.")
        clients = [filer(shelf) for _ in range(6)]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda one: one.delete(f"{FILES}/{file_id}"), clients))
        assert sorted(answer.status for answer in answers) == [202] + [404] * 5
        (won,) = [answer.json["data"]["task_id"] for answer in answers if answer.status == 202]
        assert unfiled(shelf, won)
        assert left_of(shelf) == []


@pytest.mark.parametrize("conflicts", [None, Conflicts(0.002)])
def test_deleted_while_it_is_completed_nothing_of_it_is_left(conflicts: Conflicts | None) -> None:
    with shelf_world(conflicts=conflicts) as shelf:
        client, other = filer(shelf), filer(shelf)
        for _ in range(6):
            assert unfiled(shelf, done_beside_completion(shelf, client, other.unfile))
        assert left_of(shelf) == []


def test_a_document_that_is_made_of_it_meanwhile_goes_too(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    original = Table.transact
    tokens: list[str] = []

    def late(table: Table, *writes: Write) -> None:
        if not tokens:
            tokens.append(read(shelf, file_id, "Cedars grow slowly."))
        original(table, *writes)

    with patch.object(Table, "transact", late):
        task_id = client.unfile(file_id)
    assert shelf.rows("d#") == []
    assert unfiled(shelf, task_id)
    assert left_of(shelf) == []
    assert not shelf.indexed("Cedars grow slowly.")


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_death_at_any_call_of_the_request_leaves_all_or_nothing_in_sight(shelf: Shelf, *, applied: bool) -> None:
    key = shelf.key()
    for number in count(1):
        doomed, fresh = (Filer(shelf.handler(), key) for _ in range(2))
        file_id = fresh.uploaded(shelf)
        shelf.clock.move(ms=1)
        read(shelf, file_id, "Cedars.")
        finished = False
        with kill_at(number, applied=applied), suppress(Killed):
            finished = bool(doomed.unfile(file_id))
        seen = fresh.file(file_id)
        assert bool(shelf.rows("d#")) == (seen.status == 200)
        if seen.status == 200:
            fresh.unfile(file_id)
        if finished:
            break
    assert number > 3
    shelf.clock.move(ms=6 * 60_000)
    shelf.sweep()
    for receipt in {body["erasure"] for body in shelf.messages()}:
        unfiled(shelf, receipt)
    assert shelf.rows("u#") == shelf.rows("d#") == []


@pytest.mark.parametrize("service", ["dynamodb", "s3"])
def test_what_can_not_be_deleted_for_sure_is_503(shelf: Shelf, client: Filer, service: str) -> None:
    file_id = client.uploaded(shelf)
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == service else None):
        answer = client.delete(f"{FILES}/{file_id}")
    assert answer.status == 503
    assert answer.headers["retry-after"]
    assert client.file(file_id).status == 200


@pytest.mark.parametrize("fault", [Fault.APPLIED_TIMEOUT, Fault.APPLIED_SERVER_ERROR])
def test_a_deletion_whose_answer_was_lost_is_done_and_answered(shelf: Shelf, client: Filer, fault: Fault) -> None:
    file_id = client.uploaded(shelf)
    lost = iter([fault])
    with faults(lambda call: next(lost, None) if call.operation == "TransactWriteItems" else None):
        task_id = client.unfile(file_id)
    assert unfiled(shelf, task_id)
    assert client.receipt(task_id)["removed"] == {**NOTHING, "records": 1, "objects": 1}
