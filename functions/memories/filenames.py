"""The names of files: what they may be called, and which kind of file a name says they are (seed, `file.filename`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from shared.memories.files.media import MEDIA_TYPES

if TYPE_CHECKING:
    from collections.abc import Collection

    from functions.memories.fields import Fields

FILE_NAME_CHARACTERS: Final = 255

UPLOADED: Final = frozenset(MEDIA_TYPES)
"""Extensions of what can be uploaded: documents, and images for `input_image` (contract, "Files")."""

_FORM = re.compile(r"[^/\\\x00-\x1f\x7f-\x9f]+\.(\w+)")


def read_filename(given: Fields, extensions: Collection[str], name: str = "filename") -> tuple[str, str] | None:
    """Return a filename as it is written and its extension in small letters, or None for one that breaks a rule.

    It has at most 255 characters, no folders and no control characters, and one of the `extensions`.
    """
    written = given.text(name, most=FILE_NAME_CHARACTERS, required=True)
    if written is None:
        return None
    form = _FORM.fullmatch(given.given[name])  # as it came: a text is read without its NULs
    if form is None:
        given.refuse(
            name, "A name with an extension, without folders or control characters", "file_name", value=written
        )
    elif form[1].lower() not in extensions:
        given.refuse(
            name, f"The extension should be one of {', '.join(sorted(extensions))}", "extension", value=written
        )
    else:
        return written, form[1].lower()
    return None
