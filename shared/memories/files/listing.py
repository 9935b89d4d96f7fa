"""The list of a user's files: newest first, a page at a time."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.aws.parallel import together
from shared.aws.table import Query
from shared.memories.files.finding import is_there, seen_file
from shared.memories.files.views import file_views
from shared.memories.pages import cursor_of, position_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing
    from shared.memories.records import UserAddress

    Record = dict[str, Any]

READ_ON_SECONDS: Final = 5.0
"""How long a list reads on past files that were forgotten and are not removed yet."""

_POSITION = re.compile("[0-9]{15}#[0-9a-f-]{36}")
_FIRST, _LAST = "0" * 15, "9" * 15 + "#~"


@dataclass(frozen=True)
class FileListWish:
    """A page of one user's files: at most `limit`, after the cursor."""

    address: UserAddress
    limit: int
    cursor: str | None = None

    @property
    def binding(self) -> tuple[str, ...]:
        """What binds a cursor to the list."""
        return "files", self.address.scope.tenant, self.address.scope.project, self.address.user


@dataclass(frozen=True)
class Files:
    """Shows files."""

    backing: Backing
    seconds: float = READ_ON_SECONDS
    monotonic: Callable[[], float] = time.monotonic

    def file(self, scope: Scope, file_id: str, user_id: str | None = None) -> Record:
        """Return one file.

        Raises:
            NotFound: there is none, or it was deleted, or it is not of the user that is named.
        """
        row, _ = seen_file(self.backing, scope, file_id, user_id=user_id)
        return file_views(self.backing.table, scope, [row])[0]

    def page(self, wish: FileListWish) -> Record:
        """Return one page; short with a cursor only where reading on took too long.

        Raises:
            InvalidInput: a cursor of another list.
        """
        after = position_in(wish.cursor, wish.binding, _POSITION)
        rows, reached = self._read(wish, after)
        shown = rows[: wish.limit]
        last = _position(shown[-1]) if len(rows) > wish.limit else reached
        next_cursor = None if last is None else cursor_of(last, wish.binding)
        return {"data": file_views(self.backing.table, wish.address.scope, shown), "next_cursor": next_cursor}

    def _read(self, wish: FileListWish, after: str | None) -> tuple[list[Item], str | None]:
        """Return a row more than a page has, or fewer with the position that was reached when time was up."""
        table, query, started = self.backing.table, _query(wish, after), self.monotonic()
        now, rows = self.backing.clock.now_ms(), list[dict[str, Any]]()
        generations, page = together(lambda: table.get(wish.address.generation_key), lambda: table.query(query))
        while True:
            rows += [row for row in page.items if _position(row) != after and is_there(row, generations, now)]
            if len(rows) > wish.limit or page.last is None:
                return rows[: wish.limit + 1], None
            if self.monotonic() - started > self.seconds:
                return rows, _position(page.items[-1])
            page = table.query(query.onward(page.last))


def _query(wish: FileListWish, after: str | None) -> Query:
    user = wish.address.user
    between = f"{user}~{_FIRST}", f"{user}~{after or _LAST}"
    return Query(wish.address.pk, "l1", between=between, size=wish.limit + 2, newest_first=True)


def _position(row: Item) -> str:
    """Return a file's place in the list: when it came, and its id."""
    place: str = row["l1"].split("~", 1)[1]
    return place
