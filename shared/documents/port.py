"""What parsing a document yields, and how it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

from shared.kernel.errors import LodestoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMAGES: Final = frozenset({"jpg", "jpeg", "png", "bmp", "gif"})
"""Extensions of documents whose text has to be read off a picture."""

EXTENSIONS: Final = IMAGES | {
    *("pdf", "doc", "docx", "ppt", "pptx", "xls", "xlsx", "xlsm"),
    *("md", "markdown", "html", "epub", "mobi", "rtf", "txt"),
}
"""Extensions of documents (seed, Image, file, and message limits)."""

FailureCode = Literal[
    "damaged",
    "empty",
    "encrypted",
    "no_text",
    "not_readable_here",
    "too_complex",
    "too_long",
    "unsupported",
    "wrong_type",
]
"""Why a document has no chunks.

`damaged`: it can't be read, or only a part of it is there. `empty`: it has no bytes. `encrypted`: it asks for a
password. `no_text`: it was read, and says nothing. `not_readable_here`: nothing in this deployment reads pictures.
`too_complex`: reading it took more memory or time than one file may. `too_long`: it has more text than is kept.
`unsupported`: of a variant of its format that is not read. `wrong_type`: its content is not what its name says.
"""


@dataclass(frozen=True)
class Section:
    """A run of text of a document under one heading, on one page, in one sheet.

    `heading` is the path of headings above it, outermost first; `page` counts pages or slides from 1; `sheet` is a
    sheet's name. Paragraphs are parted by blank lines, rows of tables are lines.
    """

    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    sheet: str | None = None


@dataclass(frozen=True)
class Chunk:
    """A piece of a document that is found as one: whole sentences of one section, or of small neighbouring ones.

    `heading` is the path that all of its sections are under; `page` and `sheet` are those of its beginning.
    """

    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    sheet: str | None = None


class DocumentFailed(LodestoreError):
    """This file can't be made chunks of, however often it is tried; `message` tells its user why and what helps."""

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(message)
        self.code: FailureCode = code


class Parser(Protocol):
    """Reads documents."""

    def parse(self, path: Path, extension: str) -> Iterator[Chunk]:
        """Yield the chunks of a file in order, while it is being read; nothing of it is held.

        `extension` is one of `EXTENSIONS`, in small letters; it decides how the file is read.

        Raises:
            DocumentFailed: at any chunk, the first one included; what was yielded before it counts for nothing.
        """
