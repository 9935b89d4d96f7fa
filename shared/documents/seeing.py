"""Reads what is written in pictures, in English and Chinese, with models that come in their package (extra `ocr`)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from shared.documents.redrawing import first_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from shared.documents.limits import ParseLimits

_PIXELS: Final = 3_000  # the longer side that is looked at; letters of larger pictures are read as well
_SURE: Final = 0.5
_SETTINGS: Final = {
    "Global.log_level": "critical",
    "Global.use_cls": False,  # nothing is upside down that was made upright
    "Det.limit_type": "max",  # else small pictures are looked at magnified, for ten times the time
    "Det.limit_side_len": 1_920,
    "EngineConfig.onnxruntime.intra_op_num_threads": 2,
}
_PARAGRAPH: Final = 0.9  # of a line's height between two lines

Box = tuple[float, float, float, float, str]
"""Left, top, right, bottom, and what is read there."""


def text_of_image(path: Path, limits: ParseLimits) -> str:
    """Return the text in a picture's first frame: lines in their order, paragraphs parted; "" where there is none.

    Raises:
        DocumentFailed: `damaged`, `too_complex`.
    """
    import numpy as np  # noqa: PLC0415 - here where the models are

    image = first_frame(path, limits)
    image.thumbnail((_PIXELS, _PIXELS))
    return "\n".join(lines_in(np.asarray(image)[:, :, ::-1]))


def lines_in(image: Any) -> list[str]:
    """Return the lines read in an image (rows, columns, blue green red); "" stands between paragraphs."""
    read = _reader()(image)
    if read.boxes is None:
        return []
    found = zip(read.boxes.tolist(), read.txts, read.scores, strict=True)
    return list(_lines([_box(corners, text) for corners, text, sure in found if sure >= _SURE]))


@cache
def _reader() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - half a second, and 400 MB

    return RapidOCR(params=_SETTINGS)


def _box(corners: Sequence[Sequence[float]], text: str) -> Box:
    across, down = [x for x, _ in corners], [y for _, y in corners]
    return min(across), min(down), max(across), max(down), text


def _lines(boxes: list[Box]) -> Iterator[str]:
    """What stands at one height is one line, from left to right."""
    bottom: float | None = None
    for line in _rows(sorted(boxes, key=lambda box: box[1] + box[3])):
        top, height = min(box[1] for box in line), max(box[3] - box[1] for box in line)
        if bottom is not None and top - bottom > _PARAGRAPH * height:
            yield ""
        yield " ".join(box[4] for box in sorted(line))
        bottom = max(box[3] for box in line)


def _rows(boxes: list[Box]) -> Iterator[list[Box]]:
    row: list[Box] = []
    for box in boxes:
        middle = (box[1] + box[3]) / 2
        if row and middle > max(row[0][3] - (row[0][3] - row[0][1]) * 0.3, row[0][1]):
            yield row
            row = []
        row.append(box)
    if row:
        yield row
