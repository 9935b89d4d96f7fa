"""A text file's encoding is told by its bytes, and binary data is no text."""

from __future__ import annotations

import codecs
import random
import tracemalloc
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents.plain import decoded, paragraphs_of, sections_of_text
from shared.documents.port import DocumentFailed, Section

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Read = Callable[[bytes], str]

CHINESE = "林达瓦港于1987年由石艾米博士和她的四十名工人重建。他们用了三年的时间，花了很多钱。\r\n\r\n“很好！”她说。"
TRADITIONAL = "林達瓦港於1987年由石艾米博士和她的四十名工人重建。他們用了三年的時間，花了很多錢。這個計劃很成功。"
GERMAN = "Größe: 5 Äpfel kosten 3 €. Später übte Zoë das Déjà-vu, „schön“, sagte er.\r\n\r\nEnde.\n"
FRENCH = "Été comme hiver, l'élève français étudie à l'école. Ça coûte 3 £. Où êtes-vous né ? À Noël."
ENGLISH = "The harbour was rebuilt. It costs 3 pounds.\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def of(content: bytes) -> str:
        path = tmp_path / "a.txt"
        path.write_bytes(content)
        return "".join(decoded(path))

    return of


def lines(text: str) -> str:
    return text.replace("\r\n", "\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"])
@pytest.mark.parametrize("times", [1, 500])
@pytest.mark.parametrize(
    "text", [CHINESE, TRADITIONAL, "你好，世界", "茶。", f"{ENGLISH * 3}{CHINESE}", f"{CHINESE}㐀𠀀"]
)
def test_chinese_is_read_in_each_of_its_encodings(read: Read, encoding: str, times: int, text: str) -> None:
    assert read((text * times).encode(encoding)) == lines(text * times)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("times", [1, 500])
@pytest.mark.parametrize("text", [ENGLISH, GERMAN, FRENCH, "naïve", "£5", "Müller", "ÄÖÜ.", "¿Qué?"])
def test_western_texts_are_read_in_each_of_their_encodings(read: Read, encoding: str, times: int, text: str) -> None:
    assert read((text * times).encode(encoding)) == lines(text * times)


def test_latin_1_is_read_with_the_bytes_that_windows_leaves_out(read: Read) -> None:
    assert read("café\u0081 noir, déjà vu".encode("latin-1")) == "café\u0081 noir, déjà vu"


def test_a_text_is_told_by_its_first_character_beyond_ascii_however_late(read: Read) -> None:
    early = ENGLISH * 60_000
    for encoding in ("utf-8", "gb18030"):
        assert read((early + CHINESE).encode(encoding)) == lines(early + CHINESE)
    assert read((early + FRENCH).encode("cp1252")) == early + FRENCH


def test_one_wrong_byte_does_not_make_utf_8_another_encoding(read: Read) -> None:
    content = (CHINESE * 20).encode()
    assert read(content + b"\xff" + content) == lines(CHINESE * 20 + "\ufffd" + CHINESE * 20)
    assert read(content + b"\xe8\x8c") == lines(CHINESE * 20) + "\ufffd"


def test_ends_of_lines_and_of_pages_become_ends_of_lines(read: Read) -> None:
    assert read(b"a\r\nb\rc\nd\fe\r") == "a\nb\nc\nd\n\ne\n"
    assert read("a\u2028b\u0085c".encode()) == "a\nb\nc"


def test_a_stray_nul_is_a_space_and_a_stray_mark_nothing(read: Read) -> None:
    assert read(ENGLISH.encode() * 5 + b"\0" + "\ufeffende".encode()) == ENGLISH * 5 + " ende"


def test_text_without_spaces_that_has_a_stray_control_character_is_no_utf_16(read: Read) -> None:
    text = "abcdefghijklmnop" * 100 + "\x01\x02"
    assert read(text.encode()) == text


def test_a_text_may_begin_as_a_packed_file_does(read: Read) -> None:
    assert read(b"PKI for beginners") == "PKI for beginners"


def test_no_bytes_and_marks_alone_are_no_text(read: Read) -> None:
    assert [read(each) for each in (b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE)] == ["", "", ""]


NOISE = random.Random(5)


@pytest.mark.parametrize(
    "content",
    [
        b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8\0\0\0" + b"\0" * 100,
        b"\x7fELF\x02\x01\x01" + b"\0" * 60,
        b"PK\x03\x04\x14\0\0\0\x08\0",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\0" * 1_000,
        zlib.compress(NOISE.randbytes(5_000)),
        NOISE.randbytes(100_000),
        bytes(range(256)) * 10,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512,
    ],
)
def test_binary_data_is_no_text(read: Read, content: bytes) -> None:
    with pytest.raises(DocumentFailed) as failed:
        read(content)
    assert failed.value.code == "wrong_type"


@settings(max_examples=200, derandomize=True, deadline=None)
@given(content=st.binary(max_size=3_000))
def test_any_bytes_are_text_or_are_said_to_be_none(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(content)
    with suppress(DocumentFailed):
        text = "".join(decoded(path))
        assert not set(text) & {"\0", "\r", "\ufeff"}
        text.encode()


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\0\r\f\v\x85\u2028\u2029\ufeff", exclude_categories=["Cc"])
    )
)
def test_any_text_comes_back_from_utf_8(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "text.txt"
    path.write_text(text, "utf-8")
    assert "".join(decoded(path)) == text


def test_paragraphs_are_sections(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("One\nline.\r\n\r\n\r\nTwo.\n\n  \n\nThree.".encode("utf-16"))
    assert list(sections_of_text(path)) == [Section("One\nline."), Section("\nTwo."), Section("Three.")]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([("word ", 1), ("\n", 1), ("\n\n", 1), ("x", 40_000), ("茶", 70_000)]), max_size=12))
def test_no_word_of_a_paragraph_is_lost_and_none_is_endless(parts: list[tuple[str, int]]) -> None:
    pieces = [text * times for text, times in parts]
    found = list(paragraphs_of(pieces))
    assert "".join("".join(found).split()) == "".join("".join(pieces).split())
    assert all(len(each) <= 64 * 1024 for each in found)


@pytest.mark.parametrize("unit", ["Tea is good. ", "茶很好。", "x", "Tea. " * 50 + "\n\n"])
def test_twenty_mebibytes_are_read_in_little_memory(tmp_path: Path, unit: str) -> None:
    path = tmp_path / "large.txt"
    unit_bytes = unit.encode()
    path.write_bytes(unit_bytes * (20 * 2**20 // len(unit_bytes)))
    tracemalloc.start()
    count = sum(len(section.text) for section in sections_of_text(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count
    assert peak < 8 * 2**20
