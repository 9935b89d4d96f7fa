"""The text of an older Word document is put together from its pieces."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents import word
from shared.documents.word import text_of_doc
from tests.documents.formats import sample
from tests.documents.known import KNOWN

if TYPE_CHECKING:
    from pathlib import Path


def table_of(*pieces: tuple[int, int, bool]) -> bytes:
    """A table of pieces: how many characters, where, and whether each is one byte."""
    ends = [sum(size for size, _, _ in pieces[:number]) for number in range(len(pieces) + 1)]
    places = (struct.pack("<HIH", 0, at * 2 | 0x40000000 if one else at, 0) for _, at, one in pieces)
    plc = struct.pack(f"<{len(ends)}I", *ends) + b"".join(places)
    return b"\x01\x03\0abc\x02" + struct.pack("<I", len(plc)) + plc


def test_pieces_are_of_one_byte_or_of_two() -> None:
    main = "café ".encode("cp1252") + b"?" + "港口🚢".encode("utf-16-le")
    assert word._plain("".join(word._pieces(main, table_of((5, 0, True), (4, 6, False))))) == "café 港口🚢"


def test_a_character_that_two_pieces_share_is_whole() -> None:
    main = "🚢".encode("utf-16-le")
    assert word._plain("".join(word._pieces(main, table_of((1, 0, False), (1, 2, False))))) == "🚢"


def test_fields_show_what_they_came_to_and_marks_are_no_text() -> None:
    link, page = '\x13 HYPERLINK "https://example.org" \x14the guide\x15\x01', "\x13PAGE\x15"
    text = f"See {link}, page {page}.\rA\x07B\x07\x07C\x1eD\x07E\x07\x07\r"
    assert word._plain(text) == "See the guide, page .\n\nA\tB\nC-D\tE"


@pytest.mark.parametrize("language", sorted(KNOWN))
def test_a_document_says_what_is_in_it_in_order(tmp_path: Path, language: str) -> None:
    path, known = tmp_path / "a.doc", KNOWN[language]
    path.write_bytes(sample("doc", language))
    cells = "\n".join("\t".join(row) for row in known.rows)
    assert text_of_doc(path) == f"{known.title}\n\n{known.first}\n\n{known.section}\n\n{known.second}\n\n{cells}"


@pytest.mark.parametrize(
    "table", [b"", b"\x02", b"\x03" * 20, b"\x01\xff\xff", table_of((9, 0, True)), table_of((3, 0, True), (9, 0, True))]
)
def test_pieces_that_are_not_there_are_damage(table: bytes) -> None:
    with pytest.raises((ValueError, struct.error)):
        list(word._pieces(b"abc", table))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_in_a_document_it_is_read_or_damaged(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(sample("doc", "zh"))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "any.doc"
    path.write_bytes(content)
    with suppress(ValueError, LookupError, struct.error):
        assert len(text_of_doc(path) or "") < 100_000
