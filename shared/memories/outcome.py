"""How a delivery went, as whoever received the message needs to know it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from shared.kernel.contention import LostRace
from shared.kernel.errors import Conflict, Unavailable
from shared.retention.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.memories.letters import Message
    from shared.retention.faults import Fault

_LONGEST_PAUSE = 30


class State(Enum):
    """What is to become of the message that a task came with."""

    DONE = "done"
    LATER = "later"
    LEAVE = "leave"


@dataclass(frozen=True)
class Outcome:
    """How a delivery went: `pause` is in seconds (LATER); LEAVE: another delivery is at it.

    `task` is the row as it was last seen, where there is one; `job` that of one of its files; `named` what the message
    itself names, for the log; `fault` what went wrong on our side.
    """

    state: State
    pause: int = 0
    task: Item | None = None
    fault: Fault | None = None
    job: Item | None = None
    named: Mapping[str, Any] = field(default_factory=dict)

    def told(self, *names: str) -> dict[str, Any]:
        """Return the fields of its log line: `names` of the row, else of the message; what went wrong, by codes."""
        row = self.task or self.job or {}
        about = {**self.named, **row}
        return {
            **{name: about.get(name) for name in ("work", *names)},
            "outcome": self.state.value,
            "error": (row.get("error") or {}).get("code"),
            "code": self.fault.code if self.fault else None,
            "fault": self.fault.told() if self.fault else None,
        }


def pause_of(message: Message) -> int:
    """Return after how many seconds a message that could not be worked on comes again: longer each time."""
    return min(1 << message.receives, _LONGEST_PAUSE)


def outcome_of(message: Message, work: Callable[[], Outcome], *, late: Callable[[], bool]) -> Outcome:
    """Do a message's work, unless it is too late to begin; what a dependency could not do now comes again later."""
    if late():
        return Outcome(State.LATER, 0)
    try:
        return work()
    except (Unavailable, LostRace, Conflict) as error:
        return Outcome(State.LATER, pause_of(message), fault=fault_of("message", error))
