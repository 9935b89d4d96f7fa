"""Usage: what a project stores and how often it is asked, by surface. Approximate, and no request waits for it.

| what | pk | sk | attributes |
| --- | --- | --- | --- |
| stored now | `U#{tenant}` | project | `{surface}__{what}`: bytes and counts |
| this month | `U#{tenant}#{yyyymm}` | project | `{surface}__requests` |
"""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from shared.aws.writes import Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Scope
    from shared.tenancy.background import Later

FLUSH_MS = 60_000
_MONTHS_KEPT_SECONDS = 400 * 86_400
_BETWEEN = "__"


def month_of(ms: int) -> str:
    """Return the calendar month (UTC) of a moment as `yyyymm`."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y%m}"


def stored_partition(tenant: str) -> str:
    """Return the partition of what a tenant's projects store."""
    return f"U#{tenant}"


def month_partition(tenant: str, month: str) -> str:
    """Return the partition of a tenant's requests in one month."""
    return f"U#{tenant}#{month}"


def by_surface(item: Item) -> dict[str, dict[str, int]]:
    """Return the counts of an item as `{surface: {what: n}}`; a count that drifted below zero is zero."""
    counts: dict[str, dict[str, int]] = {}
    for name, value in sorted(item.items()):
        surface, mark, what = name.partition(_BETWEEN)
        if mark:
            counts.setdefault(surface, {})[what] = max(0, value)
    return counts


class UsageMeter:
    """Collects counts in this process and adds them to the table at most once a minute.

    Safe for threads. What an instance has not written when it ends is lost.
    """

    def __init__(self, table: Table, clock: Clock, later: Later) -> None:
        self._stored = _Pot(table, clock, later, place=_stored_update)
        self._requests = _Pot(table, clock, later, place=_requests_update)

    def note(self, scope: Scope, surface: str, **deltas: int) -> None:
        """Note that what a surface stores of a project changed: `bytes=1200, artifacts=1`, negative for less."""
        self._stored.note(scope, surface, deltas)

    def count_request(self, scope: Scope, surface: str) -> None:
        """Note that a request of a project was admitted."""
        self._requests.note(scope, surface, {"requests": 1})

    def flush(self) -> None:
        """Write what was noted, now: before an instance ends (the local run, the sweeper, tests)."""
        self._stored.flush()
        self._requests.flush()


class _Pot:
    """Counts on their way to one kind of item.

    Each kind has its own minute, so that what a request stores need not wait behind its being counted:
    an instance that answers one request and is never asked again has written both.
    """

    def __init__(self, table: Table, clock: Clock, later: Later, *, place: Callable[..., Update]) -> None:
        self._table = table
        self._clock = clock
        self._later = later
        self._place = place
        self._lock = threading.Lock()
        self._counts: dict[Scope, Counter[str]] = {}
        self._due = 0

    def note(self, scope: Scope, surface: str, deltas: dict[str, int]) -> None:
        now = self._clock.now_ms()
        self._add(scope, {f"{surface}{_BETWEEN}{what}": n for what, n in deltas.items() if n})
        with self._lock:
            if now < self._due:
                return
            self._due = now + FLUSH_MS
        self._later(self.flush)

    def flush(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, {}
        for scope, added in counts.items():
            self._write(scope, added)

    def _write(self, scope: Scope, counts: Counter[str]) -> None:
        try:
            self._table.write(self._place(scope, counts, self._clock.now_ms()))
        except (LostRace, Unavailable):
            self._add(scope, counts)

    def _add(self, scope: Scope, counts: Mapping[str, int]) -> None:
        if counts:
            with self._lock:
                self._counts.setdefault(scope, Counter()).update(counts)


def _stored_update(scope: Scope, counts: Counter[str], _: int) -> Update:
    return Update((stored_partition(scope.tenant), scope.project), add=counts)


def _requests_update(scope: Scope, counts: Counter[str], now_ms: int) -> Update:
    key = (month_partition(scope.tenant, month_of(now_ms)), scope.project)
    return Update(key, put={"ttl": now_ms // 1000 + _MONTHS_KEPT_SECONDS}, add=counts)
