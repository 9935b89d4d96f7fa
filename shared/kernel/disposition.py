"""The header that has a browser keep what it gets, under the name that the file has (RFC 6266)."""

from __future__ import annotations

import re
from urllib.parse import quote

_UNSAFE = re.compile(r'[^\x20-\x7e]|["\\%]')
"""What a quoted name may not hold, or what some read as an escape in it."""

_PLAIN = "!#$&+^`|~"
"""Characters of a coded name that stand for themselves, beside letters, digits and `_.-`."""


URL_CHARACTERS = 3_600
"""What the header may take of a URL: S3 takes 8 KB of URL and headers, and the rest of a URL has up to 4,000."""


def attachment_in_url(filename: str | None) -> str:
    """Return `attachment` of a name for a presigned URL, where it is encoded once more: a long name without its end.

    The extension stays.
    """
    stem, dot, extension = (filename or "").rpartition(".")
    header = attachment(filename)
    while stem and len(quote(header, safe="")) > URL_CHARACTERS:
        stem = stem[:-1]
        header = attachment(f"{stem}{dot}{extension}")
    return header


def attachment(filename: str | None) -> str:
    """Return the value of `Content-Disposition` for a file of any name, or of none.

    A name that is not plain ASCII is given twice: in full, percent-encoded, and with `_` for what old clients misread.
    """
    if filename is None:
        return "attachment"
    plain = _UNSAFE.sub("_", filename)
    if plain == filename:
        return f'attachment; filename="{plain}"'
    coded = quote(filename, safe=_PLAIN, errors="replace")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{coded}"
