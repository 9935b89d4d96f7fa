"""The header that has a browser keep what it gets, under the name that the file has (RFC 6266)."""

from __future__ import annotations

import re
from urllib.parse import quote

_UNSAFE = re.compile(r'[^\x20-\x7e]|["\\%]')
"""What a quoted name may not hold, or what some read as an escape in it."""

_PLAIN = "!#$&+^`|~"
"""Characters of a coded name that stand for themselves, beside letters, digits and `_.-`."""


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
