"""Makes pictures ready for a model that sees, in a process with bounds as documents are read in."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from shared.documents.limits import ParseLimits
from shared.documents.parsing import told_by
from shared.documents.port import DocumentFailed
from shared.documents.process import Reading
from shared.models.port import Picture

MOST_PIXELS = 8_000
MOST_BYTES = 3_750_000
"""The longer side, and the size, of what Bedrock's Converse takes."""


def prepared(
    source: Path | bytes,
    *,
    most_pixels: int = MOST_PIXELS,
    most_bytes: int = MOST_BYTES,
    limits: ParseLimits | None = None,
) -> Picture:
    """Return a picture's first frame, upright, no larger than a model takes: a PNG or a JPEG.

    Raises:
        DocumentFailed: `damaged`, `empty`, `too_complex`.
        OSError: no process could be started; that says nothing of the picture.
    """
    bounds = limits or ParseLimits()

    def drawn(path: Path) -> Picture:
        with Reading("picture", path, bounds, most_pixels=most_pixels, most_bytes=most_bytes) as reading:
            return _picture(told_by(reading), reading, most_bytes)

    if isinstance(source, Path):
        return drawn(source)
    with tempfile.NamedTemporaryFile() as file:
        file.write(source)
        file.flush()
        return drawn(Path(file.name))


def _picture(told: Any, reading: Reading, most_bytes: int) -> Picture:
    match told:
        case {"form": "png" | "jpeg" as form, "size": int(size)} if 0 < size <= most_bytes:
            content = reading.content(size)
            if len(content) == size and told_by(reading) is None:
                return Picture(content, form)
    raise DocumentFailed("damaged", "It could not be read.")
