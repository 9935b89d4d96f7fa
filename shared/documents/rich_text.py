"""Cuts large Rich Text into smaller documents of its paragraphs: to read one takes eighty times its size of memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_BYTES: Final = 1 << 20
_HEADER: Final = 256
_TOKEN: Final = re.compile(rb"\\(?:[\\{}']|bin(\d+) ?|par(?![a-z]))|[{}]")
_FONTS: Final = b"{\\fonttbl"


def slices_of(content: bytes) -> Iterator[bytes]:
    """Yield Rich Text in documents of about 1 MiB, each with the beginning that tells the character set and fonts.

    It is cut between paragraphs that are in no group; where there are none for long, a slice is larger.
    """
    if len(content) <= 2 * SLICE_BYTES:
        yield content
        return
    header, begun = _header_of(content), 0
    for place in _ends(content):
        if place - begun >= SLICE_BYTES:
            yield (header if begun else b"") + content[begun:place] + b"}"
            begun = place
    yield header + content[begun:] if begun else content


def _header_of(content: bytes) -> bytes:
    fonts = content.find(_FONTS, 0, 1 << 16)
    if fonts >= 0:
        for place, depth in _depths(content, fonts):
            if depth == 0:
                return content[: place + 1]
    first = re.compile(rb"\\par(?![a-z])|[ {\r\n]").search(content, 1, _HEADER)
    return content[: first.start() if first else _HEADER] + b" "


def _ends(content: bytes) -> Iterator[int]:
    """Where a paragraph ends that is in the document's own group."""
    for place, depth in _depths(content, 0):
        if depth == 1 and content.startswith(b"\\par", place):
            yield place + len(b"\\par")


def _depths(content: bytes, place: int) -> Iterator[tuple[int, int]]:
    """Each brace and end of a paragraph from a place on, and in how many groups one is behind it."""
    depth = 0
    while token := _TOKEN.search(content, place):
        place = token.end() + int(token[1] or 0)
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if len(token[0]) != 2 and token[1] is None:
            yield token.start(), depth
