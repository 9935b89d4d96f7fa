"""What every part of project memory stands on: the table, the bucket, the clock, and a meter of usage."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.kernel.errors import Unavailable
from shared.tenancy.projects import DEFAULT_RETENTION_DAYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.objects import Objects
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Scope

    Note = Callable[..., None]


def _unmetered(_: Scope, **__: int) -> None:
    """Count nothing."""


@dataclass(frozen=True)
class Backing:
    """The stores, and `note(scope, turns=…, artifacts=…, bytes=…)` for approximate usage."""

    table: Table
    objects: Objects
    clock: Clock
    note: Note = _unmetered
    _days: dict[Scope, int] = field(default_factory=dict)

    def expect(self, scope: Scope, days: int) -> None:
        """Remember a project's retention, so that the next write's object goes to the right class at once."""
        if days != DEFAULT_RETENTION_DAYS or scope in self._days:
            self._days[scope] = days

    def expected_days(self, scope: Scope) -> int:
        """Return the retention that a project most likely has; the write checks it before it commits."""
        return self._days.get(scope, DEFAULT_RETENTION_DAYS)

    def discard(self, *keys: str | None) -> None:
        """Remove objects that nothing will own; what fails is left to the nightly reconciliation."""
        wanted = [key for key in keys if key]
        if wanted:
            with suppress(Unavailable):
                self.objects.delete(*wanted)
