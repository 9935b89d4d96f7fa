"""Reads text documents, sheets, slides and books of the office formats."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final

from shared.documents.markup import sections_of_markdown
from shared.documents.native import text_of
from shared.documents.port import Section
from shared.documents.rich_text import slices_of
from shared.documents.slides import sections_of_slides
from shared.documents.word import text_of_doc
from shared.documents.workbooks import workbooks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_SHEET: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_NAME: Final = 200
_ROWS_END: Final = "\t\t"


def sections_of_office(path: Path, extension: str) -> Iterator[Section]:
    """Yield a document's sections: with headings where its format has some, sheets by name, slides by number.

    Raises:
        DocumentFailed: `too_complex`; other errors say that it is damaged.
    """
    return _READERS[extension](path, extension)


def _headed(path: Path, extension: str) -> Iterator[Section]:
    return sections_of_markdown([text_of(path, extension)], converted=True)


def _newer_sheets(path: Path, extension: str) -> Iterator[Section]:
    for workbook in workbooks_of(path) or (path,):
        yield from _sheets_of(workbook, extension)


def _sheets_of(content: Path | bytes, extension: str) -> Iterator[Section]:
    text = text_of(content, extension)  # each sheet is a heading and a table, in which no line begins so
    heads = list(_SHEET.finditer(text))
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
        name = _ESCAPED.sub(r"\1", head[1]).strip()[:_NAME]
        yield from sections_of_markdown([text[head.end() : end]], sheet=name, converted=True)


def _slides(path: Path, extension: str) -> Iterator[Section]:
    mark = f"slide{secrets.token_hex(16)}n"  # no text can hold it
    before, *slides = text_of(path, extension, marks=f"{mark}{{page_num}}n").split(mark)
    yield from sections_of_markdown([before], converted=True)
    for each in slides:
        number, _, slide = each.partition("n")
        yield from sections_of_markdown([slide], page=int(number), converted=True)


def _lines(path: Path, extension: str) -> Iterator[Section]:
    """The older formats' text has no marks: each line is a paragraph, and tabs part a table's cells."""
    lines = text_of(path, extension, "plain").split("\n")
    yield Section("\n\n".join(filter(None, map(_rows, lines))))


def _older_slides(path: Path, extension: str) -> Iterator[Section]:
    """The library tells the text of all slides as one; it reads what does not list its slides."""
    return iter(sections_of_slides(path) or _lines(path, extension))


def _words(path: Path, extension: str) -> Iterator[Section]:
    """The library takes Chinese in pieces of two bytes for Latin; it reads only what is older than such pieces."""
    text = text_of_doc(path)
    return _lines(path, extension) if text is None else iter((Section(text),))


def _rows(line: str) -> str:
    return line.replace(_ROWS_END, "\n").strip()


def _rich(path: Path, extension: str) -> Iterator[Section]:
    for part in slices_of(path.read_bytes()):
        yield from sections_of_markdown([text_of(part, extension)], converted=True)


_READERS: Final[Mapping[str, Callable[[Path, str], Iterator[Section]]]] = {
    **dict.fromkeys(("docx", "epub"), _headed),
    **dict.fromkeys(("xlsx", "xlsm"), _newer_sheets),
    "xls": _sheets_of,
    "doc": _words,
    "ppt": _older_slides,
    "pptx": _slides,
    "rtf": _rich,
}
