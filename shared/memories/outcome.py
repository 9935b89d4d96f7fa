"""How a delivery went, as whoever received the message needs to know it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.retention.faults import Fault


class State(Enum):
    """What is to become of the message that a task came with."""

    DONE = "done"
    LATER = "later"
    LEAVE = "leave"


@dataclass(frozen=True)
class Outcome:
    """How a delivery went: `pause` is in seconds (LATER); LEAVE: another delivery is at it.

    `task` is the row as it was last seen, where there is one; `job` that of one of its files; `fault` what went wrong
    on our side.
    """

    state: State
    pause: int = 0
    task: Item | None = None
    fault: Fault | None = None
    job: Item | None = None
