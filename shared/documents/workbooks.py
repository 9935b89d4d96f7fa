"""Cuts large sheets into workbooks of a part of their rows: to read a cell takes a hundred times its size of memory."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLICE_BYTES: Final = 8 << 20
_READ_BYTES: Final = 1 << 20
_SHEETS: Final = re.compile(r"xl/worksheets/[^/]+\.xml")
_EMPTY: Final = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>'
_BEGIN, _ROW_END, _END = b"<sheetData>", b"</row>", b"</sheetData></worksheet>"
_SIZE: Final = re.compile(rb"<dimension [^>]{0,200}>")
_PLACE: Final = re.compile(rb'(<(?:row|c) (?:[^>]{0,200}? )?r=")([A-Z]{0,3})(\d{1,7})"')
_FIRST_PLACE: Final = re.compile(rb'<row (?:[^>]{0,200}? )?r="(\d{1,7})"')


def workbooks_of(path: Path) -> Iterator[bytes] | None:
    """Return workbooks that say together what one does, each with a part of one sheet; None where no sheet is large.

    Each part begins with its sheet's first row, which names the columns of most.

    Raises:
        ValueError, OSError, zipfile.BadZipFile: it is damaged.
    """
    with zipfile.ZipFile(path) as package:
        sizes = {part.filename: part.file_size for part in package.infolist() if _SHEETS.fullmatch(part.filename)}
    return _workbooks(path, sorted(sizes, key=_number)) if max(sizes.values(), default=0) > 2 * SLICE_BYTES else None


def _number(name: str) -> tuple[int, str]:
    digits = re.search(r"\d{1,9}", name)
    return int(digits[0]) if digits else 0, name


def _workbooks(path: Path, sheets: list[str]) -> Iterator[bytes]:
    with zipfile.ZipFile(path) as package:
        # What is neither a sheet nor about all of them is not text: drawings, pictures, caches.
        wanted = [
            name for name in package.namelist() if name.count("/") < 2 or name.startswith(("xl/_rels/", "_rels/"))
        ]
        others = {name: package.read(name) for name in wanted}
        for sheet in sheets:
            with package.open(sheet) as content:
                for part in _parts(content):
                    yield _package({**others, **dict.fromkeys(sheets, _EMPTY), sheet: part})


def _package(parts: dict[str, bytes]) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as package:
        for name, part in parts.items():
            package.writestr(name, part)
    return content.getvalue()


def _parts(content: IO[bytes]) -> Iterator[bytes]:
    """Yield the sheet's XML with a part of its rows each time."""
    held, first = b"", b""
    prefix = _EMPTY
    while piece := content.read(_READ_BYTES):
        held += piece
        if not first:
            prefix, first, held = _begun(held, prefix)
        if first and len(held) > SLICE_BYTES and (end := held.rfind(_ROW_END)) >= 0:
            yield prefix + first + _moved(held[: end + len(_ROW_END)], first) + _END
            held = held[end + len(_ROW_END) :]
    yield prefix + first + _moved(held, first) if first else held


def _begun(held: bytes, prefix: bytes) -> tuple[bytes, bytes, bytes]:
    """Take what stands before the rows, and the first of them, off a sheet's beginning, once they are there."""
    begin = held.find(_BEGIN)
    end = held.find(_ROW_END, begin) if begin >= 0 else -1
    if end < 0:
        return prefix, b"", held
    start, end = begin + len(_BEGIN), end + len(_ROW_END)
    return _SIZE.sub(b"", held[:start]), held[start:end], held[end:]


def _moved(rows: bytes, first: bytes) -> bytes:
    """Give rows the numbers that follow the first row's, for what lies between is taken for empty rows."""
    here, there = _FIRST_PLACE.search(rows), _FIRST_PLACE.search(first)
    if not here or not there:
        return rows
    back = int(here[1]) - int(there[1]) - 1
    if back <= 0:
        return rows
    return _PLACE.sub(lambda found: b'%s%s%d"' % (found[1], found[2], max(1, int(found[3]) - back)), rows)
