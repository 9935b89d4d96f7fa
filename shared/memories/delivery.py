"""What becomes of a message: done, tried again later, or put with the dead letters.

A message that can't be read is a dead letter at once; a task's becomes one when its task has failed for good. The
queue's own count of receives decides nothing: it counts those of a message that only stood behind another one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.writes import Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import Conflict, Unavailable
from shared.kernel.ids import ulid
from shared.kernel.scope import NAME, Scope
from shared.memories.clearing import Clearing
from shared.memories.records import UserAddress, has_form, task_key
from shared.memories.work import Outcome, State, Worker
from shared.retention.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.aws.queue import Queue
    from shared.memories.attempts import Attempt
    from shared.memories.means import Means

RECEIVES = 8
"""So often work other than a task's is received and fails, then it is a dead letter; the sweeper sends it again."""

UNREADABLE = "unreadable"
_LONGEST_PAUSE = 30
_LETTER_BYTES = 100_000


class Unreadable(Exception):
    """A message that is none of ours."""


@dataclass(frozen=True)
class Message:
    """One message as it was received: its text, and how often it was."""

    text: str
    receives: int = 1


class Deliveries:
    """Does the work of messages; `dead` takes the dead letters."""

    def __init__(self, means: Means, dead: Queue) -> None:
        self._means = means
        self._dead = dead
        self._worker = Worker(means)
        self._clearing = Clearing(means)

    def take(self, message: Message, *, late: Callable[[], bool], watch: Callable[[Attempt], None]) -> Outcome:
        """Do the work of one message."""
        if late():
            return Outcome(State.LATER, 0)
        try:
            return self._take(message, late, watch)
        except (Unavailable, LostRace, Conflict) as error:
            pause = min(2**message.receives, _LONGEST_PAUSE)
            return Outcome(State.LATER, pause, fault=fault_of("message", error))

    def _take(self, message: Message, late: Callable[[], bool], watch: Callable[[Attempt], None]) -> Outcome:
        try:
            body = _read(message.text)
        except Unreadable:
            self._bury_unreadable(message.text)
            return Outcome(State.DONE)
        if body["work"] != "add":
            return self._clear(body, message, late)
        key = task_key(_scope(body), body["task"])
        outcome = self._worker.deliver(key, late=late, watch=watch)
        if outcome.task is not None and outcome.task.get("letter"):
            self._bury(body, outcome.task)
        return outcome

    def _clear(self, body: dict[str, Any], message: Message, late: Callable[[], bool]) -> Outcome:
        try:
            if body["work"] == "clean":
                self._clearing.clean(body)
            elif not self._clearing.erase(body, late):
                self._means.backing.queue.send(body, group=_group(body), once=ulid())
        except (Unavailable, LostRace, Conflict):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises must not hold up its user's adds for ever
            return self._cleared_badly(body, message, error)
        return Outcome(State.DONE)

    def _cleared_badly(self, body: dict[str, Any], message: Message, error: Exception) -> Outcome:
        fault = fault_of(body["work"], error)
        if message.receives < RECEIVES:
            return Outcome(State.LATER, min(2**message.receives, _LONGEST_PAUSE), fault=fault)
        self._dead.send({**body, "reason": "internal_error"}, group=_group(body), once=ulid())
        return Outcome(State.DONE, fault=fault)

    def _bury(self, body: dict[str, Any], task: Item) -> None:
        """Put a failed task's message with the dead letters; a delivery that dies here is followed by another."""
        letter = {**body, "reason": task["error"]["code"]}
        self._dead.send(letter, group=task["group"], once=f"{task['task']}:{task['completed_at']}")
        try:
            self._means.backing.table.write(Update(key_of(task), drop=("letter",), when="attribute_exists(#letter)"))
        except ConditionFailed:
            return

    def _bury_unreadable(self, text: str) -> None:
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        shown = text.encode("utf-8", "replace")[:_LETTER_BYTES].decode("utf-8", "replace")
        self._dead.send({"work": UNREADABLE, "text": shown, "reason": UNREADABLE}, group=UNREADABLE, once=name)


def _read(text: str) -> dict[str, Any]:
    """Return a message's body.

    Raises:
        Unreadable: it is not JSON, or not what its work needs.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable from None
    if not isinstance(body, dict) or not all(_is_name(body.get(name)) for name in ("tenant", "project")):
        raise Unreadable
    if not _CHECKS.get(str(body.get("work")), _never)(body):
        raise Unreadable
    return body


def _never(_: dict[str, Any]) -> bool:
    return False


def _is_add(body: dict[str, Any]) -> bool:
    return isinstance(body.get("task"), str) and has_form(body["task"])


def _is_erasure(body: dict[str, Any]) -> bool:
    named = isinstance(body.get("user_id"), str)
    return named and isinstance(body.get("erasure"), str) and has_form(body["erasure"])


def _is_cleaning(body: dict[str, Any]) -> bool:
    lists = [body.get("states"), body.get("objects", []), body.get("forgotten", [])]
    if not isinstance(body.get("user_id"), str) or not all(isinstance(one, list) for one in lists):
        return False
    states, objects, forgotten = lists
    named = all(isinstance(name, str) for name in (*objects, *forgotten))
    return named and all(map(_is_state, states)) and all(map(has_form, forgotten))


def _is_state(state: Any) -> bool:
    pair = isinstance(state, list) and len(state) == 2
    return pair and isinstance(state[0], str) and has_form(state[0]) and type(state[1]) is int


_CHECKS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "add": _is_add,
    "erase": _is_erasure,
    "clean": _is_cleaning,
}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _scope(body: dict[str, Any]) -> Scope:
    return Scope(body["tenant"], body["project"])


def _group(body: dict[str, Any]) -> str:
    return UserAddress(_scope(body), body["user_id"]).group
