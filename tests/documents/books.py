"""MOBI books that are made by hand, packed as PalmDoc packs."""

from __future__ import annotations

import struct

RECORD = 4_096


def mobi(
    text: str,
    *,
    encoding: int = 65_001,
    packing: int = 2,
    encryption: int = 0,
    trailers: int = 0,
    kind: bytes = b"BOOKMOBI",
    version: int = 6,
) -> bytes:
    """Return a book of HTML; `trailers` are the flags of entries that follow the text in each record."""
    content = text.encode({1_252: "cp1252", 65_001: "utf-8"}.get(encoding, "utf-8"))
    pieces = [content[place : place + RECORD] for place in range(0, len(content), RECORD)]
    records = [_trailed(packed(piece) if packing == 2 else piece, trailers) for piece in pieces]
    flows = b"FDST" + struct.pack(">IIII", 12, 1, 0, len(content))
    first = struct.pack(">HHIHHHH", packing, 0, len(content), len(records), RECORD, encryption, 0)
    if kind == b"BOOKMOBI":
        first += _header(encoding, trailers, version, len(records) + 1)
    return database([first, *records, flows], kind)


def database(records: list[bytes], kind: bytes = b"BOOKMOBI") -> bytes:
    """Return a Palm database of records."""
    start = 78 + 8 * len(records) + 2
    entries = b""
    for number, record in enumerate(records):
        entries += struct.pack(">IB3s", start, 0, number.to_bytes(3, "big"))
        start += len(record)
    head = b"A book".ljust(32, b"\0") + b"\0" * 28 + kind + struct.pack(">IIH", 0, 0, len(records))
    return head + entries + b"\0\0" + b"".join(records)


def packed(text: bytes) -> bytes:
    """Pack as PalmDoc does: repetitions, a space before a letter, and what has to be said to be literal."""
    out, place = bytearray(), 0
    while place < len(text):
        if found := _found(text, place):
            distance, length = found
            out += struct.pack(">H", 0x8000 | distance << 3 | (length - 3))
            place += length
        elif text[place] == 0x20 and 0x40 <= text[place + 1 : place + 2].ljust(1, b"\0")[0] < 0x80:
            out.append(text[place + 1] ^ 0x80)
            place += 2
        elif 1 <= text[place] <= 8 or text[place] >= 0x80:
            literal = text[place : place + 8]
            out += bytes((len(literal),)) + literal
            place += len(literal)
        else:
            out.append(text[place])
            place += 1
    return bytes(out)


def _found(text: bytes, place: int) -> tuple[int, int] | None:
    for length in range(10, 2, -1):
        start = text.rfind(text[place : place + length], max(0, place - 2_047), place + length - 1)
        if start >= 0 and start < place and place + length <= len(text):
            return place - start, length
    return None


def _trailed(record: bytes, flags: int) -> bytes:
    if flags & 1:
        record += b"\xe4\xb8\x02"  # two bytes of a character that goes on, and how many they are
    for _ in range((flags >> 1).bit_count()):
        record += b"index\x86"
    return record


def _header(encoding: int, trailers: int, version: int, flows: int) -> bytes:
    header = bytearray(232)
    struct.pack_into(">4sIIIII", header, 0, b"MOBI", 232, 2, encoding, 1, version)
    struct.pack_into(">I", header, 176, flows if version >= 8 else 0xFFFFFFFF)
    struct.pack_into(">I", header, 224, trailers)
    return bytes(header)
