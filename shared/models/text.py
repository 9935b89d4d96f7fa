"""What a model is given of a text: characters that every model can take, and no more of them than it reads."""

from __future__ import annotations

import re

# NUL ends a string in C; half of a surrogate pair is no character, and UTF-8 has none.
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
NOTHING = "."


def legible(text: str) -> str:
    """Return a text with spaces for what is no character: NUL, and halves of surrogate pairs."""
    return _UNREADABLE.sub(" ", text)


def readable(text: str, characters: int) -> str:
    """Return so many characters of a text's start, legibly; of a blank one, `NOTHING`."""
    cut = legible(text[:characters])
    return cut if cut.strip() else NOTHING


def first_bytes(text: str, size: int) -> str:
    """Return as many whole characters from the text's start as fit into `size` bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")
