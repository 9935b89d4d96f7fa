"""What memory stores stand on, how many memories one holds, and how long versions are kept."""

from __future__ import annotations

from dataclasses import dataclass

from shared.retention import backing

MEMORIES_A_STORE = 10_000


@dataclass(frozen=True)
class Backing(backing.Backing):
    """The stores, the limit of memories a store, and the days that a version outlives being the newest (0: no end)."""

    memories_a_store: int = MEMORIES_A_STORE
    version_days: int = 0
