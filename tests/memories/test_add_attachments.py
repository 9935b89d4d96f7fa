"""Images and files of an Add: their shapes, their limits, and what they go with (seed, attachment limits)."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.memories import parts
from functions.memories.abilities import Abilities
from functions.memories.bodies import Deployed, add_body
from functions.memories.limits import Limits
from shared.wiring.environment import EnvironmentInvalid
from tests.documents.drawing import gif, jpeg, png, webp
from tests.memories.attached import PIXEL, asking, encoded, file, image, named_file, named_image
from tests.memories.front import ADD, CODE, body, front_world, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.front import AddClient, Front

SOME = "22222222-2222-4222-8222-222222222222"
IMAGE, FILE = image(), file()
SEEN = {"VISION": "bedrock:amazon.nova-lite-v1:0"}


@pytest.fixture(scope="module")
def front() -> Iterator[Front]:
    with front_world() as made:
        yield made.set(VISION="none")


@pytest.fixture(scope="module")
def client(front: Front) -> AddClient:
    return front.client()


IMAGE_BREAKS: list[tuple[dict[str, Any], str]] = [
    ({"image_url": "https://example.org/x.png"}, "image_url"),
    ({"image_url": "iVBORw0KGgo="}, "image_url"),
    ({"image_url": "data:image/svg+xml;base64,PHN2Zz4="}, "image_url"),
    ({"image_url": "data:image/bmp;base64,PHN2Zz4="}, "image_url"),
    ({"image_url": "data:image/png;base64,***"}, "image_url"),
    ({"image_url": "data:image/png;base64,"}, "image_url"),
    ({"image_url": f"data:image/png;base64,{encoded(b'no picture')}"}, "image_url"),
    ({"image_url": f"data:image/png;base64,{encoded(jpeg(1, 1))}"}, "image_url"),
    ({"image_url": f"data:image/jpeg;base64,{encoded(PIXEL)}"}, "image_url"),
    ({"image_url": f"data:image/png;base64,{encoded(PIXEL[:40])}"}, "image_url"),
    ({"image_url": None}, "image_url"),
    ({"image_url": 7}, "image_url"),
    ({"file_id": SOME}, "file_id"),
    ({"detail": "best"}, "detail"),
    ({"caption": " "}, "caption"),
    ({"caption": "x" * 4_001}, "caption"),
]


@pytest.mark.parametrize(("change", "field"), IMAGE_BREAKS)
def test_a_broken_image_is_refused_at_its_field(client: AddClient, change: dict[str, Any], field: str) -> None:
    told = client.refused(message([{**IMAGE, **change}]), content_type="work")
    assert set(told) == {f"messages[0].content[0].{field}"}


def test_an_image_is_what_it_says_it_is(client: AddClient) -> None:
    told = client.refused(message([image(png(1, 1), kind="webp")]), content_type="work")
    assert told["messages[0].content[0].image_url"] == "The Data URL says image/webp, but this is image/png"


@pytest.mark.parametrize(("kind", "content"), [("png", png), ("jpeg", jpeg), ("gif", gif), ("webp", webp)])
def test_every_form_of_image_is_taken(client: AddClient, kind: str, content: Any) -> None:
    assert (
        client.post(ADD, json_body=body(message([image(content(2, 2), kind=kind)]), content_type="work")).status == 202
    )
    assert client.add(message([image(content(2, 2), kind=kind.upper())]), content_type="work").status == 202


FILE_BREAKS: list[tuple[Any, str]] = [
    ({"file_id": SOME, "file_data": "SGk=", "filename": "a.txt"}, "file.file_id"),
    ({}, "file.file_id"),
    ({"file_id": "7"}, "file.file_id"),
    ({"file_id": None}, "file.file_id"),
    ({"file_data": "SGk="}, "file.filename"),
    ({"file_data": "SGk=", "filename": "a"}, "file.filename"),
    ({"file_data": "SGk=", "filename": "a/b.txt"}, "file.filename"),
    ({"file_data": "SGk=", "filename": "a\n.txt"}, "file.filename"),
    ({"file_data": "SGk=", "filename": "a.exe"}, "file.filename"),
    ({"file_data": "SGk=", "filename": "a.webp"}, "file.filename"),
    ({"file_data": "SGk=", "filename": f"{'x' * 252}.txt"}, "file.filename"),
    ({"file_data": "!", "filename": "a.txt"}, "file.file_data"),
    ({"file_data": "SGk", "filename": "a.txt"}, "file.file_data"),
    ({"file_data": "", "filename": "a.txt"}, "file.file_data"),
    ({"file_data": "data:text/plain,hello", "filename": "a.txt"}, "file.file_data"),
    ({"file_data": "data:;base64,", "filename": "a.txt"}, "file.file_data"),
    ({"file_data": None, "filename": "a.txt"}, "file.file_id"),
    ({"file_data": "SGk=", "filename": "a\x00.txt"}, "file.filename"),
    ({"file_data": "SG-_", "filename": "a.txt"}, "file.file_data"),
    (None, "file"),
    ("a.txt", "file"),
]


@pytest.mark.parametrize(("given", "field"), FILE_BREAKS)
def test_a_broken_file_is_refused_at_its_field(client: AddClient, given: Any, field: str) -> None:
    told = client.refused(message([{"type": "file", "file": given}]))
    assert set(told) == {f"messages[0].content[0].{field}"}


def test_a_part_of_a_file_needs_the_file(client: AddClient) -> None:
    assert set(client.refused(message([{"type": "file"}]))) == {"messages[0].content[0].file"}


def test_the_header_of_a_files_data_is_optional(client: AddClient) -> None:
    for head in ("", "data:text/plain;base64,", "data:;base64,", "DATA:text/plain;charset=utf-8;BASE64,"):
        part = {"type": "file", "file": {"filename": "a.txt", "file_data": f"{head}SGVsbG8="}}
        assert client.add(message([part])).status == 202, head


@pytest.mark.parametrize(
    "given",
    [
        {"file_data": "SGVs\nbG8=\r\n", "filename": "a.txt"},
        {"file_data": "SGVsbG8=", "filename": "a.txt", "file_id": None},
    ],
)
def test_base64_in_lines_and_null_for_what_is_left_out_are_taken(client: AddClient, given: Any) -> None:
    assert client.add(message([{"type": "file", "file": given}])).status == 202


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
        ([message([named_file(SOME)] * 2)], {}, "messages"),
        ([message([named_image(SOME)] * 2)], {"content_type": "work"}, "messages"),
        ([message()], {"content_type": "document"}, "content_type"),
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
        ([message([image(png(5_000, 4_001))])], {}),
        ([message([image(png(1, 1, frames=17, announced=17))])], {}),
        ([message([image(gif(1, 1, frames=17), kind="gif")])], {}),
        ([message([image(webp(2, 2), kind="webp")])], {"MEMORY_LIMIT_IMAGE_PIXELS": "3"}),
        ([message([image(webp(2, 2, frames=2), kind="webp")])], {"MEMORY_LIMIT_IMAGE_FRAMES": "1"}),
    ],
)
def test_too_many_or_too_large_attachments_are_answered_413(
    front: Front, messages: list[Any], limit: dict[str, str]
) -> None:
    answer = front.set(**limit).client().add(*messages, content_type="work")
    assert answer.status == 413, answer.content
    assert answer.json["error"]["details"][0]["field"].startswith("messages")


def test_what_is_just_within_the_limits_is_taken(client: AddClient) -> None:
    parts_ = [message([image(png(5_000, 4_000), caption=str(n)) for n in range(m, m + 4)]) for m in (0, 4)]
    files = [message([file(f"{n}.txt") for n in range(10)])]
    frames = [image(gif(1, 1, frames=16), kind="gif")]
    assert client.add(*parts_, *files, content_type="work").status == 202
    assert client.add(message(frames), content_type="work").status == 202


def test_what_is_too_long_is_not_decoded(front: Front) -> None:
    client = front.set(MEMORY_LIMIT_FILE_BYTES="1000").client()
    with patch.object(parts, "a2b_base64", side_effect=AssertionError("decoded")):
        assert client.add(message([file(content=b"x" * 1_003)])).status == 413


def test_bytes_are_decoded_once_and_nothing_of_the_text_is_held_beside_them() -> None:
    size = 8 << 20
    given = body(message([file(f"{n}.txt", bytes([n]) * size) for n in range(2)]))
    tracemalloc.start()
    try:
        read = add_body(given, {}, Deployed(Limits(), Abilities(), "en"))
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(each.content or b"") for each in read.attachments] == [size, size]
    assert held < 2.1 * size
    assert peak < 4 * size
    assert all(part["file"]["file_data"] == "" for part in given["messages"][0]["content"])


def test_without_documents_a_file_is_refused_and_told_why(front: Front) -> None:
    client = front.set(DOCUMENTS="off").client()
    assert "not enabled" in client.refused(message([FILE]))["messages[0].content"]
    assert "not enabled" in client.refused(message([named_file(SOME)]))["messages[0].content"]
    assert client.add(message([IMAGE]), content_type="work").status == 202


@pytest.mark.parametrize("name", ["a.jpg", "a.JPEG", "a.png", "a.bmp", "a.gif"])
def test_without_anybody_who_reads_pictures_a_file_of_one_is_refused_and_told_why(
    front: Front, client: AddClient, name: str
) -> None:
    told = client.refused(message([file(name, PIXEL)]))
    assert "reads text off pictures" in told["messages[0].content[0].file.filename"]
    assert front.set(**SEEN).client().add(message([file(name, PIXEL)])).status == 202


def test_without_a_model_that_describes_images_they_need_a_caption(front: Front, client: AddClient) -> None:
    bare = message([image(caption=None)])
    field = "messages[0].content[0].caption"
    assert "caption" in client.refused(bare, content_type="work")[field]
    assert "caption" in front.set(DOCUMENTS="off", **SEEN).client().refused(bare, content_type="work")[field]
    assert "caption" in client.refused(message([image(caption=None) | {"caption": None}]), content_type="work")[field]
    assert front.set(**SEEN).client().add(bare, content_type="work").status == 202


def test_an_image_without_a_caption_takes_its_time(front: Front) -> None:
    bare = message([image(caption=None)])
    told = front.set(**SEEN).client().refused(bare, content_type="work", async_mode=False)
    assert "async_mode" in told["messages[0].content[0].caption"]


def test_two_contents_under_one_name_are_refused(client: AddClient) -> None:
    told = client.refused(message([file(content=b"1"), file(content=b"2")]))
    assert set(told) == {"messages[0].content"}
    composed = client.refused(message([file("\u00e9.txt", b"1")]), message([file("e\u0301.txt", b"2")]))
    assert set(composed) == {"messages[1].content"}
    assert client.add(message([file(), file()])).status == 202


def test_limits_that_one_transaction_can_not_hold_are_refused_at_start(front: Front) -> None:
    with pytest.raises(EnvironmentInvalid, match="together"):
        front.set(MEMORY_LIMIT_FILES="40").client()


ANYTHING = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.none(), max_size=1)
VALUES = ANYTHING | st.sampled_from(["a.txt", "a.png", "SGk=", "data:;base64,SGk=", SOME, IMAGE["image_url"], "auto"])
FIELDS = dict.fromkeys(("text", "image_url", "file_id", "detail", "caption"), VALUES)
INNER = ANYTHING | st.fixed_dictionaries({}, optional=dict.fromkeys(("file_id", "file_data", "filename"), VALUES))
KINDS = st.sampled_from(["text", "input_text", "input_image", "file"])
PARTS = st.fixed_dictionaries({"type": KINDS | ANYTHING}, optional={**FIELDS, "file": INNER})


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given_parts=st.lists(PARTS | ANYTHING, max_size=3),
    content_type=st.sampled_from(["work", "auto", "document", "code"]),
)
def test_any_parts_are_taken_or_refused_in_order(client: AddClient, given_parts: list[Any], content_type: str) -> None:
    answer = client.add(message(given_parts), content_type=content_type)
    assert answer.status in {202, 404, 413, 422}, answer.content


def test_the_examples_of_the_document_are_taken(client: AddClient) -> None:
    read = [
        {"type": "text", "text": "Read this example document."},
        {"type": "file", "file": {"filename": "cedar.txt", "file_data": "SGVsbG8gQ2VkYXI="}},
    ]
    rules = {"file_data": "data:text/plain;base64,UmV0cnkgdXAgdG8gMyB0aW1lcy4K", "filename": "retry-rules.txt"}
    pixel = {
        "type": "input_image",
        "image_url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/"
        "AAX+Av4N70a4AAAAAElFTkSuQmCC",
        "detail": "auto",
        "caption": "Sample pixel image",
    }
    assert client.post(ADD, json_body={"user_id": "demo-user", "messages": [message(read)]}).status == 202
    assert client.add(message([{"type": "file", "file": rules}]), content_type="document").status == 202
    assert client.add(message([pixel]), content_type="work").status == 202
    assert client.add(message([pixel]), **CODE).status == 202
    assert client.post(ADD, json_body={"user_id": "ann", **asking(pixel, read[1], read[0])}).status == 202
