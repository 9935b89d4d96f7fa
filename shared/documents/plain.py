"""Plain text: whatever its encoding, in pieces, paragraph by paragraph."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, Final

from shared.documents.encodings import WESTERN, encoding_of
from shared.documents.port import DocumentFailed, Section
from shared.documents.sentences import cut_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_BLOCK: Final = 64 * 1024
_LONGEST: Final = 64 * 1024
"""The characters of a paragraph that are held; a longer one is yielded in parts, which end with lines or words."""
_CHARACTERS: Final = {0: " ", 0x0B: "\n", 0x0C: "\n\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n\n", 0xFEFF: None}
"""NUL ends a string in C; a form feed ends a page; the others end lines; a byte order mark inside a text is nothing."""


def decoded(path: Path) -> Iterator[str]:
    """Yield a text file's text in pieces; its lines end with LF, and no NUL and no byte order mark is in it.

    What is no character of its encoding is U+FFFD.

    Raises:
        DocumentFailed: `wrong_type`, it is no text.
    """
    with path.open("rb") as file:
        encoding = encoding_of(file)
        if encoding is None:
            raise DocumentFailed("wrong_type", "The file holds binary data, not text.")
        file.seek(0)
        decoder = io.IncrementalNewlineDecoder(_decoder(encoding), translate=True)
        while block := file.read(_BLOCK):
            yield decoder.decode(block).translate(_CHARACTERS)
        yield decoder.decode(b"", final=True).translate(_CHARACTERS)


def sections_of_text(path: Path) -> Iterator[Section]:
    """Yield the paragraphs of a text file, each a section.

    Raises:
        DocumentFailed: `wrong_type`, it is no text.
    """
    return (Section(text) for text in paragraphs_of(decoded(path)))


def paragraphs_of(pieces: Iterable[str]) -> Iterator[str]:
    """Yield what blank lines part; a paragraph of more than 64 Ki characters in parts."""
    held = ""
    for piece in pieces:
        held += piece
        *whole, held = held.split("\n\n")
        yield from (each for each in whole if each.strip())
        while len(held) > _LONGEST:
            end = held.rfind("\n", _LONGEST // 2, _LONGEST) + 1 or next(cut_ends(held, 0, len(held), _LONGEST))
            yield held[:end]
            held = held[end:]
    if held.strip():
        yield held


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    errors = "western" if encoding == WESTERN else "replace"
    codecs.register_error("western", _as_latin1)
    return codecs.getincrementaldecoder(encoding)(errors)


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    """Read the five bytes that Western Windows leaves out as Latin-1 does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end
