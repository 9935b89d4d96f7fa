"""Downloading a file: the same bytes, in ranges too, under its own name, and with nothing that a browser would run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from infra.local.events import Request
from infra.local.presigned import PresignedObjects
from shared.aws.clients import Aws
from shared.aws.errors import ObjectMissing
from shared.aws.objects import Objects
from shared.kernel.disposition import URL_CHARACTERS, attachment, attachment_in_url
from shared.memories.files.contents import Contents
from tests.memories.files.cabinet import BYTES, FILES, Filer, filer, row_of
from tests.memories.shelf import shelf_world

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf


def test_a_file_is_given_back_as_it_came(shelf: Shelf, client: Filer) -> None:
    every_byte = bytes(range(256)) * 40
    file_id = client.uploaded(shelf, every_byte, filename="a.html")
    got = client.content_of(file_id)
    assert (got.status, got.content) == (200, every_byte)
    assert got.headers["content-type"] == "text/html"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-disposition"] == 'attachment; filename="a.html"'
    assert got.headers["accept-ranges"] == "bytes"
    assert got.headers["last-modified"].endswith("GMT")
    head = client.head(f"{FILES}/{file_id}/content")
    assert (head.status, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(every_byte))
    same = ("content-type", "etag", "content-disposition", "accept-ranges", "last-modified", "x-content-type-options")
    assert [head.headers[name] for name in same] == [got.headers[name] for name in same]


def test_a_copy_that_is_current_is_not_sent_again(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    known = {"If-None-Match": client.content_of(file_id).headers["etag"]}
    assert client.content_of(file_id, headers=known).status == 304
    assert client.head(f"{FILES}/{file_id}/content", headers=known).status == 304
    assert client.content_of(file_id, headers={"If-None-Match": '"x"'}).status == 200


@pytest.mark.parametrize(
    ("wanted", "status", "content", "where"),
    [
        ("bytes=0-4", 206, BYTES[:5], f"bytes 0-4/{len(BYTES)}"),
        ("bytes=-6", 206, BYTES[-6:], f"bytes {len(BYTES) - 6}-{len(BYTES) - 1}/{len(BYTES)}"),
        ("bytes=7-", 206, BYTES[7:], f"bytes 7-{len(BYTES) - 1}/{len(BYTES)}"),
        ("bytes=3-999", 206, BYTES[3:], f"bytes 3-{len(BYTES) - 1}/{len(BYTES)}"),
        ("bytes=4-2", 200, BYTES, None),
        ("bytes=0-1,4-5", 200, BYTES, None),
        ("lines=1-2", 200, BYTES, None),
        ("bytes=99-", 416, None, f"bytes */{len(BYTES)}"),
        ("bytes=-0", 416, None, f"bytes */{len(BYTES)}"),
    ],
)
def test_a_range_is_served(shelf: Shelf, wanted: str, status: int, content: bytes | None, where: str | None) -> None:
    client = filer(shelf)
    got = client.content_of(client.uploaded(shelf), headers={"Range": wanted})
    assert (got.status, got.headers.get("content-range")) == (status, where)
    if content is not None:
        assert got.content == content


def test_a_range_of_another_state_is_the_whole(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    etag = client.content_of(file_id).headers["etag"]
    assert client.content_of(file_id, headers={"Range": "bytes=0-0", "If-Range": etag}).status == 206
    assert client.content_of(file_id, headers={"Range": "bytes=0-0", "If-Range": '"x"'}).status == 200


def test_what_does_not_fit_through_the_gateway_is_sent_to_a_short_url() -> None:
    with shelf_world(settings={"DIRECT_BODY_BYTES": "10"}) as shelf:
        client = filer(shelf)
        file_id = client.uploaded(shelf, filename="树 “x”.pdf")
        sent = client.content_of(file_id)
        assert sent.status == 302
        query = parse_qs(urlsplit(sent.headers["location"]).query)
        assert query["X-Amz-Expires"] == ["300"]
        assert query["response-content-type"] == ["application/pdf"]
        assert query["response-content-disposition"] == [attachment("树 “x”.pdf")]
        assert client.content_of(file_id, headers={"Range": "bytes=0-9"}).content == BYTES[:10]
        assert client.content_of(file_id, headers={"Range": "bytes=0-10"}).status == 302
        assert client.head(f"{FILES}/{file_id}/content").headers["content-length"] == str(len(BYTES))
        assert client.content_of(file_id, headers={"If-None-Match": sent.headers["etag"]}).status == 304


def test_the_url_gives_the_bytes_under_their_name(shelf: Shelf, client: Filer) -> None:
    aws = Aws({"PRESIGN_ENDPOINT_URL": "http://127.0.0.1:8123/_s3"})
    signer: Any = aws.presigner
    door = PresignedObjects(signer._request_signer._credentials.get_frozen_credentials())
    row = row_of(shelf, client.uploaded(shelf, filename="树.html"))
    assert row is not None
    contents = Contents(replace(shelf.composed.backing, objects=Objects(aws, shelf.cloud.bucket_name)))
    url = urlsplit(contents.url(row))
    answer = door.answer(Request("GET", url.path, url.query, [(b"host", url.netloc.encode())], b""))
    headers = dict(answer.headers)
    assert (answer.status, answer.body) == (200, BYTES)
    assert headers[b"content-type"] == b"text/html"
    assert headers[b"content-disposition"].decode() == attachment("树.html")


def test_a_file_that_is_not_completed_has_no_bytes_yet(client: Filer) -> None:
    file_id = client.announced()["id"]
    refused = client.content_of(file_id)
    assert refused.status == 409
    assert "complete" in refused.json["error"]["message"]
    assert client.head(f"{FILES}/{file_id}/content").status == 409


def test_a_file_that_is_deleted_while_it_is_read_is_404(shelf: Shelf, client: Filer) -> None:
    file_id, other = client.uploaded(shelf), filer(shelf)

    def gone(*_: Any) -> bytes:
        other.unfile(file_id)
        raise ObjectMissing

    with patch.object(Objects, "get", gone):
        assert client.content_of(file_id).status == 404


def test_bytes_that_are_lost_are_503_and_never_an_empty_file(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    with patch.object(Objects, "get", side_effect=ObjectMissing):
        answer = client.content_of(file_id)
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        (None, "attachment"),
        ("a b.txt", 'attachment; filename="a b.txt"'),
        ('a"b.txt', "attachment; filename=\"a_b.txt\"; filename*=UTF-8''a%22b.txt"),
        ("a%41.txt", "attachment; filename=\"a_41.txt\"; filename*=UTF-8''a%2541.txt"),
        ("é.txt", "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%A9.txt"),
        ("年 ;=.pdf", "attachment; filename=\"_ ;=.pdf\"; filename*=UTF-8''%E5%B9%B4%20%3B%3D.pdf"),
        ("a\r\nX: b.txt", "attachment; filename=\"a__X: b.txt\"; filename*=UTF-8''a%0D%0AX%3A%20b.txt"),
        ("a\u202etxt.pdf", "attachment; filename=\"a_txt.pdf\"; filename*=UTF-8''a%E2%80%AEtxt.pdf"),
        ("😀.gif", "attachment; filename=\"_.gif\"; filename*=UTF-8''%F0%9F%98%80.gif"),
        ("\ud800.gif", "attachment; filename=\"_.gif\"; filename*=UTF-8''%3F.gif"),
    ],
)
def test_any_name_is_a_header_that_says_it_whole(filename: str | None, header: str) -> None:
    assert attachment(filename) == header
    assert header.isascii()
    assert header.isprintable()


@pytest.mark.parametrize("character", ["\U0001f600", "用", "é", "%"])
def test_a_long_name_leaves_room_in_a_url_for_what_signs_it(character: str) -> None:
    header = attachment_in_url(f"{character * 251}.pdf")
    name = unquote(header.partition("filename*=UTF-8''")[2])
    assert name.endswith(f"{character}.pdf")
    longer = attachment(f"{character}{name}")
    assert len(quote(header, safe="")) <= URL_CHARACTERS
    assert len(name) == 255 or len(quote(longer, safe="")) > URL_CHARACTERS


def test_the_longest_name_is_sent_to_a_url_that_s3_takes() -> None:
    name, token = "\U0001f600" * 251 + ".pdf", "t" * 1_500
    with shelf_world(settings={"DIRECT_BODY_BYTES": "10"}) as shelf:
        client = filer(shelf)
        sent = client.content_of(client.uploaded(shelf, filename=name))
        assert sent.status == 302
        assert len(sent.headers["location"]) + len(token) < 7_500


def test_a_name_comes_back_from_its_header(shelf: Shelf, client: Filer) -> None:
    name = "Überblick 100% \"neu\" '(年)'.txt"
    header = client.content_of(client.uploaded(shelf, filename=name)).headers["content-disposition"]
    assert unquote(header.partition("filename*=UTF-8''")[2]) == name
