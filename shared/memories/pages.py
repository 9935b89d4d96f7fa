"""Pages of lists: cut by count and by size, with a cursor that is good for the same list only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from shared.kernel import cursor
from shared.memories.texts import size_of

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from shared.aws.items import Item

    Record = dict[str, Any]

PAGE_BYTES: Final = 3_000_000
"""Where a page is cut by what its texts take; written as JSON and in base64 it stays below Lambda's 6 MB."""


def fitting(rows: Sequence[Item], limit: int) -> int:
    """Return how many of the first rows one page takes: at most `limit`, and at least one where there is one."""
    size = 0
    for number, row in enumerate(rows[:limit]):
        size += _size(row)
        if number and size > PAGE_BYTES:
            return number
    return min(len(rows), limit)


def cursor_of(position: str, binding: tuple[str, ...]) -> str:
    """Return the cursor of the page after a position."""
    return cursor.encode(position, *binding)


def position_in(given: str | None, binding: tuple[str, ...], form: re.Pattern[str]) -> str | None:
    """Return the position that a cursor holds; a forged one may name no place that has not the list's form.

    Raises:
        InvalidInput: it was not given out for this list.
    """
    if given is None:
        return None
    position: str = cursor.decode(given, *binding, fits=lambda p: isinstance(p, str) and form.fullmatch(p) is not None)
    return position


def _size(row: Item) -> int:
    return size_of(row) + len(row.get("metadata", "").encode())
