"""Tells what a file is from its content, and refuses what is not what its name says before any library reads it."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final

from shared.documents.compound import check_compound
from shared.documents.packages import check_package
from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from shared.documents.limits import ParseLimits

_HEAD: Final = 4_096
_PDF_WITHIN: Final = 1_024  # what may stand before "%PDF-", as all readers allow

_SIGNS: Final[tuple[tuple[int, bytes, str], ...]] = (
    (0, b"%PDF-", "pdf"),
    (0, b"{\\rtf", "rtf"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "compound"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"\xff\xd8\xff", "jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"GIF87a", "gif"),
    (0, b"GIF89a", "gif"),
    (60, b"BOOKMOBI", "mobi"),
    (60, b"TEXtREAd", "mobi"),
    (0, b"\x7fELF", "an executable"),
    (0, b"MZ", "an executable"),
    (0, b"\xca\xfe\xba\xbe", "an executable"),
    (0, b"\xcf\xfa\xed\xfe", "an executable"),
    (0, b"\xce\xfa\xed\xfe", "an executable"),
    (0, b"\x00asm", "an executable"),
    (0, b"\x1f\x8b", "an archive"),
    (0, b"BZh", "an archive"),
    (0, b"\xfd7zXZ\x00", "an archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "an archive"),
    (0, b"Rar!\x1a\x07", "an archive"),
    (0, b"\x28\xb5\x2f\xfd", "an archive"),
    (257, b"ustar", "an archive"),
    (0, b"SQLite format 3\x00", "a database"),
    (8, b"WEBP", "webp"),
    (4, b"ftyp", "a video"),
    (0, b"ID3", "a sound"),
    (0, b"OggS", "a sound"),
    (0, b"II*\x00", "tiff"),
    (0, b"MM\x00*", "tiff"),
    (0, b"BM", "bmp"),
)
_TEXTS: Final = frozenset({"txt", "md", "markdown", "html"})
_CONTENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("doc", "xls", "ppt"), "compound"),
    **dict.fromkeys(("docx", "xlsx", "xlsm", "pptx", "epub"), "zip"),
    **dict.fromkeys(("jpg", "jpeg"), "jpeg"),
    **{each: each for each in ("pdf", "rtf", "mobi", "png", "gif", "bmp")},
}
_TOLD: Final[Mapping[str, str]] = {"compound": "an Office file of the older formats", "zip": "a zip container"}


def check(path: Path, extension: str, limits: ParseLimits) -> None:
    """Refuse a file that is not of its extension's format, or is a container that no reader should open.

    Raises:
        DocumentFailed: `damaged`, `empty`, `encrypted`, `too_complex`, `unsupported`, `wrong_type`.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise DocumentFailed("wrong_type", "It is not a file.")
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise DocumentFailed("empty", "The file is empty.")
    found = content_of(head)
    if extension in _TEXTS:
        if found is not None:
            raise _wrong(extension, found)
    elif found != _CONTENT[extension]:
        if found == "compound" and _CONTENT[extension] == "zip":
            check_compound(path, extension, limits)  # a newer format with a password is put into an older one
        raise _wrong(extension, found)
    _CONTAINERS.get(found or "", _nothing)(path, extension, limits)


def content_of(head: bytes) -> str | None:
    """Return what the first 4 KiB of a file say that it is: an extension, `compound`, `zip`, words; None of a text."""
    for place, sign, found in _SIGNS:
        if head.startswith(sign, place) and (len(sign) > 3 or not _is_text(head)):
            return found
    # Looked for last: a text may speak of PDFs in its first lines.
    return "pdf" if b"%PDF-" in head[:_PDF_WITHIN] and not _is_text(head) else None


def _is_text(head: bytes) -> bool:
    return not any(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)


def _wrong(extension: str, found: str | None) -> DocumentFailed:
    what = f"{_TOLD.get(found, found)}" if found else "something else"
    return DocumentFailed("wrong_type", f"Its name ends in .{extension}, and its content is {what}.")


def _nothing(_path: Path, _extension: str, _limits: ParseLimits) -> None:
    """Not a container."""


_CONTAINERS: Final[Mapping[str, Callable[[Path, str, ParseLimits], None]]] = {
    "zip": check_package,
    "compound": check_compound,
}
