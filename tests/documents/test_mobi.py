"""A MOBI book's text comes out as it went in, and a hostile one as a reason."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents import mobi as room
from shared.documents.mobi import html_of
from shared.documents.port import DocumentFailed
from tests.documents.books import database, mobi, packed

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "<html><body><h1>Harbour 港口</h1><p>The harbour was rebuilt – twice.</p><p>港口重建了两次。</p></body></html>"  # noqa: RUF001
WESTERN = "<p>Große Häfen – schön.</p>"  # noqa: RUF001


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.mobi"


def read(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return html_of(path)


def code(path: Path, content: bytes) -> str:
    with pytest.raises(DocumentFailed) as failed:
        read(path, content)
    return failed.value.code


@pytest.mark.parametrize("packing", [1, 2])
@pytest.mark.parametrize("times", [1, 400])
@pytest.mark.parametrize("trailers", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("version", [6, 8])
def test_a_book_comes_out_as_it_went_in(path: Path, packing: int, times: int, trailers: int, version: int) -> None:
    content = mobi(PAGE * times, packing=packing, trailers=trailers, version=version)
    assert read(path, content) == PAGE * times


def test_a_western_book_is_read_in_its_encoding(path: Path) -> None:
    assert read(path, mobi(WESTERN, encoding=1_252)) == WESTERN


def test_a_palm_text_is_read_as_paragraphs(path: Path) -> None:
    content = mobi("One <line>.\r\nTwo.\n\n港口重建了两次。", kind=b"TEXtREAd")
    assert read(path, content) == "<p>One &lt;line&gt;.\nTwo.</p>\n<p>港口重建了两次。</p>"


def test_styles_after_the_text_of_a_newer_book_are_no_text(path: Path) -> None:
    flows = b"FDST" + struct.pack(">IIII", 12, 2, 0, len(PAGE.encode()))
    content = mobi(f"{PAGE}p {{color: red}}", packing=1, version=8)
    assert read(path, content[: content.rindex(b"FDST")] + flows) == PAGE


def test_a_run_is_one_repetition_of_itself() -> None:
    assert packed(b"a" * 50) == b"a" + b"\x80\x0f" * 4 + b"\x80\x0e"
    assert room._palm_doc(packed(b"a" * 50)) == b"a" * 50


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.binary(max_size=4_096))
def test_any_bytes_come_back_from_packing(text: bytes) -> None:
    assert room._palm_doc(packed(text)) == text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (mobi(PAGE, encryption=1), "encrypted"),
        (mobi(PAGE, encryption=2), "encrypted"),
        (mobi(PAGE, packing=17_480), "unsupported"),
        (mobi(PAGE, packing=3), "unsupported"),
        (b"", "wrong_type"),
        (b"PK\x03\x04" + b"\0" * 100, "wrong_type"),
        (mobi(PAGE, kind=b"DATAPlkr"), "wrong_type"),
        (mobi(PAGE)[:78], "damaged"),
        (mobi(PAGE * 400)[:9_000], "damaged"),
        (database([]), "damaged"),
        (database([b"short"]), "damaged"),
        (database([struct.pack(">HHIHHHH", 2, 0, 10, 1, 4_096, 0, 0)]), "damaged"),
        (database([struct.pack(">HHIHHHH", 2, 0, 10, 1, 4_096, 0, 0), b"\x80\x08aaaaaaaaaa"]), "damaged"),
        (database([struct.pack(">HHIHHHH", 2, 0, 10, 1, 4_096, 0, 0), b"aaaaaaaaaa\xbf"]), "damaged"),
        (database([struct.pack(">HHIHHHH", 2, 0, 2**31, 1, 4_096, 0, 0), b"a"]), "too_long"),
    ],
)
def test_what_cannot_be_read_fails_with_its_reason(path: Path, content: bytes, expected: str) -> None:
    assert code(path, content) == expected


def test_records_out_of_order_are_damage(path: Path) -> None:
    content = bytearray(mobi(PAGE))
    content[78:82] = b"\xff\xff\xff\xff"
    assert code(path, bytes(content)) == "damaged"


def test_a_book_that_unpacks_to_more_than_its_bound_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 100_000)
    bomb = b"a" + b"\x80\x0f" * 20_000
    content = database([struct.pack(">HHIHHHH", 2, 0, 10, 1, 4_096, 0, 0), bomb])
    assert code(path, content) == "too_long"


@settings(max_examples=100, derandomize=True, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_in_a_book_it_is_read_or_fails(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(mobi(PAGE * 60, trailers=3))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(60, 400) | st.integers(60, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    path = tmp_path_factory.getbasetemp() / "any.mobi"
    path.write_bytes(content[:end])
    with suppress(DocumentFailed):
        assert len(html_of(path)) < 100_000
