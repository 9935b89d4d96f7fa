"""Checks Office files of the older formats: compound files, which are file systems of their own (MS-CFB)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from shared.documents.limits import ParseLimits

_LAST: Final = 0xFFFFFFFA  # sector numbers from it on are ends and marks
_HEADER, _ENTRY = 512, 128
_LISTED: Final = 109  # sectors of the allocation table that the header itself lists
_PARTS: Final = 100_000

_MAIN_STREAMS: Final[Mapping[str, tuple[str, ...]]] = {
    "doc": ("WordDocument",),
    "xls": ("Workbook", "Book"),
    "ppt": ("PowerPoint Document",),
}
_LOCKED_PACKAGE: Final = "EncryptedPackage"
_FLAGS, _LOCKED_DOC = 0x0A, 0x0100  # MS-DOC 2.5.2: fEncrypted
_PASSWORD_RECORD, _SHEET_RECORD = 0x2F, 0x85  # MS-XLS 2.4.117, FilePass; it is told before the sheets are
_LOCKED_SLIDES: Final = 0xF3D1C4DF  # MS-PPT 2.3.2, headerToken
_RECORDS: Final = 64


def check_compound(path: Path, extension: str, _limits: ParseLimits) -> None:
    """Refuse a compound file that is none of its extension's, asks for a password, or is cut off.

    Raises:
        DocumentFailed: `damaged`, `encrypted`, `wrong_type`.
    """
    try:
        with path.open("rb") as file:
            streams = Streams(file)
            main = next((name for name in _MAIN_STREAMS.get(extension, ()) if name in streams.names), None)
            locked = _LOCKED_PACKAGE in streams.names or (main is not None and _LOCKS[extension](streams, main))
    except (struct.error, IndexError, ValueError):
        raise DocumentFailed("damaged", "It is damaged, or not the whole of it is there.") from None
    if locked:
        raise DocumentFailed("encrypted", "It is encrypted: send it without its password.")
    if main is None:
        message = f"Its name ends in .{extension}, and its content is another file of the older Office formats."
        raise DocumentFailed("wrong_type", message)


def _is_locked_doc(streams: Streams, main: str) -> bool:
    (flags,) = struct.unpack_from("<H", streams.beginning(main, 64), _FLAGS)
    return bool(flags & _LOCKED_DOC)


def _is_locked_xls(streams: Streams, main: str) -> bool:
    content, place = streams.beginning(main, 4096), 0
    for _ in range(_RECORDS):
        if place + 4 > len(content):
            break
        kind, size = struct.unpack_from("<HH", content, place)
        if kind in {_PASSWORD_RECORD, _SHEET_RECORD}:
            return bool(kind == _PASSWORD_RECORD)
        place += 4 + size
    return False


def _is_locked_ppt(streams: Streams, _main: str) -> bool:
    if "EncryptedSummary" in streams.names:
        return True
    user = streams.beginning("Current User", 16) if "Current User" in streams.names else b""
    return len(user) == 16 and struct.unpack_from("<I", user, 12)[0] == _LOCKED_SLIDES


_LOCKS = {"doc": _is_locked_doc, "xls": _is_locked_xls, "ppt": _is_locked_ppt}


@dataclass(frozen=True)
class _Stream:
    name: str
    start: int
    size: int


class Streams:
    """The streams of a compound file by name, and their beginnings. Chains that bite their tails are damaged."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        header = self._at(0, _HEADER)
        self._shift, self._small_shift = struct.unpack_from("<HH", header, 30)
        if self._shift not in {9, 12} or self._small_shift != 6:
            raise ValueError("sectors")
        first, self._cutoff, small_first = struct.unpack_from("<I4xI I", header, 48)
        self._table = list(self._allocation(header))
        listed = [*self._entries(self._chain(first))]
        self.names = {each.name: each for each in listed}
        self._small_table = list(self._numbers(self._chain(small_first)))
        self._small = listed[0]

    def beginning(self, name: str, size: int) -> bytes:
        """Return the first bytes of a stream."""
        stream = self.names[name]
        size = min(size, stream.size)
        if stream.size >= self._cutoff:
            return self._content(self._chain(stream.start), size)
        within = self._content(self._chain(self._small.start), self._small.size)
        starts = (number << self._small_shift for number in self._walk(self._small_table, stream.start))
        return b"".join(within[start : start + (1 << self._small_shift)] for start in starts)[:size]

    def _content(self, sectors: Iterator[int], size: int) -> bytes:
        content = bytearray()
        for sector in sectors:
            content += self._sector(sector)
            if len(content) >= size:
                break
        return bytes(content[:size])

    def _allocation(self, header: bytes) -> Iterator[int]:
        more, count = struct.unpack_from("<II", header, 68)
        sectors = list(struct.unpack_from(f"<{_LISTED}I", header, 76))
        for _ in range(min(count, _PARTS)):
            if more >= _LAST:
                break
            *listed, more = struct.unpack(f"<{(1 << self._shift) // 4}I", self._sector(more))
            sectors += listed
        yield from self._numbers(sector for sector in sectors if sector < _LAST)

    def _numbers(self, sectors: Iterator[int]) -> Iterator[int]:
        for sector in sectors:
            yield from struct.unpack(f"<{(1 << self._shift) // 4}I", self._sector(sector))

    def _entries(self, sectors: Iterator[int]) -> Iterator[_Stream]:
        for sector in sectors:
            content = self._sector(sector)
            for place in range(0, len(content), _ENTRY):
                (length,) = struct.unpack_from("<H", content, place + 64)
                name = content[place : place + max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
                yield _Stream(name, *struct.unpack_from("<II", content, place + 116))

    def _chain(self, start: int) -> Iterator[int]:
        return self._walk(self._table, start)

    def _walk(self, table: list[int], sector: int) -> Iterator[int]:
        for _ in range(len(table) + 1):
            if sector >= _LAST:
                return
            yield sector
            sector = table[sector]
        raise ValueError("a chain without an end")

    def _sector(self, number: int) -> bytes:
        return self._at((number + 1) << self._shift, 1 << self._shift)

    def _at(self, place: int, size: int) -> bytes:
        self._file.seek(place)
        content = self._file.read(size)
        if len(content) < size:
            raise ValueError("cut off")
        return content
