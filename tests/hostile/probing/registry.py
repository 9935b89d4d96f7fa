"""The probes by the ids of their operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party

    Probe = Callable[[Party, Names, Names], list[Request]]

PROBES: dict[str, Probe] = {}


def probe(of: Probe) -> Probe:
    """Register a probe under the id of its operation."""
    PROBES[of.__name__] = of
    return of
