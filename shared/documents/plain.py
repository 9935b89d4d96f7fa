"""Plain text: whatever its encoding, in pieces, paragraph by paragraph."""

from __future__ import annotations

import codecs
import io
import re
from typing import TYPE_CHECKING, Final

from shared.documents.encodings import WESTERN, encoding_of
from shared.documents.pieces import TARGET
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

_UNUSUAL: Final = re.compile("[\0\v\f\x85\u2028\u2029\ufeff]")


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
            yield _clean(decoder.decode(block))
        yield _clean(decoder.decode(b"", final=True))


def _clean(text: str) -> str:
    return text.translate(_CHARACTERS) if _UNUSUAL.search(text) else text


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
            end = _good_end(held)
            yield held[:end]
            held = held[end:]
    if held.strip():
        yield held


def _good_end(text: str) -> int:
    """Return where the first part of a long paragraph ends."""
    for mark in ("\n", "。", ". ", " "):
        if end := text.rfind(mark, _LONGEST // 2, _LONGEST) + 1:
            return end
    return next(cut_ends(text, _LONGEST - TARGET, len(text), most=TARGET))


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    errors = "western" if encoding == WESTERN else "replace"
    codecs.register_error("western", _as_latin1)
    return codecs.getincrementaldecoder(encoding)(errors)


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    """Read the five bytes that Western Windows leaves out as Latin-1 does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end
