"""Pages of lists: their tokens, their bounds, and where they are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel import cursor
from shared.kernel.ids import ulid
from shared.kernel.strict_json import compact
from shared.stores.records import has_form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.stores.records import Record

ANSWER_BYTES = 4_400_000
"""Where a page is cut: in base64, as Lambda carries it, that is just below its 6 MB (design §1, 11)."""

_PREFIX = "page_"
_LAST_MS = (1 << 48) - 1


@dataclass(frozen=True)
class Page:
    """What a list answers: objects, and the token of the next page (None at the end)."""

    data: list[Record]
    next_page: str | None

    def view(self) -> Record:
        """Return the page as an answer has it."""
        return {"data": self.data, "next_page": self.next_page}


@dataclass(frozen=True)
class Moments:
    """A span of time in milliseconds, both ends included; None where it is open."""

    first: int | None = None
    last: int | None = None

    @property
    def binding(self) -> tuple[str, str]:
        """What binds a token to the span."""
        return str(self.first), str(self.last)


ANY_TIME = Moments()


def page_of(entries: Sequence[tuple[Any, Record]], limit: int, binding: tuple[str, ...]) -> Page:
    """Return the page of the first of (position, view) pairs, cut at `limit` and at the size that an answer may have.

    One more pair than the limit tells that there is a next page.
    """
    size, shown = 0, 0
    for _, view in entries[:limit]:
        size += len(compact(view).encode())
        if shown and size > ANSWER_BYTES:
            break
        shown += 1
    more = len(entries) > shown
    return Page([view for _, view in entries[:shown]], token(entries[shown - 1][0], binding) if more else None)


def token(position: Any, binding: tuple[str, ...]) -> str:
    """Return the token of the page after a position; it is good for the same list only."""
    return _PREFIX + cursor.encode(position, *binding)


def position_of(page: str | None, binding: tuple[str, ...], fits: Callable[[str], bool]) -> str | None:
    """Return the position that a token holds; `fits` tells whether it can be of the list, since a token can be forged.

    Raises:
        InvalidInput: it was not given out for this list.
    """
    if page is None:
        return None
    marked = page.removeprefix(_PREFIX) if page.startswith(_PREFIX) else ""
    position: str = cursor.decode(marked, *binding, field="page", fits=lambda p: isinstance(p, str) and fits(p))
    return position


def id_in(page: str | None, binding: tuple[str, ...], prefix: str) -> str | None:
    """Return the id that a token holds.

    Raises:
        InvalidInput: it was not given out for this list.
    """
    return position_of(page, binding, lambda position: has_form(position, prefix))


def id_bounds(prefix: str, created: Moments, *, before: str | None = None) -> tuple[str, str] | None:
    """Return the first and last id that can be of a span, and none later than `before`; None where no id can be."""
    first, last = created.first or 0, _LAST_MS if created.last is None else created.last
    if last < 0 or first > _LAST_MS:
        return None
    # A ULID's first ten characters are its moment.
    low = f"{prefix}_{ulid(max(first, 0))[:10]}"
    high = f"{prefix}_{ulid(min(last, _LAST_MS))[:10]}~"
    high = min(high, before) if before else high
    return (low, high) if low <= high else None
