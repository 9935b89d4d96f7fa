"""What every part of memory stores stands on: the table, the bucket, the clock, a meter of usage, and a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.objects import Objects
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Scope

    Note = Callable[..., None]

MEMORIES_A_STORE = 10_000


def _unmetered(_: Scope, **__: int) -> None:
    """Count nothing."""


@dataclass(frozen=True)
class Backing:
    """The stores, `note(scope, memories=…, versions=…, bytes=…)` for approximate usage, and the memories a store."""

    table: Table
    objects: Objects
    clock: Clock
    note: Note = _unmetered
    memories_a_store: int = MEMORIES_A_STORE
