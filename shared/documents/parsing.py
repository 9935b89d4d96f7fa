"""Parses documents in a process of their own, so that a hostile file can take down only itself."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from shared.documents.limits import ParseLimits
from shared.documents.port import IMAGES, Chunk, DocumentFailed, FailureCode
from shared.documents.process import LINE_BYTES, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CODES: Final = frozenset(get_args(FailureCode))
_MESSAGE: Final = 500
_HEADINGS: Final = 32
_TEXT, _NAME = 20_000, 1_000  # characters of a chunk, and of a heading or a sheet's name


def ocr_is_there() -> bool:
    """Return whether what reads pictures (the extra `ocr`) is installed."""
    return find_spec("rapidocr") is not None


class SubprocessParser:
    """Reads documents in a process with bounds (`shared/documents/process.py`), and believes nothing that it says.

    What it holds of a document is one line of the process's, so at most 1 MiB.
    """

    def __init__(self, limits: ParseLimits | None = None, *, ocr: bool = False) -> None:
        self._limits = limits or ParseLimits()
        self._ocr = ocr

    def parse(self, path: Path, extension: str) -> Iterator[Chunk]:
        """Yield the chunks of a file in order, while it is being read; to close the iterator ends the reading.

        Raises:
            DocumentFailed: at any chunk, the first one included; what was yielded before it counts for nothing.
            OSError: no process could be started; that says nothing of the document.
        """
        if extension in IMAGES and not self._ocr:
            raise DocumentFailed("not_readable_here", "Nothing in this deployment reads pictures.")
        with Reading("parse", path, self._limits, extension=extension, ocr=self._ocr) as reading:
            yield from _bounded(_chunks(reading), self._limits)


def _chunks(reading: Reading) -> Iterator[Chunk]:
    while (told := told_by(reading)) is not None:
        yield _chunk(told)


def told_by(reading: Reading) -> Any:
    """Return what a process's next line says; None where it says that it is done.

    Raises:
        DocumentFailed: the process says so, or it ended before it was done.
    """
    line = reading.line()
    if not line.endswith(b"\n"):  # a signal ended it: the one of a bound, or of a fault that the file led to
        raise DocumentFailed("too_complex", "Reading it took more memory or time than one file may.")
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise _confused() from None
    match told:
        case {"code": str(code), "message": str(message)} if code in _CODES and _is_text(message, LINE_BYTES):
            raise DocumentFailed(cast("FailureCode", code), message[:_MESSAGE])
    return told


def _bounded(chunks: Iterator[Chunk], limits: ParseLimits) -> Iterator[Chunk]:
    characters, count = 0, 0
    for count, chunk in enumerate(chunks, 1):
        characters += len(chunk.text)
        if characters > limits.characters or count > limits.chunks:
            most = f"{limits.characters:,} characters or {limits.chunks:,} chunks"
            raise DocumentFailed("too_long", f"It has more text than the {most} that one file may have.")
        yield chunk
    if not count:
        raise DocumentFailed("no_text", "There is no text in it.")


def _chunk(told: Any) -> Chunk:
    try:
        text, heading, page, sheet = told
        chunk = Chunk(text, tuple(heading), page, sheet)
    except (TypeError, ValueError):
        raise _confused() from None
    names = (*chunk.heading, *([] if sheet is None else [sheet]))
    if not (
        _is_text(text, _TEXT) and text.strip() and len(names) <= _HEADINGS and all(_is_text(each) for each in names)
    ):
        raise _confused()
    if not (page is None or (type(page) is int and page > 0)):
        raise _confused()
    return chunk


def _is_text(told: Any, most: int = _NAME) -> bool:
    """Whether it is a text that can be written: half a pair of UTF-16 can't."""
    if not isinstance(told, str) or len(told) > most:
        return False
    try:
        told.encode()
    except UnicodeEncodeError:
        return False
    return True


def _confused() -> DocumentFailed:
    return DocumentFailed("damaged", "It could not be read.")
