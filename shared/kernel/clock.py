"""Time as the product sees it: milliseconds since the epoch, written as RFC 3339 in UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

DAY_MS = 86_400_000


class Clock(Protocol):
    """Where the time comes from; tests move it."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


def rfc3339(ms: int) -> str:
    """Write `ms` as `2026-11-30T09:57:55.123Z`."""
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def day_of(ms: int) -> str:
    """Write the UTC day of `ms` as `yyyymmdd`."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y%m%d}"
