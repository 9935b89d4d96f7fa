"""In which encoding a text was written, told by its bytes: UTF-8, UTF-16, GB18030 or that of Western Windows."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
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
    "[\t\n\r\x20-\x7e\xa0-\u024f\u0370-\u052f\u2010-\u2027\u2030-\u203a\u20ac\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)
_RARE: Final = re.compile("[\u0180-\u024f\u3400-\u4dff]")
_OFTEN: Final = 200
_LEAST_PAIRS: Final = 8
"""Fewer characters without a sign or a space among them are no reason to think of UTF-16."""

# Characters that were common enough in 1980 to be sorted by sound, and punctuation.
_COMMON: Final = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
_DOUBLE: Final = re.compile(rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])")


def encoding_of(file: BinaryIO) -> str | None:
    """Return the name of a file's encoding for Python's codecs, or None where it is no text."""
    head = file.read(SAMPLE)
    if marked := next((name for mark, name in _MARKS if head.startswith(mark)), None):
        return marked
    controls = len(_CONTROLS.findall(head.decode("latin-1").translate(_HIGH)))
    sample = _from_first(file, head)
    if _OFTEN * controls > len(head):  # half of the bytes of Latin letters are 0, and one of ten of Chinese is below 32
        return _in_pairs(head) or _in_bytes(head, sample, controls)
    found = _in_bytes(head, sample, controls)
    return (_in_common_pairs(head) or found) if found == WESTERN else found


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


def _in_bytes(head: bytes, sample: bytes, controls: int) -> str | None:
    """Return an encoding in which a byte below 128 is ASCII; None of bytes that are no text in any."""
    if 100 * controls > max(len(head), 100):
        return None
    if _is_utf8(sample):
        return "utf-8"
    return "gb18030" if _is_chinese(sample) else WESTERN


def _is_utf8(sample: bytes) -> bool:
    """Tell whether bytes are UTF-8, but for one of fifty characters."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < SAMPLE)
    except UnicodeDecodeError:
        text = sample.decode("utf-8", "replace")
        wrong = text.count("\ufffd")
        return 50 * wrong <= sum(not each.isascii() for each in text) - wrong
    return True


def _in_pairs(head: bytes) -> str | None:
    """Return the UTF-16 in which nearly all characters are plausible, and the fewest rare."""
    if len(head) % 2 or not head:
        return None
    texts = {name: head.decode(name, "replace") for name in ("utf-16-le", "utf-16-be")}
    name = max(texts, key=lambda each: len(_PLAUSIBLE.findall(texts[each])) - len(_RARE.findall(texts[each])) / 2)
    return name if 100 * len(_PLAUSIBLE.findall(texts[name])) >= 97 * (len(texts[name]) - 1) else None


def _in_common_pairs(head: bytes) -> str | None:
    """Return the UTF-16 in which all characters are common in Chinese, and enough of them."""
    if len(head) % 2 or len(head) < 2 * _LEAST_PAIRS:
        return None
    for name in ("utf-16-le", "utf-16-be"):
        with suppress(UnicodeError):
            head.decode(name).encode("gb2312")
            return name
    return None


def _is_chinese(sample: bytes) -> bool:
    """Tell whether bytes are GB18030: hardly any pair is none of it, and most are of characters that are common."""
    pairs = _DOUBLE.findall(sample)
    rest = _DOUBLE.sub(b"", sample)
    wrong = _NOT_ASCII.findall(rest[:-1] if len(sample) == SAMPLE else rest)
    return 50 * len(wrong) <= len(pairs) <= 2 * len(_COMMON.findall(b" ".join(pairs)))
