"""What project memory stands on, and what it remembers of projects between two writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.retention import backing
from shared.tenancy.projects import DEFAULT_RETENTION_DAYS

if TYPE_CHECKING:
    from shared.kernel.scope import Scope

_REMEMBERED = 1000


@dataclass(frozen=True)
class Backing(backing.Backing):
    """The stores, and the retention that each project most likely has."""

    _days: dict[Scope, int] = field(default_factory=dict)

    def expect(self, scope: Scope, days: int) -> None:
        """Remember a project's retention, so that the next write's object goes to the right class at once."""
        if len(self._days) >= _REMEMBERED:
            self._days.clear()
        if days != DEFAULT_RETENTION_DAYS or scope in self._days:
            self._days[scope] = days

    def expected_days(self, scope: Scope) -> int:
        """Return the retention that a project most likely has; the write checks it before it commits."""
        return self._days.get(scope, DEFAULT_RETENTION_DAYS)
