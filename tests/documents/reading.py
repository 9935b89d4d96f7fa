"""What comes of reading a file the real way: chunks, or a code; anything else is a fault."""

from dataclasses import replace
from pathlib import Path

from shared.documents.limits import ParseLimits
from shared.documents.parsing import SubprocessParser
from shared.documents.port import Chunk, DocumentFailed

BOUNDS = ParseLimits(memory=1 << 30, seconds=120)
"""What is read takes a second or two; a machine may be many times slower, and what has no end takes longer still."""


def outcome(
    folder: Path, content: bytes, extension: str, limits: ParseLimits = BOUNDS, *, ocr: bool = False
) -> list[Chunk] | str:
    """Return a document's chunks, or the code that it failed with."""
    path = folder / f"document.{extension}"
    path.write_bytes(content)
    try:
        return list(SubprocessParser(limits, ocr=ocr).parse(path, extension))
    except DocumentFailed as failed:
        return failed.code


def text(outcome_: list[Chunk] | str) -> str:
    """Return all that chunks say; "" of a failure."""
    return "" if isinstance(outcome_, str) else "\n".join(chunk.text for chunk in outcome_)


def bounded(**limits: int) -> ParseLimits:
    """Return the tests' bounds with some of them changed."""
    return replace(BOUNDS, **limits)
