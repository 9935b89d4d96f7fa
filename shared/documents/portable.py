"""Reads PDFs page by page: one page is held, whatever the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pypdfium2
from pypdfium2 import raw

from shared.documents.flowing import flowed, without_controls
from shared.documents.port import DocumentFailed, Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shared.documents.limits import ParseLimits

_END, _END_WITHIN = b"%%EOF", 2_048
_BOOKMARKS: Final = 10_000
_DEPTH: Final = 8
_TITLE: Final = 200
_NUMBER: Final = 8
_OBJECTS: Final = 200  # of a page, to find a picture among
_SCAN_PIXELS: Final = 2_000  # the longer side of a page that is read as a picture


def sections_of_pdf(path: Path, limits: ParseLimits, *, ocr: bool) -> Iterator[Section]:
    """Yield the text of a PDF by pages, and by what its bookmarks name; with `ocr`, of scanned pages too.

    Raises:
        DocumentFailed: `damaged`, `encrypted`, `not_readable_here`: it is scanned, `too_complex`, `too_long`.
    """
    document = _opened(path)
    if len(document) > limits.pages:
        raise DocumentFailed("too_long", f"It has more than the {limits.pages:,} pages that one file may have.")
    contents, scans, said = _Contents(document), 0, False
    for number in range(len(document)):
        page = document[number]
        lines = _lines_of(page)
        if not lines and _is_scan(page):
            scans += 1
            lines = _seen(page, scans, limits) if ocr else []
        page.close()
        for section in contents.cut(lines, number):
            said = True
            yield section
    if scans and not said and not ocr:
        raise DocumentFailed("not_readable_here", "Its pages are pictures, and nothing in this deployment reads them.")


def _opened(path: Path) -> Any:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END_WITHIN))
        if _END not in file.read():
            raise DocumentFailed("damaged", "Its end is missing: not the whole of it is there.")
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}:
            raise DocumentFailed("encrypted", "It is encrypted: send it without its password.") from None
        raise


def _lines_of(page: Any) -> list[str]:
    text_page = page.get_textpage()
    text: str = text_page.get_text_range(errors="replace")
    text_page.close()
    # A word that is parted at a line's end is one word; the library marks these places.
    whole = text.replace("\x02\r\n", "").replace("\ufffe\r\n", "").replace("\r\n", "\n").replace("\r", "\n")
    return [line for line in map(str.strip, without_controls(whole).split("\n")) if line]


def _is_scan(page: Any) -> bool:
    found = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=2)
    return any(True for _, _ in zip(range(_OBJECTS), found, strict=False))


def _seen(page: Any, count: int, limits: ParseLimits) -> list[str]:
    from shared.documents.seeing import lines_in  # noqa: PLC0415 - its models take a second to load

    if count > limits.scans:
        raise DocumentFailed("too_complex", f"More than {limits.scans} of its pages are pictures.")
    bitmap = page.render(scale=_SCAN_PIXELS / max(*page.get_size(), 1.0))
    return lines_in(bitmap.to_numpy())


class _Contents:
    """A document's bookmarks, which part its text into sections: where a line says what the next of them does."""

    def __init__(self, document: Any) -> None:
        self._ahead = list(_bookmarks(document))[::-1]
        self._under: tuple[str, ...] = ()

    def cut(self, lines: list[str], number: int) -> Iterator[Section]:
        """Yield the sections of a page, given by its lines; pages are told in order."""
        begun: list[str] = []
        said = [_bare(line) for line in lines]
        while self._is_due(number) and not any(self._names(line) for line in said):
            self._under = self._ahead.pop()[1]  # no line says it: then it is the page that it names
        for line, bare in zip(lines, said, strict=True):
            if self._is_due(number) and self._names(bare):
                yield from self._section(begun, number)
                begun, self._under = [], self._ahead.pop()[1]
            begun.append(line)
        yield from self._section(begun, number)
        while self._is_due(number):
            self._under = self._ahead.pop()[1]

    def _is_due(self, number: int) -> bool:
        return bool(self._ahead) and self._ahead[-1][0] <= number

    def _names(self, line: str) -> bool:
        """Whether a line says what the next bookmark does; a number may stand before it."""
        wanted = _bare(self._ahead[-1][1][-1])
        return line.endswith(wanted) and len(line) <= len(wanted) + _NUMBER

    def _section(self, lines: list[str], number: int) -> Iterator[Section]:
        if lines:
            yield Section(flowed(lines), self._under, number + 1)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


def _bookmarks(document: Any) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each bookmark that leads to a page of the document, in their order: the page from 0, its path."""
    path: tuple[str, ...] = ()
    for _, mark in zip(range(_BOOKMARKS), document.get_toc(max_depth=_DEPTH), strict=False):
        goal = mark.get_dest()
        number = goal.get_index() if goal else None
        title = " ".join(without_controls(mark.get_title()).split())[:_TITLE]
        if number is not None and number >= 0 and title:
            path = (*path[: mark.level], title)
            yield number, path
