"""MOBI: the books of Mobipocket and older Kindles, and the PalmDoc texts that they came from.

By the format's public description (the MobileRead wiki, "MOBI", "PDB" and "PalmDOC").
"""

from __future__ import annotations

import html
import io
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

from shared.documents.encodings import encoding_of
from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST: Final = 64 * 1024 * 1024
"""The bytes of a book's text that are unpacked."""

_KINDS: Final = {b"BOOKMOBI": "html", b"TEXtREAd": "text"}
_PLAIN, _PALM_DOC, _HUFFMAN = 1, 2, 17_480
_ENCODINGS: Final = {1_252: "cp1252", 65_001: "utf-8"}
_NO_RECORD: Final = 0xFFFFFFFF
_DISTANCE: Final = 0x3FFF


def html_of(path: Path) -> str:
    """Return a book's text as HTML.

    Raises:
        DocumentFailed: `wrong_type`, `damaged`; `encrypted`: it has rights management; `unsupported`: it is packed
            by Huffman codes, or in another way; `too_long`.
    """
    content = path.read_bytes()
    kind = _KINDS.get(content[60:68])
    if kind is None:
        raise DocumentFailed("wrong_type", "It is no MOBI book.")
    records = _Records(content)
    book = _book(records[0])
    text = bytearray()
    for record in range(1, 1 + book.records):
        text += _unpacked(_without_trailers(records[record], book.trailers), book)
        if len(text) > MOST:
            raise DocumentFailed("too_long", f"It has more than {MOST:,} bytes of text.")
    if len(text) < book.length * 0.99:
        raise DocumentFailed("damaged", "Only a part of the book is there.")
    if kind == "text":
        return _html_of_text(bytes(text))
    return bytes(text[: _first_flow(records, book)]).decode(book.encoding, "replace").replace("\0", "")


@dataclass(frozen=True)
class _Book:
    """What the first record says of the text: how it is packed, and in which records it is.

    `trailers` are the flags of what follows the text in its records; `flows` is the record that says where the
    text ends and styles begin, in the newer version.
    """

    packing: int
    length: int
    records: int
    encoding: str = "cp1252"
    trailers: int = 0
    flows: int = _NO_RECORD


class _Records:
    """The records of a Palm database."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        try:
            (count,) = struct.unpack_from(">H", content, 76)
            starts = [start for start, _ in struct.iter_unpack(">II", content[78 : 78 + 8 * count])]
        except struct.error:
            _damaged()
        self._starts = [*starts, len(content)]
        if not count or len(starts) < count or sorted(self._starts) != self._starts:
            _damaged()

    def __getitem__(self, number: int) -> bytes:
        if number >= len(self._starts) - 1:
            _damaged()
        return self._content[self._starts[number] : self._starts[number + 1]]


def _book(first: bytes) -> _Book:
    if len(first) < 16:
        _damaged()
    packing, length, records, encryption = struct.unpack_from(">H2xIH2xH", first)
    if encryption:
        raise DocumentFailed("encrypted", "The book is protected by rights management; one without it can be read.")
    if packing == _HUFFMAN:
        raise DocumentFailed("unsupported", "The book is packed by Huffman codes; as EPUB it can be read.")
    if packing not in {_PLAIN, _PALM_DOC}:
        raise DocumentFailed("unsupported", "The book is packed in a way that is not known; as EPUB it can be read.")
    if length > MOST:
        raise DocumentFailed("too_long", f"It has more than {MOST:,} bytes of text.")
    if first[16:20] != b"MOBI":
        return _Book(packing, length, records)
    size, encoding, version = _number(first, 20), _number(first, 28), _number(first, 36)
    return _Book(
        packing,
        length,
        records,
        _ENCODINGS.get(encoding, "utf-8"),
        _number(first, 240) & 0xFFFF if size >= 228 else 0,
        _number(first, 192) if version >= 8 else _NO_RECORD,
    )


def _number(record: bytes, place: int) -> int:
    return int.from_bytes(record[place : place + 4], "big")


def _without_trailers(record: bytes, flags: int) -> bytes:
    """Return a record without what follows its text: an entry a flag, each with its size at its end."""
    end = len(record)
    for _ in range((flags >> 1).bit_count()):
        end = max(0, end - _size_at(record[:end]))
    if flags & 1 and end:
        end = max(0, end - (record[end - 1] & 3) - 1)
    return record[:end]


def _size_at(record: bytes) -> int:
    """Return the number that a record ends with: seven bits a byte, backwards, to the byte with the eighth bit."""
    size = 0
    for place, byte in enumerate(reversed(record[-4:])):
        size |= (byte & 0x7F) << 7 * place
        if byte & 0x80:
            break
    return size


def _unpacked(record: bytes, book: _Book) -> bytes:
    return record if book.packing == _PLAIN else bytes(_palm_doc(record))


def _palm_doc(record: bytes) -> bytearray:
    """Unpack a record: what has been written may be repeated, a space and a letter are one byte."""
    out = bytearray()
    place, end = 0, len(record)
    while place < end:
        byte = record[place]
        place += 1
        if 1 <= byte <= 8:
            out += record[place : place + byte]
            place += byte
        elif byte < 0x80:
            out.append(byte)
        elif byte >= 0xC0:
            out += bytes((0x20, byte ^ 0x80))
        else:
            if place >= end:
                _damaged()
            pair = (byte << 8 | record[place]) & _DISTANCE
            place += 1
            _repeat(out, pair >> 3, (pair & 7) + 3)
    return out


def _repeat(out: bytearray, distance: int, length: int) -> None:
    if not 1 <= distance <= len(out):
        _damaged()
    start = len(out) - distance
    said = out[start : start + length]
    out += (said * (length // len(said) + 1))[:length]  # it may repeat what it is about to write


def _first_flow(records: _Records, book: _Book) -> int | None:
    """Return where the text ends and styles begin; None where only text is."""
    if book.flows == _NO_RECORD:
        return None
    flows = records[book.flows]
    return _number(flows, 16) if flows.startswith(b"FDST") and len(flows) >= 20 else None


def _html_of_text(text: bytes) -> str:
    encoding = encoding_of(io.BytesIO(text))
    if encoding is None:
        _damaged()
    return "\n".join(_paragraphs(text.decode(encoding, "replace")))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        yield f"<p>{html.escape(paragraph)}</p>"


def _damaged() -> NoReturn:
    raise DocumentFailed("damaged", "The book is damaged, or only a part of it is there.")
