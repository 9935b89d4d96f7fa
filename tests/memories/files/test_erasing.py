"""Forgetting all of a user takes the user's files along, whatever is under way with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from infra.local.transactions import Conflicts
from shared.aws.table import Table
from shared.tenancy import background
from tests.memories.files.cabinet import BYTES, FILES, bring, done_beside_completion, filer, objects_of, read, unfiled
from tests.memories.shelf import USER, shelf_world
from tests.memories.test_forgetting import left_of

if TYPE_CHECKING:
    from shared.aws.writes import Write
    from tests.memories.files.cabinet import Filer
    from tests.memories.shelf import Shelf


def test_a_user_s_files_and_uploads_go_with_everything_else(shelf: Shelf, client: Filer) -> None:
    ready, pending = client.uploaded(shelf), client.announced()
    read(shelf, ready, "Cedars grow slowly.", "Birches.")
    bring(shelf, pending)
    bobs = client.uploaded(shelf, user_id="bob")
    task_id = client.forget_all()
    assert client.files() == []
    for file_id in (ready, pending["id"]):
        assert client.file(file_id).status == 404
        assert client.content_of(file_id).status == 404
        assert client.complete(file_id).status == 404
        assert client.delete(f"{FILES}/{file_id}").status == 404
    shelf.work()
    told = client.receipt(task_id)
    assert told["status"] == "success"
    assert told["removed"]["records"] == 2 + 1 + 2
    assert told["removed"]["objects"] == 2
    assert not shelf.indexed("Cedars grow slowly.")
    assert [sk for _, sk in shelf.rows() if sk != "user"] == [f"u#{bobs}"]
    assert len(objects_of(shelf)) == 1
    assert client.content_of(bobs).content == BYTES


def test_an_upload_that_is_begun_afterwards_is_the_new_user_s(shelf: Shelf, client: Filer) -> None:
    client.uploaded(shelf)
    client.forget_all()
    new = client.uploaded(shelf)
    shelf.work()
    assert [file["id"] for file in client.files()] == [new]
    assert client.content_of(new).content == BYTES
    client.forget_all()
    shelf.work()
    assert left_of(shelf) == []


@pytest.mark.parametrize("conflicts", [None, Conflicts(0.002)])
def test_a_file_that_is_completed_at_the_same_time_is_forgotten_too(conflicts: Conflicts | None) -> None:
    with shelf_world(conflicts=conflicts) as shelf:
        client, other = filer(shelf), filer(shelf)
        for _ in range(6):
            done_beside_completion(shelf, client, lambda _: other.forget_all())
            shelf.work()
        assert left_of(shelf) == []


def test_an_upload_that_was_started_just_before_is_out_of_sight_and_lapses(shelf: Shelf, client: Filer) -> None:
    original, other = Table.write, filer(shelf)
    erased: list[str] = []

    def late(table: Table, write: Any) -> Any:
        if not erased:
            erased.append("")
            erased[0] = other.forget_all()
            shelf.work()
        return original(table, write)

    assert client.files() == []
    background.finish()  # when a key was used is written beside its request
    with patch.object(Table, "write", late):
        told = client.announced()
    bring(shelf, told)
    assert client.complete(told["id"]).status == 404
    assert client.files() == []
    shelf.clock.move(ms=25 * 3_600_000)
    assert shelf.sweep()["errors"] == 0
    assert left_of(shelf) == []


def test_a_file_that_is_deleted_while_its_user_is_forgotten_leaves_nothing(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    read(shelf, file_id, "Cedars.", "Birches.")
    deletion = client.unfile(file_id)
    erasure = client.forget_all()
    shelf.work()
    assert unfiled(shelf, deletion)
    removed = [client.receipt(task)["removed"] for task in (deletion, erasure)]
    assert sum(told["records"] for told in removed) == 4
    assert [client.receipt(task)["status"] for task in (deletion, erasure)] == ["success", "success"]
    assert left_of(shelf) == []


def test_a_user_who_is_forgotten_while_a_file_is_deleted_has_it_removed_once(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    read(shelf, file_id, "Cedars.")
    original, other = Table.transact, filer(shelf)
    erased: list[str] = []

    def late(table: Table, *writes: Write) -> None:
        if not erased:
            erased.append("")
            erased[0] = other.forget_all()
        original(table, *writes)

    with patch.object(Table, "transact", late):
        answer = client.delete(f"{FILES}/{file_id}")
    assert answer.status == 202
    shelf.work()
    unfiled(shelf, answer.json["data"]["task_id"])
    assert left_of(shelf) == []
    assert client.files(USER) == []
