"""Checks containers that are zip files: what their directory says, and that it is true."""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from zipfile import ZipFile, ZipInfo

    from shared.documents.limits import ParseLimits

_MAIN_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "docx": ("word/",),
    "xlsx": ("xl/",),
    "xlsm": ("xl/",),
    "pptx": ("ppt/",),
    "epub": ("META-INF/container.xml",),
}
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_LARGE: Final = 1 << 20
_READ_BYTES: Final = 1 << 16
_ENCRYPTED: Final = 0x1
_LOCKED_TEXT: Final = re.compile(rb"CipherReference\s[^>]{0,999}\.x?html?[\"']", re.IGNORECASE)
_LOCKS: Final = "META-INF/encryption.xml"
_LOCKS_BYTES: Final = 1 << 20


def check_package(path: Path, extension: str, limits: ParseLimits) -> None:
    """Refuse a zip container that is none of its extension's, asks for a password, is cut off, or is a bomb.

    Every part is unpacked once, into nothing: a directory that tells less than there is, is found out here.

    Raises:
        DocumentFailed: `damaged`, `encrypted`, `too_complex`, `unsupported`, `wrong_type`.
    """
    try:
        with zipfile.ZipFile(path) as package:
            _check_directory(package.infolist(), extension, limits)
            _check_parts(package, limits)
            _check_locks(package)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, UnicodeError):
        raise DocumentFailed("damaged", "It is damaged, or not the whole of it is there.") from None


def _check_directory(parts: Sequence[ZipInfo], extension: str, limits: ParseLimits) -> None:
    if len(parts) > limits.entries or sum(part.file_size for part in parts) > limits.unpacked:
        raise _bomb()
    if not any(part.filename.startswith(_MAIN_PARTS[extension]) for part in parts):
        raise DocumentFailed("wrong_type", f"Its name ends in .{extension}, and its content is another zip container.")
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise DocumentFailed("encrypted", "It is encrypted: send it without its password.")
    if any(part.compress_type not in _METHODS for part in parts):
        raise DocumentFailed("unsupported", "It is packed in a way that its format does not know.")
    if any(_leads_away(part.filename) for part in parts):
        raise DocumentFailed("damaged", "Its parts have names that lead out of it.")


def _leads_away(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]


def _check_parts(package: ZipFile, limits: ParseLimits) -> None:
    unpacked = 0
    for part in package.infolist():
        size = 0
        with package.open(part) as content:
            while piece := content.read(_READ_BYTES):  # its end says whether its checksum is right
                size += len(piece)
                if unpacked + size > limits.unpacked or (size > _LARGE and size > limits.ratio * part.compress_size):
                    raise _bomb()
        unpacked += size


def _check_locks(package: ZipFile) -> None:
    """Fonts of a book may be scrambled, which locks nothing; its texts may not."""
    if _LOCKS in package.namelist():
        with package.open(_LOCKS) as content:
            if _LOCKED_TEXT.search(content.read(_LOCKS_BYTES)):
                raise DocumentFailed("encrypted", "It is locked by its publisher, and can't be read.")


def _bomb() -> DocumentFailed:
    return DocumentFailed("too_complex", "Unpacked, it is larger than one file may be.")
