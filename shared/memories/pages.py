"""Pages of lists: cut by count and by size, with a cursor that is good for the same list only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from shared.kernel import cursor
from shared.kernel.strict_json import compact
from shared.memories.texts import size_of

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

    from shared.aws.items import Item

    Record = dict[str, Any]

PAGE_BYTES: Final = 4_400_000
"""Where a page is cut: in base64, as Lambda carries it, that is just below its 6 MB (design §1, 11)."""


def fitting(rows: Sequence[Item], limit: int) -> int:
    """Return how many of the first rows, at most `limit`, are worth reading for one page."""
    return _first(size_of(row) for row in rows[:limit])


def fitting_views(views: Sequence[Record]) -> int:
    """Return how many of the first views one page takes, as they are written."""
    return _first(len(compact(view).encode()) for view in views)


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


def _first(sizes: Iterable[int]) -> int:
    """Return how many of the first sizes fit in a page; at least one where there is one."""
    total, number = 0, 0
    for number, size in enumerate(sizes, start=1):
        total += size
        if number > 1 and total > PAGE_BYTES:
            return number - 1
    return number
