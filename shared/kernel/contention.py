"""Bounded retries for writes that lose a race."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, TypeVar

from shared.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.kernel.errors import LodestoreError

T = TypeVar("T")

BUDGET_SECONDS = 4.0
"""How long a write tries before it answers with a conflict (design §3)."""

FIRST_PAUSE, LONGEST_PAUSE, GROWTH = 0.02, 0.6, 3
"""Seconds, at most. Fifty writers of one item need half a second for their turns: growing fast, most of them
wait for theirs after three attempts, where small steps would have them all collide ten times."""


class LostRace(Exception):
    """Another writer was first; `pause` tells whether waiting a moment helps, `giving_up` what to say in the end."""

    def __init__(self, *, pause: bool = True, giving_up: LodestoreError | None = None) -> None:
        super().__init__("lost a race")
        self.pause = pause
        self.giving_up = giving_up or Conflict("Others kept changing this at the same time. Try again.")


def persist(attempt: Callable[[], T], *, budget: float = BUDGET_SECONDS) -> T:
    """Run `attempt` until it does not lose its race, with growing full jitter.

    Raises:
        Conflict: the budget (seconds) is used up; or what the last lost race says instead.
    """
    deadline = time.monotonic() + budget
    ceiling = FIRST_PAUSE
    while True:
        try:
            return attempt()
        except LostRace as lost:
            left = deadline - time.monotonic()
            if left <= 0:
                raise lost.giving_up from lost
            if lost.pause:
                time.sleep(random.uniform(0, min(ceiling, left)))  # noqa: S311 - jitter is no secret
                ceiling = min(ceiling * GROWTH, LONGEST_PAUSE)
