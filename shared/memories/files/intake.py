"""What becomes of a message of the documents queue: its file is read, tried again later, or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.memories.files.reading import Reading
from shared.memories.files.stages import Stages
from shared.memories.letters import Unreadable, body_of, bury_unreadable
from shared.memories.outcome import Outcome, State, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.queue import Queue
    from shared.memories.backing import Backing
    from shared.memories.files.reading import Eyes
    from shared.memories.heartbeat import Held
    from shared.memories.letters import Message


class Intake:
    """Does the work of messages; `dead` takes those that can't be read."""

    def __init__(self, backing: Backing, eyes: Eyes, dead: Queue) -> None:
        self._stages = Stages(backing, Reading(backing, eyes))
        self._dead = dead

    def take(self, message: Message, *, late: Callable[[], bool], watch: Callable[[Held], None]) -> Outcome:
        """Do the work of one message."""
        return outcome_of(message, lambda: self._take(message, late, watch), late=late)

    def _take(self, message: Message, late: Callable[[], bool], watch: Callable[[Held], None]) -> Outcome:
        try:
            body = body_of(message.text)
        except Unreadable:
            body = {"work": "none"}
        if body["work"] != "read":
            bury_unreadable(self._dead, message.text)
            return Outcome(State.DONE)
        return self._stages.deliver(body, late=late, watch=watch)
