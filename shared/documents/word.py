"""Word documents of the older format (MS-DOC): their text, piece by piece as its table says."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final

from shared.documents.compound import Streams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OLDEST: Final = 0x00C1
"""The version from which a document has a table of pieces in a stream of its own (Word 97)."""

_FLAGS, _SECOND_TABLE = 0x0A, 0x0200
_COUNTS: Final = 0x4C  # how many characters are text, footnotes, headers, macros, comments, endnotes, boxes
_HEADERS, _MACROS = 2, 3
_TABLE: Final = 0x01A2
_PROPERTIES, _PIECES = b"\x01", b"\x02"
_ONE_BYTE: Final = 0x40000000

_FIELD: Final = re.compile("\x13[^\x13\x14\x15]*\x14?|\x15")  # an instruction; what it came to stays
_ROW: Final = re.compile("\x07\x07")
_CHARACTERS: Final = {
    7: "\t",
    11: "\n",
    12: "\n\n",
    13: "\n\n",
    30: "-",
    160: " ",
    **dict.fromkeys((*range(7), 8, *range(14, 19), *range(22, 30), 31)),
}


def text_of_doc(path: Path) -> str | None:
    """Return a document's text: paragraphs are parted by blank lines, cells by tabs; None of one older than Word 97.

    Headers and footers are left out: they say the same on each page.

    Raises:
        ValueError, struct.error, LookupError: it is damaged.
    """
    with path.open("rb") as file:
        streams = Streams(file)
        main = streams.beginning("WordDocument", streams.names["WordDocument"].size)
        (version,) = struct.unpack_from("<H", main, 2)
        (flags,) = struct.unpack_from("<H", main, _FLAGS)
        name = "1Table" if flags & _SECOND_TABLE else "0Table"
        if version < _OLDEST or name not in streams.names:
            return None
        table = streams.beginning(name, streams.names[name].size)
    start, size = struct.unpack_from("<II", main, _TABLE)
    whole = "".join(_pieces(main, table[start : start + size]))
    return "\n\n".join(filter(None, (_plain(part) for part in _parts(main, whole))))


def _pieces(main: bytes, table: bytes) -> Iterator[str]:
    """Yield the text of the pieces; each is at its own place, in two bytes a character or in one."""
    place = 0
    while table[place : place + 1] == _PROPERTIES:
        place += 3 + int.from_bytes(table[place + 1 : place + 3], "little")
    if table[place : place + 1] != _PIECES:
        raise ValueError("no pieces")
    count = (int.from_bytes(table[place + 1 : place + 5], "little") - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", table, place + 5)
    if list(ends) != sorted(ends) or ends[-1] > len(main):
        raise ValueError("pieces that are not there")
    for number in range(count):
        size = ends[number + 1] - ends[number]
        (at,) = struct.unpack_from("<I", table, place + 5 + 4 * (count + 1) + 8 * number + 2)
        if at & _ONE_BYTE:
            at = (at & ~_ONE_BYTE) // 2
            yield main[at : at + size].decode("cp1252", "replace")
        else:
            yield main[at : at + 2 * size].decode("utf-16-le", "surrogatepass")


def _parts(main: bytes, whole: str) -> Iterator[str]:
    place = 0
    for number, size in enumerate(struct.unpack_from("<7I", main, _COUNTS)):
        if number not in {_HEADERS, _MACROS}:
            yield whole[place : place + size]
        place += size


def _plain(text: str) -> str:
    text = _ROW.sub("\n", _FIELD.sub("", text)).translate(_CHARACTERS)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
