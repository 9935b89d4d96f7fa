"""The library that reads most formats, asked for text alone: no cache, no threads but its own few, nothing fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import kreuzberg

from shared.documents.flowing import without_controls
from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_TYPES: Final[Mapping[str, str]] = {
    "doc": "application/msword",
    "docx": f"{_OFFICE}wordprocessingml.document",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": f"{_OFFICE}presentationml.presentation",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "html": "text/html",
}


def text_of(
    content: Path | bytes, extension: str, form: Literal["markdown", "plain"] = "markdown", *, marks: str | None = None
) -> str:
    """Return a document's text; `marks` is written before each slide, `{page_num}` in it the slide's number from 1.

    Raises:
        DocumentFailed: `too_complex`; other errors of the library say that it is damaged.
    """
    options: dict[str, Any] = {}
    if marks is not None:
        options["pages"] = kreuzberg.PageConfig(insert_page_markers=True, marker_format=f"\n\n{marks}\n\n")
    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        output_format=form,
        concurrency=kreuzberg.ConcurrencyConfig(max_threads=1),
        **options,
    )
    try:
        return without_controls(_asked(content, _TYPES[extension], config))
    except Exception as error:
        if "limit" in str(error).lower():
            raise DocumentFailed("too_complex", "It is larger or deeper than a file of its format may be.") from None
        raise


def _asked(content: Path | bytes, kind: str, config: kreuzberg.ExtractionConfig) -> str:
    if isinstance(content, bytes):
        return kreuzberg.extract_bytes_sync(content, kind, config).content
    return kreuzberg.extract_file_sync(content, kind, config).content
