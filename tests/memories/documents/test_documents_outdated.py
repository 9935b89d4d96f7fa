"""Bytes that were sent in an add go when later ones of the same name count; what its user has uploaded stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.aws.writes import Update
from shared.memories.records import file_key
from tests.memories.documents.desk import desk_world, file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.documents.desk import Desk

FIRST, SECOND, THIRD = "The budget is 900 euros.", "The budget is 700 euros.", "The budget is 500 euros."


@pytest.fixture
def desk() -> Iterator[Desk]:
    with desk_world() as made:
        yield made


def files_of(desk: Desk) -> set[str]:
    return {row["sk"].removeprefix("u#") for row in desk.rows("u#")}


def bytes_of(desk: Desk) -> set[str]:
    """Return what the bucket holds of the files."""
    return {row["object"] for row in desk.rows("u#")}


def test_the_bytes_of_an_earlier_revision_go(desk: Desk) -> None:
    first = desk.added(file(FIRST))["files"][0]
    before = bytes_of(desk)
    second = desk.added(file(SECOND))["files"][0]
    desk.check_nothing_is_left_over()
    assert files_of(desk) == {second["file_id"]}
    assert second["file_id"] != first["file_id"]
    assert not any(desk.shelf.objects.exists(key) for key in before)
    assert all(desk.shelf.objects.exists(key) for key in bytes_of(desk))


def test_bytes_that_another_add_has_sent_again_stay_until_that_one_is_outdated_too(desk: Desk) -> None:
    desk.added(file(FIRST))
    second = desk.add(file(SECOND))
    desk.read_one()
    third = desk.add(file(FIRST))
    desk.work()
    assert [desk.status(task)["status"] for task in (second, third)] == ["success", "success"]
    assert desk.found("budget") == [FIRST]
    assert files_of(desk) == {desk.status(third)["files"][0]["file_id"]}
    last = desk.added(file(THIRD))["files"][0]
    desk.check_nothing_is_left_over()
    assert files_of(desk) == {last["file_id"]}


def test_bytes_that_were_accepted_earlier_and_read_later_count_for_nothing_and_go(desk: Desk) -> None:
    earlier = desk.add(file(FIRST))
    desk.shelf.clock.move(ms=5)
    later = desk.added(file(SECOND), reader=desk.reader)  # its message comes behind the first one's
    desk.check_nothing_is_left_over()
    assert desk.status(earlier)["status"] == "success"
    assert desk.found("budget") == [SECOND]
    assert files_of(desk) == {later["files"][0]["file_id"]}


def test_what_its_user_has_uploaded_stays(desk: Desk) -> None:
    first = desk.added(file(FIRST))["files"][0]
    key = file_key(desk.shelf.address(desk.user).scope, first["file_id"])
    desk.shelf.table.write(Update(key, drop=("sent_by",)))  # as the row of an upload is
    second = desk.added(file(SECOND))["files"][0]
    desk.check_nothing_is_left_over()
    assert files_of(desk) == {first["file_id"], second["file_id"]}
