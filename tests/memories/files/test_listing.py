"""Reading and listing files: whose they are, in which order, and what a cursor is good for."""

from __future__ import annotations

import uuid
from itertools import count
from typing import TYPE_CHECKING

import pytest

from shared.memories.files.listing import FileListWish, Files
from tests.memories.files.cabinet import BYTES, FILES, Filer, bring, filer, read
from tests.memories.shelf import ROOT, USER

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf


def ids(client: Filer, user: str = USER, **query: int) -> list[str]:
    return [file["id"] for file in client.files(user, **query)]


def test_files_are_listed_newest_first_a_page_at_a_time(shelf: Shelf, client: Filer) -> None:
    made = []
    for number in range(7):
        made.append(client.announced(filename=f"{number}.txt")["id"])
        shelf.clock.move(ms=number % 2)
    client.announced(user_id="bob")
    listed = ids(client)
    assert sorted(listed) == sorted(made)
    times = [file["created_at"] for file in client.files()]
    assert times == sorted(times, reverse=True)
    for limit in (1, 2, 3, 7):
        assert ids(client, limit=limit) == listed
    assert client.get(FILES, query={"user_id": USER, "limit": 7}).json["data"]["next_cursor"] is None


def test_what_comes_meanwhile_does_not_move_the_pages(shelf: Shelf, client: Filer) -> None:
    made = [client.announced()["id"] for _ in range(4)]
    listed = ids(client)
    first = client.get(FILES, query={"user_id": USER, "limit": 2}).json["data"]
    shelf.clock.move(ms=5)
    client.announced()
    assert client.delete(f"{FILES}/{listed[1]}").status == 202
    second = client.get(FILES, query={"user_id": USER, "limit": 2, "cursor": first["next_cursor"]}).json["data"]
    assert [file["id"] for file in second["data"]] == listed[2:]
    assert second["next_cursor"] is None
    assert len(made) == 4


def test_a_user_without_files_has_an_empty_list(client: Filer) -> None:
    assert client.get(FILES, query={"user_id": "nobody"}).json["data"] == {"data": [], "next_cursor": None}


@pytest.mark.parametrize(
    "query",
    [
        *("", "user_id=", "user_id=%20", f"user_id={'u' * 256}", "user_id=a%00", "user_id=ann&limit=0"),
        *(
            "user_id=ann&limit=101",
            "user_id=ann&limit=-1",
            "user_id=ann&limit=x",
            "user_id=ann&cursor=x",
            "user_id=ann&cursor=",
        ),
    ],
)
def test_a_list_that_breaks_a_rule_is_422(client: Filer, query: str) -> None:
    answer = client.get(FILES, query=query)
    assert answer.status == 422
    assert answer.json["success"] is False


def test_a_cursor_is_good_for_its_own_list_only(shelf: Shelf, client: Filer) -> None:
    for user in (USER, "bob"):
        for number in range(3):
            client.announced(user_id=user)
            shelf.put(f"cedar {number}", address=shelf.address(user), number=number)
    cursor = client.get(FILES, query={"user_id": USER, "limit": 1}).json["data"]["next_cursor"]
    other = client.get(ROOT, query={"user_id": USER, "limit": 1}).json["data"]["next_cursor"]
    assert client.get(FILES, query={"user_id": USER, "cursor": cursor}).status == 200
    assert client.get(FILES, query={"user_id": "bob", "cursor": cursor}).status == 422
    assert client.get(ROOT, query={"user_id": USER, "cursor": cursor}).status == 422
    assert client.get(FILES, query={"user_id": USER, "cursor": other}).status == 422
    assert filer(shelf, tenant="other").get(FILES, query={"user_id": USER, "cursor": cursor}).status == 422
    assert filer(shelf, project="second").get(FILES, query={"user_id": USER, "cursor": cursor}).status == 422
    assert client.get(FILES, query={"user_id": USER, "cursor": f"{cursor[:-2]}AA"}).status == 422


def test_files_are_in_no_list_of_memories_and_memories_in_none_of_files(shelf: Shelf, client: Filer) -> None:
    client.announced()
    memory_id = shelf.put("cedar")
    assert [memory["id"] for memory in client.listed()] == [memory_id]
    assert len(ids(client)) == 1


def test_a_file_names_the_document_that_was_made_of_it_last(shelf: Shelf, client: Filer) -> None:
    first = client.uploaded(shelf)
    assert client.file(first).json["data"]["document_id"] is None
    read(shelf, first, "Cedars grow slowly.")
    document_id = client.file(first).json["data"]["document_id"]
    assert str(uuid.UUID(document_id)) == document_id
    assert client.complete(first).json["data"]["document_id"] == document_id
    second = client.uploaded(shelf, BYTES[::-1])
    shelf.clock.move(ms=1)
    read(shelf, second, "Other words.")
    assert client.file(second).json["data"]["document_id"] == document_id
    assert client.file(first).json["data"]["document_id"] is None
    assert {file["id"]: file["document_id"] for file in client.files()} == {second: document_id, first: None}


def test_an_image_names_the_document_that_its_caption_is(shelf: Shelf, client: Filer) -> None:
    image = client.uploaded(shelf, filename="photo.webp")
    read(shelf, image, "A cedar.", of_image=True)
    assert client.file(image).json["data"]["document_id"] == shelf.address().document_id(image)


def test_a_file_of_another_tenant_project_or_user_is_unknown(shelf: Shelf, client: Filer) -> None:
    file_id, pending = client.uploaded(shelf), client.announced()
    bring(shelf, pending)
    strangers = [filer(shelf, tenant="other"), filer(shelf, project="second")]
    unknown = str(uuid.uuid4())
    ways = [("GET", ""), ("GET", "/content"), ("HEAD", "/content"), ("POST", "/complete"), ("DELETE", "")]
    for method, suffix in ways:
        nothing = client.send(method, f"{FILES}/{unknown}{suffix}")
        assert nothing.status == 404
        for stranger in strangers:
            for known in (file_id, pending["id"]):
                answer = stranger.send(method, f"{FILES}/{known}{suffix}")
                assert (answer.status, _without_meta(answer)) == (404, _without_meta(nothing)), (method, suffix)
        answer = client.send(method, f"{FILES}/{file_id}{suffix}", query={"user_id": "bob"})
        assert (answer.status, _without_meta(answer)) == (404, _without_meta(nothing))
    for odd in ("x", "..", "%2e%2e", "u#1", unknown.replace("-", ""), f"{file_id}%00", "用户"):
        assert client.file(odd).status == 404
    assert [file["status"] for file in client.files()] == ["pending", "ready"]
    assert strangers[0].files() == strangers[1].files() == []
    assert client.file(file_id, query={"user_id": f" {USER} "}).status == 200
    assert client.file(file_id, query={"user_id": ""}).status == 422


def _without_meta(answer: object) -> object:
    content = getattr(answer, "content", b"")
    return {**answer.json, "meta": None} if content else None  # type: ignore[attr-defined]


def test_keys_without_the_permission_are_refused(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    reading, writing = filer(shelf, permissions=["read"]), filer(shelf, permissions=["write"])
    assert reading.file(file_id).status == reading.content_of(file_id).status == 200
    assert reading.head(f"{FILES}/{file_id}/content").status == 200
    assert len(reading.files()) == 1
    assert reading.post(FILES, json_body={}).status == 403
    assert reading.complete(file_id).status == 403
    assert reading.delete(f"{FILES}/{file_id}").status == 403
    assert writing.complete(file_id).status == 200
    assert writing.file(file_id).status == 403
    assert Filer(shelf.handler(), "lsk_wrong").file(file_id).status == 401
    assert client.put(f"{FILES}/{file_id}", json_body={}).status == 405


def test_a_list_reads_on_past_what_was_forgotten_for_a_while_only(shelf: Shelf, client: Filer) -> None:
    for _ in range(12):
        client.announced()
    client.forget_all()
    assert client.files() == []
    shelf.clock.move(ms=5)
    assert client.get(FILES, query={"user_id": USER, "limit": 1}).json["data"] == {"data": [], "next_cursor": None}
    ticks = count()
    files = Files(shelf.composed.backing, seconds=1.0, monotonic=lambda: float(next(ticks)))
    pages = 0
    cursor = None
    while True:
        page = files.page(FileListWish(shelf.address(), 1, cursor))
        pages += 1
        cursor = page["next_cursor"]
        assert page["data"] == []
        if cursor is None:
            break
    assert 1 < pages <= 12
