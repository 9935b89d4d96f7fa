"""What every domain room stands on: the table, the bucket, the clock, and a meter of what is stored."""

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


def unmetered(_: Scope, **__: int) -> None:
    """Count nothing."""


@dataclass(frozen=True)
class Backing:
    """The stores; `note(scope, turns=…, bytes=…)` tells what a room's writes add, for approximate usage."""

    table: Table
    objects: Objects
    clock: Clock
    note: Note = unmetered
