"""Uploading a file: announced, brought by a presigned URL, completed once."""

from __future__ import annotations

import hashlib
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest

from infra.local.transactions import Conflicts
from shared.aws.objects import Objects
from shared.documents.port import EXTENSIONS
from shared.kernel.clock import DAY_MS
from tests.emulator.twins import late_puts
from tests.memories.files.cabinet import BYTES, FILES, SHA256, Filer, body, bring, filer, key_in, objects_of, row_of
from tests.memories.shelf import USER, shelf_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.shelf import Shelf


def test_a_file_is_announced_brought_and_completed(shelf: Shelf, client: Filer) -> None:
    answer = client.post(FILES, json_body=body(sha256=SHA256))
    assert answer.status == 200
    assert set(answer.json) == {"success", "data", "meta"}
    told = answer.json["data"]
    assert set(told) == {"id", "status", "upload"}
    assert str(uuid.UUID(told["id"])) == told["id"]
    assert told["status"] == "pending"
    assert told["upload"]["method"] == "PUT"
    assert set(told["upload"]) == {"method", "url", "headers", "expires_at"}
    assert client.file(told["id"]).json["data"]["status"] == "pending"
    bring(shelf, told)
    completed = client.complete(told["id"])
    assert completed.status == 200, completed.content
    assert completed.json["data"] == client.file(told["id"]).json["data"]
    assert completed.json["data"] == {
        "id": told["id"],
        "user_id": USER,
        "filename": "trees.txt",
        "size": len(BYTES),
        "media_type": "text/plain",
        "sha256": SHA256,
        "status": "ready",
        "created_at": completed.json["data"]["created_at"],
        "document_id": None,
    }
    (key,) = objects_of(shelf)
    assert key.startswith("keep/")
    assert shelf.objects.head(key).metadata["owner"] == "|".join(
        (row_of(shelf, told["id"]) or {})[n] for n in ("pk", "sk")
    )
    row = row_of(shelf, told["id"]) or {}
    assert not {"expires_at", "due", "kind"} & set(row)


def test_the_url_is_for_one_object_one_length_one_write_and_a_quarter_of_an_hour(client: Filer) -> None:
    upload = client.announced()["upload"]
    query = parse_qs(urlsplit(upload["url"]).query)
    assert query["X-Amz-Expires"] == ["900"]
    assert set(query["X-Amz-SignedHeaders"][0].split(";")) == {"content-length", "host", "if-none-match"}
    assert upload["headers"] == {"Content-Length": str(len(BYTES)), "If-None-Match": "*"}


@pytest.mark.parametrize("extension", sorted(EXTENSIONS | {"webp"}))
def test_every_extension_has_a_media_type(client: Filer, extension: str) -> None:
    told = client.announced(filename=f"A.B.{extension.upper()}")
    shown = client.file(told["id"]).json["data"]
    assert shown["filename"] == f"A.B.{extension.upper()}"
    assert shown["media_type"].count("/") == 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"user_id": None}, "user_id"),
        ({"user_id": ""}, "user_id"),
        ({"user_id": "  "}, "user_id"),
        ({"user_id": "u" * 256}, "user_id"),
        ({"user_id": "a\x00b"}, "user_id"),
        ({"user_id": 1}, "user_id"),
        ({"filename": None}, "filename"),
        ({"filename": ""}, "filename"),
        ({"filename": ".txt"}, "filename"),
        ({"filename": "noextension"}, "filename"),
        ({"filename": "a.exe"}, "filename"),
        ({"filename": "a.txt.exe"}, "filename"),
        ({"filename": "a/b.txt"}, "filename"),
        ({"filename": "..\\b.txt"}, "filename"),
        ({"filename": "a\nb.txt"}, "filename"),
        ({"filename": "a\x7fb.txt"}, "filename"),
        ({"filename": "a\x85b.txt"}, "filename"),
        ({"filename": "a.txt "}, "filename"),
        ({"filename": "a" * 252 + ".txt"}, "filename"),
        ({"filename": ["a.txt"]}, "filename"),
        ({"size": None}, "size"),
        ({"size": 0}, "size"),
        ({"size": -1}, "size"),
        ({"size": True}, "size"),
        ({"size": 1.0}, "size"),
        ({"size": "1"}, "size"),
        ({"size": 1 << 60}, "size"),
        ({"sha256": "x"}, "sha256"),
        ({"sha256": "A" * 64}, "sha256"),
        ({"sha256": "0" * 63}, "sha256"),
        ({"sha256": 1}, "sha256"),
    ],
)
def test_an_announcement_that_breaks_a_rule_is_refused(
    shelf: Shelf, client: Filer, fields: dict[str, Any], field: str
) -> None:
    assert list(client.refused(**fields)) == [field]
    assert shelf.rows("u#") == []


def test_every_broken_rule_is_told(client: Filer) -> None:
    answer = client.post(FILES, json_body={"sha256": "x"})
    assert answer.status == 422
    assert {told["field"] for told in answer.json["error"]["details"]} == {"user_id", "filename", "size", "sha256"}
    assert client.post(FILES, json_body=[]).status == 422
    assert client.post(FILES, body=b"{").status == 422
    assert client.post(FILES, body=b"a", headers={"Content-Type": "text/plain"}).status == 415
    assert client.post(FILES, json_body=body(more="x" * (16 << 10))).status == 413
    assert client.post(FILES, json_body=body(more={"unknown": "keys are fine"})).status == 200
    assert client.post(FILES, json_body=body(sha256=None)).status == 200


def test_a_file_over_its_limit_is_413(client: Filer) -> None:
    assert client.refused(413, size=(20 << 20) + 1) == {"size": f"At most {20 << 20} bytes"}
    assert client.announced(size=20 << 20)
    assert client.announced(size=20 << 20, filename="scan.png")
    assert client.refused(413, size=(8 << 20) + 1, filename="photo.webp") == {"size": f"At most {8 << 20} bytes"}
    with shelf_world(settings={"MEMORY_LIMIT_FILE_BYTES": "30"}) as shelf:
        small = filer(shelf)
        assert small.announced(size=30)
        assert small.refused(413, size=31) == {"size": "At most 30 bytes"}


def test_a_user_is_named_with_or_without_space_around(client: Filer) -> None:
    client.announced(user_id=" 用户 / : @ ")
    assert [file["user_id"] for file in client.files("用户 / : @")] == ["用户 / : @"]


def test_repeating_a_completion_answers_the_same(shelf: Shelf, client: Filer) -> None:
    told = client.announced()
    bring(shelf, told)
    first, again = client.complete(told["id"]), client.complete(told["id"].upper())
    assert (again.status, again.json["data"]) == (200, first.json["data"])
    assert len(objects_of(shelf)) == 1


def test_without_its_bytes_it_is_409_and_can_still_be_completed(shelf: Shelf, client: Filer) -> None:
    told = client.announced()
    refused = client.complete(told["id"])
    assert refused.status == 409
    assert refused.json["error"]["code"]
    assert "have not come" in refused.json["error"]["message"]
    bring(shelf, told)
    assert client.complete(told["id"]).status == 200


@pytest.mark.parametrize(
    ("fields", "content", "word"),
    [({}, b"short", "5 bytes came"), ({}, b"", "0 bytes came"), ({"sha256": "0" * 64}, BYTES, "SHA-256")],
)
def test_other_bytes_than_announced_are_409_and_nothing_is_ready(
    shelf: Shelf, client: Filer, fields: dict[str, Any], content: bytes, word: str
) -> None:
    told = client.announced(**fields)
    bring(shelf, told, content)
    refused = client.complete(told["id"])
    assert refused.status == 409
    assert word in refused.json["error"]["message"]
    assert client.file(told["id"]).json["data"]["status"] == "pending"
    assert objects_of(shelf) == [key_in(told)]


def test_bytes_that_were_replaced_after_they_were_checked_are_409(shelf: Shelf, client: Filer) -> None:
    told = client.announced()
    bring(shelf, told)

    def replaced(objects: Objects, key: str) -> Iterator[bytes]:
        yield objects.get(key)
        objects.put(key, BYTES[::-1], owner="")

    with patch.object(Objects, "stream", replaced):
        assert client.complete(told["id"]).status == 409
    assert client.file(told["id"]).json["data"]["status"] == "pending"
    assert objects_of(shelf) == [key_in(told)]


def test_a_picture_s_size_is_known_when_it_is_ready(shelf: Shelf, client: Filer) -> None:
    gif = b"GIF89a\x03\x00\x02\x00\x00\x00\x00,\x00\x00\x00\x00\x03\x00\x02\x00\x00\x02\x02D\x01\x00;"
    row = row_of(shelf, client.uploaded(shelf, gif, filename="a.gif")) or {}
    assert (row["pixels"], row["frames"]) == (6, 1)
    for content, name in ((gif, "a.png"), (BYTES, "a.gif")):
        row = row_of(shelf, client.uploaded(shelf, content, filename=name)) or {}
        assert (row["pixels"], row["frames"]) == (None, None)
    assert "pixels" not in (row_of(shelf, client.uploaded(shelf)) or {})


@pytest.mark.parametrize("conflicts", [None, Conflicts(0.002)])
def test_completed_many_times_at_once_it_is_ready_once(conflicts: Conflicts | None) -> None:
    with shelf_world(conflicts=conflicts) as shelf:
        client = filer(shelf)
        told = client.announced()
        bring(shelf, told)
        clients = [filer(shelf) for _ in range(6)]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda one: one.complete(told["id"]), clients))
        assert {answer.status for answer in answers} == {200}
        assert len({str(answer.json["data"]) for answer in answers}) == 1
        assert len(objects_of(shelf)) == 1
        assert client.content_of(told["id"]).content == BYTES


def test_an_upload_that_is_not_completed_in_a_day_is_gone(shelf: Shelf, client: Filer) -> None:
    told, empty = client.announced(), client.announced()
    ready = client.uploaded(shelf)
    bring(shelf, told)
    shelf.clock.move(ms=DAY_MS - 60_000)
    assert client.file(told["id"]).status == 200
    shelf.clock.move(ms=60_000)
    for file_id in (told["id"], empty["id"]):
        assert client.file(file_id).status == 404
        assert client.complete(file_id).status == 404
        assert client.delete(f"{FILES}/{file_id}").status == 404
    assert [file["id"] for file in client.files()] == [ready]
    told_of = shelf.sweep()
    assert (told_of["errors"], told_of["unfinished"]) == (0, 0)
    assert [sk for _, sk in shelf.rows("u#")] == [f"u#{ready}"]
    assert len(objects_of(shelf)) == 1
    assert client.content_of(ready).content == BYTES


def test_the_nightly_rounds_leave_ready_files_alone(shelf: Shelf, client: Filer) -> None:
    ready = client.uploaded(shelf)
    for _ in range(40):
        shelf.clock.move(ms=DAY_MS)
        assert shelf.sweep("reconcile")["errors"] == 0
    assert client.content_of(ready).content == BYTES


def test_the_hash_of_a_file_that_was_announced_without_one_is_told(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    assert client.file(file_id).json["data"]["sha256"] == hashlib.sha256(BYTES).hexdigest()


def test_an_announcement_that_arrives_once_more_changes_nothing(shelf: Shelf, client: Filer) -> None:
    with late_puts(shelf.cloud.aws) as arrive:
        told = client.announced()
    bring(shelf, told)
    assert client.complete(told["id"]).status == 200
    assert arrive() == 1
    assert client.file(told["id"]).json["data"]["status"] == "ready"
    assert client.content_of(told["id"]).content == BYTES
