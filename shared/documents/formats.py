"""Reads a document of any format into sections, in order and as it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shared.documents.port import IMAGES, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from shared.documents.limits import ParseLimits

    Reader = Callable[[Path, str], Iterator[Section]]


def sections_of(path: Path, extension: str, limits: ParseLimits, *, ocr: bool) -> Iterator[Section]:
    """Yield the sections of a document that was checked (`shared/documents/sniffing.py`); libraries come when needed.

    Raises:
        DocumentFailed: at any section; other errors of libraries say that it is damaged.
    """
    if extension == "pdf":
        from shared.documents.portable import sections_of_pdf  # noqa: PLC0415

        return sections_of_pdf(path, limits, ocr=ocr)
    if extension in IMAGES:
        return _image(path, limits)
    return _READERS[extension](path, extension)


def _image(path: Path, limits: ParseLimits) -> Iterator[Section]:
    from shared.documents.seeing import text_of_image  # noqa: PLC0415

    yield Section(text_of_image(path, limits))


def _text(path: Path, _extension: str) -> Iterator[Section]:
    from shared.documents.plain import sections_of_text  # noqa: PLC0415

    return sections_of_text(path)


def _markdown(path: Path, _extension: str) -> Iterator[Section]:
    from shared.documents.markup import sections_of_markdown  # noqa: PLC0415
    from shared.documents.plain import decoded  # noqa: PLC0415

    return sections_of_markdown(decoded(path))


def _html(path: Path, _extension: str) -> Iterator[Section]:
    from shared.documents.web import sections_of_page, text_of_page  # noqa: PLC0415

    return sections_of_page(text_of_page(path))


def _mobi(path: Path, _extension: str) -> Iterator[Section]:
    from shared.documents.mobi import html_of  # noqa: PLC0415
    from shared.documents.web import sections_of_page  # noqa: PLC0415

    return sections_of_page(html_of(path))


def _office(path: Path, extension: str) -> Iterator[Section]:
    from shared.documents.office import sections_of_office  # noqa: PLC0415

    return sections_of_office(path, extension)


_READERS: Final[Mapping[str, Reader]] = {
    **dict.fromkeys(("doc", "docx", "ppt", "pptx", "xls", "xlsx", "xlsm", "rtf", "epub"), _office),
    **dict.fromkeys(("md", "markdown"), _markdown),
    "html": _html,
    "mobi": _mobi,
    "txt": _text,
}
