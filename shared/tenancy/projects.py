"""A project's settings: retention and a rate limit; a project that was never set has the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.writes import Update
from shared.kernel.contention import persist
from shared.tenancy.remembered import Remembered

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Scope

DEFAULT_RETENTION_DAYS = 30


@dataclass(frozen=True)
class ProjectSettings:
    """Retention in days, requests a minute for the whole project (None: no limit), and when it was set (ms)."""

    retention_days: int = DEFAULT_RETENTION_DAYS
    rate_limit_per_minute: int | None = None
    updated_at: int | None = None


def settings_key(scope: Scope) -> Key:
    """Return the key of a project's settings record."""
    return f"S#{scope.tenant}#{scope.project}", "settings"


def settings_of(item: Item | None) -> ProjectSettings:
    """Return the settings that a record (or its absence) means."""
    if item is None:
        return ProjectSettings()
    return ProjectSettings(
        item.get("retention_days", DEFAULT_RETENTION_DAYS), item.get("rate_limit_per_minute"), item["updated_at"]
    )


class Projects:
    """The settings of projects. What others set is known here within 60 s, what is set here at once."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._remembered = Remembered[ProjectSettings](clock)

    def get(self, scope: Scope) -> ProjectSettings:
        """Return a project's settings as they are stored now."""
        return settings_of(self._table.get(settings_key(scope)))

    def change(self, scope: Scope, changes: dict[str, Any]) -> ProjectSettings:
        """Set some of `retention_days` and `rate_limit_per_minute`, leave the others, and return all."""
        update = Update(settings_key(scope), put={**changes, "updated_at": self._clock.now_ms()})
        item = persist(lambda: self._table.write(update))
        self._remembered.forget(_name(scope))
        return settings_of(item)

    def rate_limit(self, scope: Scope) -> int | None:
        """Return a project's requests a minute as they were within the last minute, mostly without a read."""
        settings = self._remembered.get(_name(scope), lambda: self.get(scope))
        return settings.rate_limit_per_minute if settings else None


def _name(scope: Scope) -> str:
    return f"{scope.tenant}#{scope.project}"
