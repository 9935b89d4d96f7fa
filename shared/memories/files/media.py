"""What kinds of files there are, by extension: the media type that each is given back with."""

from __future__ import annotations

from typing import Final

from shared.documents.port import EXTENSIONS

_OFFICE = "application/vnd.openxmlformats-officedocument"

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""The media types that an `input_image` takes (seed, Image, file, and message limits)."""

MEDIA_TYPES: Final = {
    "bmp": "image/bmp",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "epub": "application/epub+zip",
    "gif": "image/gif",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mobi": "application/x-mobipocket-ebook",
    "pdf": "application/pdf",
    "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "rtf": "application/rtf",
    "txt": "text/plain",
    "webp": "image/webp",
    "xls": "application/vnd.ms-excel",
    "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
}
"""The media types by extension: of the documents, and of the images that are no documents."""


def media_type_of(extension: str) -> str:
    """Return the media type of files with an extension, in small letters."""
    return MEDIA_TYPES[extension]


def is_document(extension: str | None) -> bool:
    """Tell whether files with this extension can be read as documents."""
    return extension in EXTENSIONS


def is_picture(media_type: str) -> bool:
    """Tell whether an `input_image` may name a file of this media type."""
    return media_type in PICTURES
