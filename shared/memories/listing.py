"""The list of a user's memories: newest first, by kind and filters, a page at a time."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import together
from shared.aws.table import Query
from shared.kernel.errors import Unavailable
from shared.kernel.strict_json import compact
from shared.memories.filters import lets_through, span_of
from shared.memories.pages import cursor_of, fitting, fitting_views, position_in
from shared.memories.sight import LOOKS, document_of, documents_of, is_visible
from shared.memories.texts import texts_of
from shared.memories.views import memory_view
from shared.search.port import AllOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing
    from shared.memories.models import Kind
    from shared.memories.records import UserAddress
    from shared.search.port import Within

    Record = dict[str, Any]
    Documents = dict[Key, Item]

READ_ON_SECONDS: Final = 5.0
"""How long a list reads on for a memory that its filters let through."""
READ_ON: Final = 300

_POSITION = re.compile("[0-9]{15}#[0-9a-f-]{36}")
_LAST_MS = 10**15 - 1


@dataclass(frozen=True)
class ListWish:
    """Which memories to list: of a kind, that `where` lets through, after the cursor; `filters` as they were sent."""

    address: UserAddress
    limit: int
    kind: Kind | None = None
    where: AllOf = field(default_factory=AllOf)
    filters: Any = None
    cursor: str | None = None

    @property
    def binding(self) -> tuple[str, ...]:
        """What binds a cursor to the list."""
        scope = self.address.scope
        asked = compact([self.kind, self.filters or {}])
        return "memories", scope.tenant, scope.project, self.address.user, asked


@dataclass(frozen=True)
class Listing:
    """Lists memories."""

    backing: Backing
    seconds: float = READ_ON_SECONDS
    monotonic: Callable[[], float] = time.monotonic

    def page(self, wish: ListWish) -> Record:
        """Return one page; empty with a cursor only where reading on took too long.

        Raises:
            InvalidInput: a cursor of another list.
        """
        after = position_in(wish.cursor, wish.binding, _POSITION)
        for _ in range(LOOKS):
            rows, documents, reached = self._read(wish, after)
            shown = rows[: fitting(rows, wish.limit)]
            try:
                texts = texts_of(self.backing.objects, shown)
            except ObjectMissing:
                continue  # one was changed or removed since its row was read: look again
            views = [
                memory_view(wish.address.scope, row, text, document=document_of(row, documents))
                for row, text in zip(shown, texts, strict=True)
            ]
            views = views[: fitting_views(views)]
            last = _position(rows[len(views) - 1]) if len(views) < len(rows) else reached
            return {"data": views, "next_cursor": None if last is None else cursor_of(last, wish.binding)}
        raise Unavailable

    def _read(self, wish: ListWish, after: str | None) -> tuple[list[Item], Documents, str | None]:
        """Return a row more than a page has, or fewer with the position that was reached when time was up.

        With them come the documents that some of them were made of.
        """
        query = _query(wish, after)
        rows: list[Item] = []
        documents: Documents = {}
        if query is None:
            return rows, documents, None
        started = self.monotonic()
        table = self.backing.table
        generations, page = together(lambda: table.get(wish.address.generation_key), lambda: table.query(query))
        while True:
            some = [row for row in page.items if _position(row) != after and lets_through(wish.where, row)]
            documents |= documents_of(table, some)
            rows += [row for row in some if is_visible(row, generations, document_of(row, documents))]
            if len(rows) > wish.limit:
                return rows[: wish.limit + 1], documents, None
            if page.last is None:
                return rows, documents, None
            if self.monotonic() - started > self.seconds:
                return rows, documents, _position(page.items[-1])
            page = table.query(query.onward(page.last))


def _query(wish: ListWish, after: str | None) -> Query | None:
    """Return the narrowest range that holds what is wanted, newest first, or None where nothing can match."""
    bounds = _bounds(span_of(wish.where), after)
    if bounds is None:
        return None
    prefix = wish.address.user if wish.kind is None else f"{wish.address.user}#{wish.kind}"
    size = READ_ON if wish.where.parts else wish.limit + 2
    order = "l1" if wish.kind is None else "l3"
    between = f"{prefix}#{bounds[0]}", f"{prefix}#{bounds[1]}"
    return Query(wish.address.pk, order, between=between, size=size, newest_first=True)


def _bounds(span: Within, after: str | None) -> tuple[str, str] | None:
    first, last = max(span.gte or 0, 0), _LAST_MS if span.lt is None else min(span.lt - 1, _LAST_MS)
    if last < first:
        return None
    low, high = f"{first:015d}", f"{last:015d}#~"
    high = high if after is None else min(high, after)
    return (low, high) if low <= high else None


def _position(row: Item) -> str:
    """Return a memory's place in the list: when it was made, and its id."""
    place: str = row["l1"].split("#", 1)[1]
    return place
