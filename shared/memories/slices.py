"""Slices of long work: a batch's other messages, of other users, wait for none of it long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.kernel.clock import Clock

SLICE_MS: Final = 5_000
"""After so long a piece of work that may be long lets others go first, and comes again."""


def sliced(clock: Clock, late: Callable[[], bool]) -> Callable[[], bool]:
    """Return what tells that no new piece of work may be begun: the function's time is over, or this work's slice."""
    until = clock.now_ms() + SLICE_MS
    return lambda: late() or clock.now_ms() >= until
