"""Images and files of an Add: their shapes, their limits, and what they go with (seed, attachment limits)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.memories.front import CODE, front_world, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.front import AddClient, Front

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC"
)
IMAGE = {"type": "input_image", "image_url": PNG, "detail": "auto", "caption": "A pixel"}
FILE = {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,SGVsbG8="}}


@pytest.fixture(scope="module")
def front() -> Iterator[Front]:
    with front_world() as made:
        yield made


@pytest.fixture(scope="module")
def client(front: Front) -> AddClient:
    return front.client()


IMAGE_BREAKS: list[tuple[dict[str, Any], str]] = [
    ({"image_url": "https://example.org/x.png"}, "image_url"),
    ({"image_url": "iVBORw0KGgo="}, "image_url"),
    ({"image_url": "data:image/svg+xml;base64,PHN2Zz4="}, "image_url"),
    ({"image_url": "data:image/png;base64,***"}, "image_url"),
    ({"image_url": "data:image/png;base64,"}, "image_url"),
    ({"image_url": None}, "image_url"),
    ({"detail": "best"}, "detail"),
    ({"caption": " "}, "caption"),
    ({"caption": "x" * 4_001}, "caption"),
]


@pytest.mark.parametrize(("change", "field"), IMAGE_BREAKS)
def test_a_broken_image_is_refused_at_its_field(client: AddClient, change: dict[str, Any], field: str) -> None:
    told = client.refused(message([{**IMAGE, **change}]), content_type="work")
    assert set(told) == {f"messages[0].content[0].{field}"}


FILE_BREAKS: list[tuple[dict[str, Any], str]] = [
    ({"file_id": "22222222-2222-4222-8222-222222222222", "file_data": "SGk=", "filename": "a.txt"}, "file_id"),
    ({}, "file_id"),
    ({"file_id": "7"}, "file_id"),
    ({"file_data": "SGk="}, "filename"),
    ({"file_data": "SGk=", "filename": "a"}, "filename"),
    ({"file_data": "SGk=", "filename": "a/b.txt"}, "filename"),
    ({"file_data": "SGk=", "filename": "a\n.txt"}, "filename"),
    ({"file_data": "SGk=", "filename": "a.exe"}, "filename"),
    ({"file_data": "SGk=", "filename": f"{'x' * 252}.txt"}, "filename"),
    ({"file_data": "!", "filename": "a.txt"}, "file_data"),
    ({"file_data": "", "filename": "a.txt"}, "file_data"),
]


@pytest.mark.parametrize(("file", "field"), FILE_BREAKS)
def test_a_broken_file_is_refused_at_its_field(client: AddClient, file: dict[str, Any], field: str) -> None:
    told = client.refused(message([{"type": "file", "file": file}]))
    assert set(told) == {f"messages[0].content[0].file.{field}"}


@pytest.mark.parametrize(
    ("messages", "fields", "field"),
    [
        ([message([IMAGE])], {}, "content_type"),
        ([message([IMAGE])], {"content_type": "work", "mode": "raw"}, "mode"),
        ([message([IMAGE])], {"content_type": "code"}, "session_id"),
        ([message([FILE])], CODE, "content_type"),
        ([message([FILE])], {"mode": "raw"}, "mode"),
        ([message([FILE])], {"async_mode": False}, "async_mode"),
        ([message([FILE], sender_id="s")], {}, "messages[0].sender_id"),
        ([message([FILE]), message(sender_id="s")], {}, "messages[1].sender_id"),
        ([message([FILE], role="assistant")], {}, "messages[0].content"),
        (
            [message([{"type": "file", "file": {"file_id": "22222222-2222-4222-8222-222222222222"}}] * 2)],
            {},
            "messages",
        ),
    ],
)
def test_images_and_files_go_with_few_other_things(
    client: AddClient, messages: list[Any], fields: dict[str, Any], field: str
) -> None:
    assert field in client.refused(*messages, **fields)


@pytest.mark.parametrize(
    ("messages", "limit"),
    [
        ([message([IMAGE] * 5)], {}),
        ([message([IMAGE] * 4)] * 3, {}),
        ([message([FILE] * 11)], {}),
        ([message([IMAGE])], {"MEMORY_LIMIT_IMAGE_BYTES": "10"}),
        ([message([FILE])], {"MEMORY_LIMIT_FILE_BYTES": "4"}),
    ],
)
def test_too_many_or_too_large_attachments_are_answered_413(
    front: Front, messages: list[Any], limit: dict[str, str]
) -> None:
    assert front.set(**limit).client().add(*messages, content_type="work").status == 413


def test_images_and_files_in_order_are_told_that_they_are_not_enabled(client: AddClient) -> None:
    assert "not enabled" in client.refused(message([IMAGE]), content_type="work")["messages[0].content"]
    assert "not enabled" in client.refused(message([FILE]))["messages[0].content"]
    plain = {"type": "file", "file": {"filename": "B.PDF", "file_data": base64.b64encode(b"x").decode()}}
    assert "not enabled" in client.refused(message([plain]), content_type="document")["messages[0].content"]
