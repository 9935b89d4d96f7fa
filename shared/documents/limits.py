"""How much one document may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ParseLimits:
    """Bounds of reading one file; over one of them it fails, and nothing else does.

    `memory` is the reader's address space in bytes (what it uses, and some 400 MB of libraries and reserves);
    `picture_memory` the same where pictures are read, whose models reserve more. `seconds` counts its processor time,
    and the time that it is waited for; `characters` and `chunks` what it may say. `unpacked` is how many bytes the
    parts of a container may have together, `entries` how many parts, `ratio` how many times its packed size a large one
    may have. `pixels` bounds a picture, `pages` a PDF, `scans` those of its pages that are read as pictures.
    """

    memory: int = 2 << 30
    picture_memory: int = 4 << 30
    seconds: int = 300
    characters: int = 25_000_000
    chunks: int = 60_000
    unpacked: int = 512 << 20
    entries: int = 10_000
    ratio: int = 200
    pixels: int = 100_000_000
    pages: int = 20_000
    scans: int = 100
