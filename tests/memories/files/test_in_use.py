"""Files that adds use: named by id, deleted meanwhile, deleted afterwards with what was made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from shared.aws.table import Table
from tests.documents.drawing import png
from tests.memories.attached import asking, file, image, named_file, named_image
from tests.memories.files.cabinet import BYTES, FILES, Filer, filer, objects_of, row_of
from tests.memories.shelf import ROOT, USER

if TYPE_CHECKING:
    from shared.aws.writes import Write
    from tests.clients.events import Answer
    from tests.memories.shelf import Shelf

ADD = f"{ROOT}/add"
SEEN = "A cedar on a hill."


def add(client: Filer, *parts: Any, user: str = USER) -> Answer:
    return client.post(ADD, json_body={"user_id": user, **asking(*parts)})


def status(client: Filer, answer: Answer) -> Any:
    assert answer.status == 202, answer.content
    told = client.get(f"{ADD}/status/{answer.json['data']['task_id']}")
    assert told.status == 200
    return told.json


def seen(client: Filer) -> list[str]:
    return client.texts("cedar hill", output_mode="raw", min_semantic_similarity=0)


def test_an_uploaded_image_is_added_found_and_deleted_with_its_memory(shelf: Shelf, client: Filer) -> None:
    picture = png(3, 2)
    file_id = client.uploaded(shelf, picture, filename="hill.png")
    accepted = add(client, named_image(file_id, SEEN))
    shelf.work()
    assert status(client, accepted)["status"] == "success"
    assert seen(client) == [SEEN]
    shown = client.file(file_id).json["data"]
    assert shown["document_id"] == shelf.address().document_id(file_id)
    task_id = client.unfile(file_id)
    assert seen(client) == []
    assert client.listed() == []
    shelf.work()
    told = client.receipt(task_id)
    assert (told["status"], told["removed"]["objects"]) == ("success", 1)
    assert not shelf.indexed(SEEN)
    assert shelf.rows("m#") == shelf.rows("u#") == shelf.rows("d#") == []


def test_an_image_that_came_with_an_add_is_a_file_too(shelf: Shelf, client: Filer) -> None:
    picture = png(3, 2)
    accepted = add(client, image(picture, SEEN))
    shelf.work()
    assert status(client, accepted)["status"] == "success"
    (shown,) = client.files()
    assert (shown["filename"], shown["media_type"], shown["status"]) == (None, "image/png", "ready")
    assert shown["document_id"] == shelf.address().document_id(shown["id"])
    got = client.content_of(shown["id"])
    assert got.content == picture
    assert got.headers["content-disposition"] == "attachment"
    client.unfile(shown["id"])
    assert seen(client) == []
    shelf.work()
    again = add(client, image(picture, SEEN))
    shelf.work()
    assert status(client, again)["status"] == "success"
    assert seen(client) == [SEEN]


@pytest.mark.parametrize("own", [True, False], ids=["of another user", "of nobody"])
def test_a_file_that_is_not_the_user_s_can_not_be_added(shelf: Shelf, client: Filer, *, own: bool) -> None:
    file_id = client.uploaded(shelf) if own else shelf.address("bob").file_id("upload", "x")
    assert add(client, named_file(file_id), user="bob").status == 404
    assert add(filer(shelf, tenant="other"), named_file(file_id)).status == 404
    assert add(filer(shelf, project="second"), named_file(file_id)).status == 404


def test_a_file_whose_upload_is_not_completed_can_not_be_added(client: Filer) -> None:
    assert add(client, named_file(client.announced()["id"])).status == 409


def test_a_file_that_is_deleted_while_it_is_added_is_either_added_or_unknown(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf, png(3, 2), filename="hill.png")
    assert _in_between(filer(shelf), lambda: add(client, named_image(file_id, SEEN)), file_id).status == 404
    shelf.work()
    assert seen(client) == []
    assert objects_of(shelf) == []


def test_a_file_that_is_added_while_it_is_deleted_is_gone_and_never_found(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf, png(3, 2), filename="hill.png")
    original, other, added = Table.transact, filer(shelf), list[Any]()

    def late(table: Table, *writes: Write) -> None:
        if not added:
            added.append(None)
            added[0] = add(other, named_image(file_id, SEEN))
        original(table, *writes)

    with patch.object(Table, "transact", late):
        client.unfile(file_id)
    shelf.work()
    assert seen(client) == []
    assert client.file(file_id).status == 404
    told = status(client, added[0])
    assert told["status"] == "failed"
    assert shelf.rows("m#") == shelf.rows("u#") == shelf.rows("d#") == []


def test_bytes_that_are_sent_again_after_they_were_deleted_are_kept_anew(shelf: Shelf, client: Filer) -> None:
    assert add(client, file("trees.txt", BYTES)).status == 202
    (first,) = client.files()
    old = (row_of(shelf, first["id"]) or {})["object"]
    client.unfile(first["id"])
    assert add(client, file("trees.txt", BYTES)).status == 202
    assert [shown["id"] for shown in client.files()] == [first["id"]]
    shelf.work()
    assert client.content_of(first["id"]).content == BYTES
    assert old not in objects_of(shelf)


def test_a_file_of_an_add_that_waits_can_be_deleted(shelf: Shelf, client: Filer) -> None:
    assert add(client, file("trees.txt", BYTES)).status == 202
    (shown,) = client.files()
    assert client.delete(f"{FILES}/{shown['id']}").status == 202
    assert client.files() == []


def _in_between(other: Filer, request: Any, file_id: str) -> Answer:
    """Make a request, and have another client delete the file just before its transaction."""
    original, deleted = Table.transact, list[str]()

    def late(table: Table, *writes: Write) -> None:
        if not deleted:
            deleted.append("")
            deleted[0] = other.unfile(file_id)
        original(table, *writes)

    with patch.object(Table, "transact", late):
        answer: Answer = request()
    return answer
