"""Pictures that are made by hand, as small as their forms allow, and as large as their headers say."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 1, height: int = 1, *, frames: int = 0, announced: int | None = None) -> bytes:
    """A PNG; `frames` that control an animation, and how many it announces, if it is one."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))]
    if announced is not None:
        chunks.append((b"acTL", struct.pack(">II", announced, 0)))
    control = struct.pack(">IIIIIHHBB", 0, width, height, 0, 0, 1, 10, 0, 0)
    chunks += [(b"fcTL", control)] * frames
    rows = b"".join(b"\0" + b"\0\0\0" * width for _ in range(height)) if width * height < 10_000 else b""
    chunks += [(b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)


def jpeg(width: int = 1, height: int = 1, *, before: bytes = b"") -> bytes:
    """A JPEG's headers, with segments before those of its size."""
    size = struct.pack(">BBHBHHB", 0xFF, 0xC2, 11, 8, height, width, 1) + b"\x01\x11\0"
    scan = b"\xff\xda\0\x08\x01\x01\0\0\x3f\0" + b"\x12\x34"
    return b"\xff\xd8" + segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0") + before + size + scan + b"\xff\xd9"


def segment(marker: int, body: bytes) -> bytes:
    """A JPEG's segment."""
    return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body


def gif(width: int = 1, height: int = 1, *, frames: int = 1, screen: tuple[int, int] | None = None) -> bytes:
    """A GIF of so many frames, each as large as the screen unless that says otherwise."""
    head = b"GIF89a" + struct.pack("<HHBBB", *(screen or (width, height)), 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    loop = b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    control = b"!\xf9\x04\0\x0a\0\0\0"
    frame = control + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\0"
    return head + loop + frame * frames + b";"


def webp(width: int = 1, height: int = 1, *, kind: str = "VP8", frames: int = 0) -> bytes:
    """A WebP: lossy (`VP8`) or lossless (`VP8L`), or an animation of so many frames."""
    lossy = _riff(b"VP8 ", b"\x30\x01\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + b"\0" * 10)
    lossless = _riff(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\0" * 5)
    picture = lossless if kind == "VP8L" else lossy
    if frames:
        canvas = _u24(width - 1) + _u24(height - 1)
        frame = _riff(b"ANMF", b"\0" * 6 + canvas + b"\0\0\0\0" + picture)
        picture = _riff(b"VP8X", b"\x02\0\0\0" + canvas) + _riff(b"ANIM", b"\0" * 6) + frame * frames
    return b"RIFF" + struct.pack("<I", len(picture) + 4) + b"WEBP" + picture


def bmp(width: int = 1, height: int = 1) -> bytes:
    """A BMP; a height below 0 is one whose rows go downwards."""
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 2_835, 2_835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 4, 0, 0, 54) + header + b"\0\0\0\0"


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _riff(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def _u24(number: int) -> bytes:
    return number.to_bytes(3, "little")
