"""What memory stores stand on, and how many memories one holds."""

from __future__ import annotations

from dataclasses import dataclass

from shared.retention import backing

MEMORIES_A_STORE = 10_000


@dataclass(frozen=True)
class Backing(backing.Backing):
    """The stores, and the limit of memories a store."""

    memories_a_store: int = MEMORIES_A_STORE
