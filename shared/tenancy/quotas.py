"""Quotas of keys: calls a calendar month (UTC), exact under any concurrency, a write only for keys that have one.

A counter is one item a key and month: pk `Q#{tenant}#{yyyymm}`, sk `{project}#{key id}`, an unbound key's project
being empty. Of each kind it holds the calls taken, how many of these are still open, and the limit they were held to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed
from shared.aws.table import Query
from shared.aws.writes import Update
from shared.kernel.contention import persist
from shared.kernel.errors import RateLimited
from shared.tenancy.models import QUOTA_KINDS

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.tenancy.models import KeyRecord, QuotaKind

COUNTERS_SHOWN = 1000
_KEPT_SECONDS = 400 * 86_400


@dataclass(frozen=True)
class Reservation:
    """A call that was counted; kept with a job, it tells which counter to give back to."""

    key: Key
    kind: QuotaKind
    balance: Balance | None = field(default=None, compare=False)
    """What was left just after it was taken, where that is known."""


@dataclass(frozen=True)
class Balance:
    """One quota of one key in this month: `reserved` calls are taken but not ended, `used` ones ended."""

    key_id: str
    project: str | None
    kind: QuotaKind
    limit: int
    used: int
    reserved: int


def month_of(ms: int) -> str:
    """Return the calendar month (UTC) of a moment as `yyyymm`."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y%m}"


class Quotas:
    """The quotas of all keys."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def reserve(self, key: KeyRecord, kind: QuotaKind) -> Reservation | None:
        """Take one call of a key's quota, or nothing if it has none.

        Raises:
            RateLimited: this month's calls are taken; says how long the month still lasts.
        """
        limit = (key.quotas or {}).get(kind)
        if limit is None:
            return None
        now = self._clock.now_ms()
        spent = RateLimited(
            f"This key's {limit} calls of {kind} in this month are used up.", retry_after=_seconds_left(now)
        )
        if limit == 0:
            raise spent
        reservation = Reservation(_counter_key(key, month_of(now)), kind)
        update = Update(
            reservation.key,
            put={f"{kind}_limit": limit, "ttl": now // 1000 + _KEPT_SECONDS},
            add={kind: 1, f"{kind}_open": 1},
            when=f"attribute_not_exists(#{kind}) OR #{kind} < :limit",
            values={"limit": limit},
        )
        try:
            counter = persist(lambda: self._table.write(update))
        except ConditionFailed:
            raise spent from None
        return replace(reservation, balance=next(b for b in _balances(counter) if b.kind == kind))

    def settle(self, reservation: Reservation) -> None:
        """Count a reserved call as used."""
        persist(lambda: self._table.write(settled(reservation)))

    def give_back(self, reservation: Reservation) -> None:
        """Undo a reserved call, since what it was for failed."""
        persist(lambda: self._table.write(given_back(reservation)))

    def of_key(self, key: KeyRecord) -> list[Balance]:
        """Return this month's balances of one key, of quotas that it has not used too."""
        if not key.quotas:
            return []
        item = self._table.get(_counter_key(key, month_of(self._clock.now_ms()))) or {}
        unused = {f"{kind}_limit": limit for kind, limit in key.quotas.items()}
        unused |= {name: 0 for kind in key.quotas for name in (kind, f"{kind}_open")}
        return _balances({**unused, **item, "sk": f"{key.project or ''}#{key.id}"})

    def balances(self, tenant: str, *, low: str, high: str) -> list[Balance]:
        """Return this month's balances of the keys bound to the projects from `low` to `high` (`""`: to none).

        At most 1,000 keys are shown; keys that took no call in this month have no balance yet.
        """
        pk = f"Q#{tenant}#{month_of(self._clock.now_ms())}"
        page = self._table.query(Query(pk, between=(f"{low}#", f"{high}#~"), size=COUNTERS_SHOWN))
        return [balance for item in page.items for balance in _balances(item)]


def settled(reservation: Reservation) -> Update:
    """Return the write that counts a reserved call as used, for the transaction that ends what it was for."""
    return Update(reservation.key, add={f"{reservation.kind}_open": -1})


def given_back(reservation: Reservation) -> Update:
    """Return the write that undoes a reserved call."""
    kind = reservation.kind
    return Update(reservation.key, add={kind: -1, f"{kind}_open": -1})


def _counter_key(key: KeyRecord, month: str) -> Key:
    return f"Q#{key.tenant}#{month}", f"{key.project or ''}#{key.id}"


def _balances(item: Item) -> list[Balance]:
    project, _, key_id = item["sk"].partition("#")
    return [
        Balance(key_id, project or None, kind, item[f"{kind}_limit"], item[kind] - item[opened], item[opened])
        for kind in QUOTA_KINDS
        if (opened := f"{kind}_open") in item
    ]


def _seconds_left(now_ms: int) -> int:
    now = datetime.fromtimestamp(now_ms // 1000, UTC)
    following = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    return max(1, int((following - now).total_seconds()))
