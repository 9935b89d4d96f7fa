"""Requests a minute: exact under any concurrency, and a write only where there is a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed
from shared.aws.writes import Update
from shared.kernel.errors import RateLimited

if TYPE_CHECKING:
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Scope

MINUTE_MS = 60_000
_KEPT_SECONDS = 3600


def counter_of_key(key_id: str) -> str:
    """Return the name of a key's counter."""
    return f"key#{key_id}"


def counter_of_project(scope: Scope) -> str:
    """Return the name of a project's counter."""
    return f"project#{scope.tenant}#{scope.project}"


class RateLimits:
    """Counters of calendar minutes, one item a counter and minute (pk `R#{counter}`, sk the minute)."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._spent: tuple[int, set[tuple[str, int]]] = (0, set())

    def spend(self, counter: str, limit: int | None, *, whose: str) -> None:
        """Count one request; without a limit, do nothing.

        Raises:
            RateLimited: `limit` requests were counted in this minute; says how long it still lasts.
        """
        if limit is None:
            return
        now = self._clock.now_ms()
        minute = now // MINUTE_MS
        if (counter, limit) in self._spent_in(minute) or not self._count(counter, minute, limit):
            self._spent_in(minute).add((counter, limit))
            seconds = (minute + 1) * 60 - now // 1000
            raise RateLimited(f"The {whose} allows {limit} requests a minute.", retry_after=max(1, seconds))

    def _count(self, counter: str, minute: int, limit: int) -> bool:
        update = Update(
            (f"R#{counter}", str(minute)),
            put={"ttl": minute * 60 + _KEPT_SECONDS},
            add={"n": 1},
            when="attribute_not_exists(#n) OR #n < :limit",
            values={"limit": limit},
        )
        try:
            self._table.write(update)
        except ConditionFailed:
            return False
        return True

    def _spent_in(self, minute: int) -> set[tuple[str, int]]:
        # What is spent stays spent for its minute: who hammers on is refused without a write.
        if self._spent[0] != minute:
            self._spent = (minute, set())
        return self._spent[1]
