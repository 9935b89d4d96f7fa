"""Usage: what a project stores and how often it is asked, by surface. Approximate, and no request waits for it.

| what | pk | sk | attributes |
| --- | --- | --- | --- |
| stored now | `U#{tenant}` | project | `{surface}__{what}`: bytes and counts |
| this month | `U#{tenant}#{yyyymm}` | project | `{surface}__requests` |
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.parallel import together
from shared.aws.table import Query
from shared.aws.writes import Update
from shared.kernel import cursor
from shared.kernel.contention import LostRace
from shared.kernel.errors import InvalidInput, Unavailable
from shared.kernel.scope import NAME
from shared.tenancy.quotas import month_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Scope
    from shared.tenancy.background import Later
    from shared.tenancy.models import KeyRecord
    from shared.tenancy.quotas import Balance, Quotas

FLUSH_MS = 60_000
_MONTHS_KEPT_SECONDS = 400 * 86_400
_BETWEEN = "__"


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


@dataclass(frozen=True)
class ProjectUsage:
    """What one project stores, and this month's requests by surface and balances of the keys bound to it."""

    project: str
    stored: dict[str, dict[str, int]]
    requests: dict[str, int]
    quotas: list[Balance]


@dataclass(frozen=True)
class UsagePage:
    """Usage of some projects in order of their ids, the balances of unbound keys, and the cursor of the next page."""

    month: str
    projects: list[ProjectUsage]
    unbound: list[Balance]
    next_page: str | None


class Usage:
    """Reads what the meters have written: a minute old, or a little more."""

    def __init__(self, table: Table, clock: Clock, quotas: Quotas) -> None:
        self._table = table
        self._clock = clock
        self._quotas = quotas

    def of_project(self, scope: Scope, asker: KeyRecord) -> UsagePage:
        """Return the usage of one project, used or not, and the balances of `asker` if it is bound to none."""
        month, name = month_of(self._clock.now_ms()), scope.project
        stored, asked, quotas, own = together(
            lambda: self._table.get((stored_partition(scope.tenant), name)),
            lambda: self._table.get((month_partition(scope.tenant, month), name)),
            lambda: self._quotas.balances(scope.tenant, low=name, high=name),
            lambda: self._quotas.of_key(asker) if asker.project is None else [],
        )
        return UsagePage(month, [_usage(name, stored or {}, asked or {}, quotas=quotas)], own, None)

    def of_tenant(self, tenant: str, *, limit: int, page: str | None = None) -> UsagePage:
        """Return the usage of at most `limit` projects of a tenant, after those of the page before.

        Raises:
            InvalidInput: a cursor of another list.
        """
        month = month_of(self._clock.now_ms())
        after = _position(page, tenant) if page else ""
        low = f"{after}!"
        stored, asked = together(
            lambda: self._read(stored_partition(tenant), low, limit + 1),
            lambda: self._read(month_partition(tenant, month), low, limit + 1),
        )
        names = sorted(stored.keys() | asked.keys())
        shown = names[:limit]
        quotas = self._quotas.balances(tenant, low=after, high=shown[-1] if shown else after)
        projects = [_usage(n, stored.get(n, {}), asked.get(n, {}), quotas=quotas) for n in shown]
        more = len(names) > limit
        next_page = cursor.encode(shown[-1], "usage", tenant) if more else None
        return UsagePage(month, projects, [q for q in quotas if q.project is None], next_page)

    def _read(self, pk: str, low: str, size: int) -> dict[str, Item]:
        items = self._table.query(Query(pk, between=(low, "~"), size=size)).items
        return {item["sk"]: item for item in items}


def _usage(project: str, stored: Item, asked: Item, *, quotas: list[Balance]) -> ProjectUsage:
    requests = {surface: counts["requests"] for surface, counts in by_surface(asked).items()}
    return ProjectUsage(project, by_surface(stored), requests, [q for q in quotas if q.project == project])


def _position(page: str, tenant: str) -> str:
    position = cursor.decode(page, "usage", tenant, field="page")
    # A cursor can be forged: it may name no place but one of the list.
    if isinstance(position, str) and NAME.fullmatch(position):
        return position
    raise InvalidInput.at("query", "page", message="This cursor was not given out for this list.")


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
        """Note that a request of a project was admitted. What earlier ones stored is written with it, if it is due."""
        self._requests.note(scope, surface, {"requests": 1})
        self._stored.remind()

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
        self._add(scope, {f"{surface}{_BETWEEN}{what}": n for what, n in deltas.items() if n})
        self.remind()

    def remind(self) -> None:
        """Have what waits be written, if nothing was for a minute."""
        now = self._clock.now_ms()
        with self._lock:
            if now < self._due or not self._counts:
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
