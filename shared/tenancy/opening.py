"""Whether a table may be read: it names itself in a row of its own.

A table that AWS has restored to an earlier moment comes with the row of the table that it is a copy of, and so with
another name. It is closed until `make restore` has made it forget what was erased since (decision 18). A table without
such a row is a new one: the sweeper's first run writes it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from shared.aws.errors import ConditionFailed
from shared.aws.writes import ABSENT, Put
from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.kernel.clock import Clock

MARK: Final[Key] = ("SYS#table", "open")

CLOSED = ""
"""What a table is named in its row while it is closed: no table has this name."""

SECONDS: Final = 55
"""How long an instance goes on without looking again: as long as it remembers a key."""

AGAIN_SECONDS: Final = 60


class TableClosed(Unavailable):
    """The table is being restored; nothing of it may be read or written yet."""

    def __init__(self) -> None:
        super().__init__("The store is closed while it is restored. Try again later.", retry_after=AGAIN_SECONDS)


def is_open(mark: Item | None, name: str) -> bool:
    """Tell whether the table of this name is open, by the row that it has (None: it has none)."""
    return mark is None or mark["name"] == name


def check_open(table: Table) -> None:
    """Make sure that a table is open.

    Raises:
        TableClosed: it is not.
    """
    if not is_open(table.get(MARK), table.name):
        raise TableClosed


def open_new(table: Table) -> None:
    """Make sure that a table is open, and give a new one its row.

    Raises:
        TableClosed: it is not.
    """
    mark = table.get(MARK)
    if mark is None:
        with suppress(ConditionFailed):  # two first runs at the same time: the other's is the same row, or is looked at
            table.write(Put(row_of(table.name), ABSENT))
    elif not is_open(mark, table.name):
        raise TableClosed


def row_of(name: str) -> Item:
    """Return the row of a table that is open by this name."""
    pk, sk = MARK
    return {"pk": pk, "sk": sk, "name": name}


class Opening:
    """Looks at most once in 55 s whether a table is open, for an instance that works without keys."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._until = 0

    def check(self) -> None:
        """Make sure that the table was open a moment ago.

        Raises:
            TableClosed: it is not.
        """
        now = self._clock.now_ms()
        if now < self._until:
            return
        check_open(self._table)
        self._until = now + SECONDS * 1000
