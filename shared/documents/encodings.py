"""In which encoding a text was written, told by its bytes: UTF-8, UTF-16, GB18030 or that of Western Windows."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import BinaryIO

SAMPLE: Final = 64 * 1024
"""The bytes that are looked at: from the beginning, and from the first that is not ASCII."""

WESTERN: Final = "cp1252"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")
_BLOCK: Final = 1 << 20

_CONTROLS: Final = re.compile("[\0-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
# What texts in UTF-16 are made of; bytes of another encoding, read so, are from all over the place.
_PLAUSIBLE: Final = re.compile(
    "[\t\n\r\x20-\x7e\xa0-\u024f\u0370-\u052f\u2010-\u2027\u2030-\u203a\u20ac\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]"
)
# Characters that were common enough in 1980 to be sorted by sound, and punctuation.
_COMMON: Final = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
_DOUBLE: Final = re.compile(rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])")
_SEQUENCE: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def encoding_of(file: BinaryIO) -> str | None:
    """Return the name of a file's encoding for Python's codecs, or None where it is no text."""
    head = file.read(SAMPLE)
    if marked := next((name for mark, name in _MARKS if head.startswith(mark)), None):
        return marked
    sample = _from_first(file, head)
    if not _CONTROLS.search(head.decode("latin-1").translate(_HIGH)) and _is_utf8(sample):
        return "utf-8"
    for name in ("utf-16-le", "utf-16-be"):
        if _is_utf16(head, name):
            return name
    return _in_bytes(head, sample)


_HIGH: Final = dict.fromkeys(range(0x80, 0x100), "x")


def _from_first(file: BinaryIO, head: bytes) -> bytes:
    """Return what follows the first byte that is not ASCII: what is before it tells nothing."""
    start, block = 0, head
    while block:
        if found := _NOT_ASCII.search(block):
            file.seek(start + found.start())
            return file.read(SAMPLE)
        start += len(block)
        block = file.read(_BLOCK)
    return b""


def _in_bytes(head: bytes, sample: bytes) -> str | None:
    """Return an encoding in which a byte below 128 is ASCII; None of bytes that are no text in any."""
    controls = len(_CONTROLS.findall(head.decode("latin-1").translate(_HIGH)))
    if 100 * controls > max(len(head), 100) or head[:2] == b"PK":
        return None
    if _is_utf8(sample):
        return "utf-8"
    return "gb18030" if _is_chinese(sample) else WESTERN


def _is_utf8(sample: bytes) -> bool:
    """Tell whether bytes are UTF-8, but for one of a hundred characters, and for one that the end cuts."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        good = _SEQUENCE.sub(b"", sample)
        return 100 * len(_NOT_ASCII.findall(good[:-3])) < len(_SEQUENCE.findall(sample))
    return True


def _is_utf16(head: bytes, name: str) -> bool:
    if len(head) % 2:
        return False
    text = head.decode(name, errors="replace")
    if len(head) == SAMPLE:
        text = text[:-1]
    return bool(text) and 100 * len(_PLAUSIBLE.findall(text)) >= 97 * len(text)


def _is_chinese(sample: bytes) -> bool:
    """Tell whether bytes are GB18030: hardly any pair is none of it, and most are of characters that are common."""
    pairs = _DOUBLE.findall(sample)
    rest = _DOUBLE.sub(b"", sample)
    return 50 * len(_NOT_ASCII.findall(rest[:-1])) <= len(pairs) <= 2 * len(_COMMON.findall(b" ".join(pairs)))
