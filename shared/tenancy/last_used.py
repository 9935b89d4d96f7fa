"""When a key was last used, to the hour: written beside requests, at most once an hour a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed
from shared.aws.writes import PRESENT, Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import Unavailable
from shared.tenancy.records import LIVE, sort_key

if TYPE_CHECKING:
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.tenancy.background import Later
    from shared.tenancy.models import KeyRecord

HOUR_MS = 3_600_000


class LastUsed:
    """Notes uses of keys. Approximate: what an instance has not written when it ends is lost."""

    def __init__(self, table: Table, clock: Clock, later: Later) -> None:
        self._table = table
        self._clock = clock
        self._later = later
        self._noted: tuple[int, set[str]] = (0, set())

    def note(self, record: KeyRecord) -> None:
        """Note that a key is used now; the first time in an hour it is written, without being waited for."""
        hour = self._clock.now_ms() // HOUR_MS * HOUR_MS
        if self._noted[0] != hour:
            self._noted = (hour, set())
        noted = self._noted[1]
        if record.id not in noted:
            noted.add(record.id)
            self._later(lambda: self._write(record, hour))

    def _write(self, record: KeyRecord, hour: int) -> None:
        # Only forward, and only on a live record: an update must not bring back one that was revoked meanwhile.
        update = Update(
            (LIVE, sort_key(record)),
            put={"last_used_at": hour},
            when=f"{PRESENT} AND (attribute_not_exists(#last_used_at) OR #last_used_at < :hour)",
            values={"hour": hour},
        )
        try:
            self._table.write(update)
        except ConditionFailed:
            return
        except (LostRace, Unavailable):
            self._noted[1].discard(record.id)
