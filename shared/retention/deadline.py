"""How long the run under way may go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MARGIN_MS = 30_000
"""What is kept for the work in hand: one call with all its retries, and saving where the run got to."""


class Deadline:
    """The end of a run; work that can be cut asks `passed` before each piece.

    `remaining_ms` is Lambda's `context.get_remaining_time_in_millis`.
    """

    def __init__(self, remaining_ms: Callable[[], int], *, margin_ms: int = MARGIN_MS) -> None:
        self._remaining_ms = remaining_ms
        self._margin_ms = margin_ms

    def passed(self) -> bool:
        """Tell whether no new piece of work may be begun."""
        return self._remaining_ms() <= self._margin_ms

    def within(self, milliseconds: int) -> Deadline:
        """Return a deadline that is at most so far from now, and never later than this one."""
        cut = max(self._margin_ms, self._remaining_ms() - milliseconds)
        return Deadline(self._remaining_ms, margin_ms=cut)
