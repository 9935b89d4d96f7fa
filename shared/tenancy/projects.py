"""A project's settings: retention and a rate limit; a project that was never set has the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
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
    return ProjectSettings(item["retention_days"], item["rate_limit_per_minute"], item["updated_at"])
