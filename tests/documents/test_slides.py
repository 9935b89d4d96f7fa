"""The slides of an older presentation come in their order, each with its number and title."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents.port import Section
from shared.documents.slides import sections_of_slides
from tests.documents.formats import sample
from tests.documents.known import KNOWN
from tests.documents.minimal import compound

if TYPE_CHECKING:
    from pathlib import Path


def record(kind: int, content: bytes, *, parts: bool = False, instance: int = 0) -> bytes:
    return struct.pack("<HHI", instance << 4 | (0xF if parts else 0), kind, len(content)) + content


def said(text: str, kind: int) -> bytes:
    return record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, text.encode("utf-16-le"))


def show(*slides: tuple[bytes, bytes], saved: int = 1) -> bytes:
    """A presentation; each slide is what the list says of it, and what is drawn on it. It was saved so many times."""
    listed = b"".join(record(0x03F3, struct.pack("<I", n) + b"\0" * 16) + each[0] for n, each in enumerate(slides, 2))
    masters = record(0x0FF0, record(0x03F3, struct.pack("<I", 99)), parts=True, instance=1)
    document = record(0x03E8, masters + record(0x0FF0, listed, parts=True), parts=True)
    objects = [document, *(record(0x03EE, record(0xF00D, each[1], parts=True), parts=True) for each in slides)]
    stream, places = b"", []
    for each in objects:
        places.append(len(stream))
        stream += each
    edit = 0
    for _ in range(saved):
        directory = len(stream)
        stream += record(0x1772, struct.pack(f"<I{len(places)}I", len(places) << 20 | 1, *places))
        before, edit = edit, len(stream)
        stream += record(0x0FF5, struct.pack("<IIIII", 0, 0, before, directory, 1) + b"\0" * 8)
        places = [places[0]]
    user = record(0x0FF6, struct.pack("<III", 20, 0xE391C05F, edit) + b"\0" * 8)
    return compound({"PowerPoint Document": stream, "Current User": user})


def read(folder: Path, content: bytes) -> list[Section] | None:
    path = folder / "a.ppt"
    path.write_bytes(content)
    return sections_of_slides(path)


@pytest.mark.parametrize("language", sorted(KNOWN))
def test_each_slide_is_a_section(tmp_path: Path, language: str) -> None:
    known = KNOWN[language]
    first, second = read(tmp_path, sample("ppt", language)) or []
    assert first == Section(f"{known.title}\n\n{known.first}", (known.title,), page=1)
    assert (second.text, second.page) == (f"{known.section}\n\n{known.second}", 2)


@pytest.mark.parametrize("saved", [1, 3])
def test_texts_of_the_list_stand_where_the_slide_names_them(tmp_path: Path, saved: int) -> None:
    title, point = said("A\vtitle", 0), record(0x0FA8, "naïve\rpoint".encode("latin-1"))
    named = b"".join(record(0x0F9E, struct.pack("<I", number)) for number in (1, 0, 7))
    found = read(tmp_path, show((title + said("Body", 1), named + point), (b"", b""), (title, point), saved=saved))
    assert found == [
        Section("Body\n\nA\ntitle\n\nnaïve\n\npoint", ("A title",), page=1),
        Section("A\ntitle\n\nnaïve\n\npoint", ("A title",), page=3),
    ]


def test_a_presentation_that_lists_no_slides_is_left_to_others(tmp_path: Path) -> None:
    assert read(tmp_path, show()) is None
    assert read(tmp_path, compound({"PowerPoint Document": b"x"})) is None


@settings(max_examples=200, derandomize=True, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_in_a_presentation_it_is_read_or_damaged(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(show((said("One", 0), said("Two", 1)), (b"", said("三", 0)), saved=2))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError, LookupError, struct.error):
        assert sum(len(each.text) for each in read(tmp_path_factory.getbasetemp(), bytes(content)) or ()) < 10_000
