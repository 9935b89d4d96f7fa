"""What becomes of a message: done, tried again later, or put with the dead letters.

A task's message becomes a dead letter when its task has failed for good. The queue's own count of receives decides
nothing: it counts those of a message that only stood behind another one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.writes import Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import Conflict, Unavailable
from shared.kernel.ids import ulid
from shared.memories.clearing import Clearing
from shared.memories.files.filing import Filing
from shared.memories.files.stages import Stages
from shared.memories.files.unfiling import Unfiling
from shared.memories.files.unreading import unread
from shared.memories.letters import Unreadable, body_of, bury_unreadable, group_of, scope_in
from shared.memories.outcome import Outcome, State, outcome_of, pause_of
from shared.memories.records import task_key
from shared.memories.slices import sliced
from shared.memories.work import Worker
from shared.retention.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.aws.queue import Queue
    from shared.memories.heartbeat import Held
    from shared.memories.letters import Message
    from shared.memories.means import Means

RECEIVES = 8
"""So often work other than a task's is received and fails, then it is a dead letter; the sweeper sends it again."""


class Deliveries:
    """Does the work of messages; `dead` takes the dead letters."""

    def __init__(self, means: Means, dead: Queue) -> None:
        self._means = means
        self._dead = dead
        self._worker = Worker(means)
        self._filing = Stages(means.backing, Filing(means))
        self._clearing = Clearing(means)
        self._endless: dict[str, Callable[[dict[str, Any], Callable[[], bool]], bool]] = {
            "erase": self._clearing.erase,
            "unfile": Unfiling(means).unfile,
            "unread": partial(unread, means),
        }

    def take(self, message: Message, *, late: Callable[[], bool], watch: Callable[[Held], None]) -> Outcome:
        """Do the work of one message."""
        return outcome_of(message, lambda: self._take(message, late, watch), late=late)

    def _take(self, message: Message, late: Callable[[], bool], watch: Callable[[Held], None]) -> Outcome:
        try:
            body = body_of(message.text)
        except Unreadable:
            bury_unreadable(self._dead, message.text)
            return Outcome(State.DONE)
        if body["work"] == "chunks":
            return self._filing.deliver(body, late=sliced(self._means.backing.clock, late), watch=watch)
        if body["work"] == "clean" or body["work"] in self._endless:
            return self._clear(body, message, late)
        if body["work"] != "add":  # another function's
            bury_unreadable(self._dead, message.text)
            return Outcome(State.DONE)
        key = task_key(scope_in(body), body["task"])
        outcome = self._worker.deliver(key, late=late, watch=watch)
        if outcome.task is not None and outcome.task.get("letter"):
            self._bury(body, outcome.task)
        return outcome

    def _clear(self, body: dict[str, Any], message: Message, late: Callable[[], bool]) -> Outcome:
        try:
            if body["work"] == "clean":
                self._clearing.clean(body)
            elif not self._endless[body["work"]](body, sliced(self._means.backing.clock, late)):
                self._means.backing.queue.send(body, group=group_of(body), once=ulid())
        except (Unavailable, LostRace, Conflict):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises must not hold up its user's adds for ever
            return self._cleared_badly(body, message, error)
        return Outcome(State.DONE)

    def _cleared_badly(self, body: dict[str, Any], message: Message, error: Exception) -> Outcome:
        fault = fault_of(body["work"], error)
        if message.receives < RECEIVES:
            return Outcome(State.LATER, pause_of(message), fault=fault)
        self._dead.send({**body, "reason": "internal_error"}, group=group_of(body), once=ulid())
        return Outcome(State.DONE, fault=fault)

    def _bury(self, body: dict[str, Any], task: Item) -> None:
        """Put a failed task's message with the dead letters; a delivery that dies here is followed by another."""
        letter = {**body, "reason": task["error"]["code"]}
        self._dead.send(letter, group=task["group"], once=f"{task['task']}:{task['completed_at']}")
        try:
            self._means.backing.table.write(Update(key_of(task), drop=("letter",), when="attribute_exists(#letter)"))
        except ConditionFailed:
            return
