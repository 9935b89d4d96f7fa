"""The work on one Add, from its payload to memories that search finds (design §6)."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from shared.aws.errors import ObjectMissing
from shared.extraction.port import ExtractionFailed
from shared.kernel.contention import LostRace
from shared.kernel.errors import Conflict, LodestoreError, Unavailable
from shared.memories.attempts import (
    BLOCK_MS,
    HUNG_MS,
    STRIKES,
    WAITS,
    Busy,
    Erased,
    Fenced,
    begin,
    free_lease,
    spent,
)
from shared.memories.ending import NothingStored, Reason, fail
from shared.memories.means import OnceEmbedder
from shared.memories.outcome import Outcome, State
from shared.memories.remains import clear_away_now
from shared.memories.run import PayloadMissing, Run
from shared.models.errors import ModelRefused
from shared.retention.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item, Key
    from shared.memories.attempts import Attempt
    from shared.memories.means import Means
    from shared.retention.faults import Fault

LEASE_SECONDS = 10.0
"""How long a request waits for another writer of its user to be done."""

_PAUSE, _LONGEST_PAUSE = 2, 30
"""Seconds before a task is tried again, doubled each time."""

DELETED = Reason(
    "erased", "All memories of this user were deleted after the request was accepted, so it was dropped.", again=False
)
EXHAUSTED = Reason(
    "internal_error",
    "Making memories of this request failed each time, for a fault on our side; nothing you sent is wrong. "
    "Tell your operator this task_id: the request is kept for 14 days, to be tried again from the dead-letter queue.",
)
DOWN = Reason(
    "dependency_unavailable",
    "Search, a model or the storage was down for too long. Send the request again later; "
    "your operator can also have this one tried again from the dead-letter queue, within 14 days.",
)
LOST = Reason("payload_missing", "What was sent is no longer stored. Send the request again.", again=False)

_PASSING = (Unavailable, Conflict, LostRace, ObjectMissing)
"""What another attempt may find otherwise; an object is missing where a memory was changed under its reader."""


class Worker:
    """Works on tasks; `late` tells when no new piece of work may be begun."""

    def __init__(self, means: Means, *, wait: Callable[[float], None] = time.sleep) -> None:
        self.means = means
        self._wait = wait

    def run(self, key: Key) -> None:
        """Work a task to its end here and now: what goes wrong ends it.

        Raises:
            Unavailable: it can't even begin; another writer of the user may be at work.
        """
        task = self.means.backing.table.get(key)
        if task is None or task["status"] != "processing" or task.get("waiting"):
            return
        attempt = self._begun(task)
        try:
            self._run(attempt, lambda: False)
        except Fenced:
            return
        except Exception as error:
            reason = _reason(error)
            self._end(attempt.task, reason or EXHAUSTED, letter=False)
            if reason is None:
                raise
        finally:
            _release(attempt)

    def deliver(
        self, key: Key, *, late: Callable[[], bool], watch: Callable[[Attempt], None] = lambda _: None
    ) -> Outcome:
        """Work on a task that a message was delivered for.

        Raises:
            Unavailable: the table can't be asked; nothing was counted against the task.
        """
        backing = self.means.backing
        task = backing.table.get(key)
        if task is None or task["status"] != "processing":
            return Outcome(State.DONE, task=task)
        if task.get("waiting"):
            return Outcome(State.DONE)  # whoever is done with the last of its files sends the message again
        if given_up := _exhausted(task, backing.clock.now_ms()):
            ended = self._end(task, given_up, letter=True)
            return Outcome(State.DONE if ended else State.LEAVE, task=backing.table.get(key))
        try:
            attempt = begin(backing.table, backing.clock, task)
        except Busy:
            return Outcome(State.LATER, _PAUSE, task)
        except Fenced:
            return Outcome(State.LATER, 0, task)
        watch(attempt)
        return self._tried(attempt, late)

    def _tried(self, attempt: Attempt, late: Callable[[], bool]) -> Outcome:
        try:
            self._run(attempt, late)
        except Fenced:
            return Outcome(State.LEAVE, task=attempt.task)
        except Exception as error:  # noqa: BLE001 - whatever a task raises is counted against it, not against others
            outcome = self._failed(attempt, error)
        else:
            outcome = Outcome(State.DONE, task=attempt.task)
        _release(attempt)
        return outcome

    def _run(self, attempt: Attempt, late: Callable[[], bool]) -> None:
        means = replace(self.means, embedder=OnceEmbedder(self.means.embedder))
        Run(means, attempt, late)()

    def _failed(self, attempt: Attempt, error: Exception) -> Outcome:
        reason = _reason(error)
        if isinstance(error, _PASSING) and not isinstance(error, ModelRefused):
            return self._wait_for(attempt, error)
        if reason is not None:
            return self._given_up(attempt, reason, None)
        fault = fault_of("add", error)
        if attempt.task["strikes"] >= STRIKES:
            return self._given_up(attempt, EXHAUSTED, fault)
        return Outcome(State.LATER, _PAUSE ** attempt.task["strikes"], attempt.task, fault)

    def _wait_for(self, attempt: Attempt, error: Exception) -> Outcome:
        """Try again later what a dependency could not do now; such an attempt is no strike against the task."""
        waits, fault = attempt.task["waits"] + 1, fault_of("add", error)
        pause = min(_PAUSE**waits, _LONGEST_PAUSE)
        held_up = spent(attempt.task, attempt.clock.now_ms()) + pause * 1000
        if waits >= WAITS or held_up > BLOCK_MS:
            return self._given_up(attempt, DOWN, fault)
        with suppress(Unavailable, LostRace, Conflict, Fenced):  # then it counts as a strike
            attempt.put_off(waits)
        return Outcome(State.LATER, pause, attempt.task, fault)

    def _given_up(self, attempt: Attempt, reason: Reason, fault: Fault | None) -> Outcome:
        backing = self.means.backing
        failed = self._end(attempt.task, reason, letter=True)
        task = backing.table.get((attempt.task["pk"], attempt.task["sk"]))
        return Outcome(State.DONE if failed else State.LEAVE, task=task, fault=fault)

    def _end(self, task: Item, reason: Reason, *, letter: bool) -> bool:
        """End a task badly; False when it is another attempt's by now."""
        left = fail(self.means.backing, task, reason, letter=letter)
        if left is None:
            return False
        free_lease(self.means.backing.table, task)
        clear_away_now(self.means, *left)
        return True

    def _begun(self, task: Item) -> Attempt:
        backing, deadline = self.means.backing, time.monotonic() + LEASE_SECONDS
        while True:
            try:
                return begin(backing.table, backing.clock, task)
            except Busy:
                if time.monotonic() > deadline:
                    raise Unavailable("Another request writes this user's memories now. Try again.") from None
                self._wait(0.2)
            except Fenced:
                _refuse()


def _refuse() -> NoReturn:
    raise Unavailable("Another worker is at this task.")


def _release(attempt: Attempt) -> None:
    with suppress(Unavailable, Conflict):  # it ends by itself
        attempt.release()


def _exhausted(task: Item, now: int) -> Reason | None:
    """Return why a task is not to be tried once more."""
    if task.get("strikes", 0) >= STRIKES:
        return EXHAUSTED
    return EXHAUSTED if task.get("strikes") and spent(task, now) >= HUNG_MS else None


def _reason(error: Exception) -> Reason | None:
    """Return what a task's user is told of an error; None: a fault of ours."""
    if isinstance(error, Erased | PayloadMissing):
        return DELETED if isinstance(error, Erased) else LOST
    if isinstance(error, ExtractionFailed):
        return Reason("extraction_failed", _bounded(error), reply=_reply(error))
    if isinstance(error, NothingStored):
        return Reason("files_failed", error.message, again=error.again)
    if isinstance(error, ModelRefused):
        return Reason("model_refused", f"{error.message} {error.details['hint']}")
    return DOWN if isinstance(error, _PASSING) else None


def _bounded(error: LodestoreError) -> str:
    return (
        f"{error.message[:500]} Send the request again, in smaller parts or in other words; "
        "mode raw stores it without a model."
    )


def _reply(error: LodestoreError) -> str | None:
    reply: Any = error.details.get("reply")
    return None if reply is None else reply if isinstance(reply, str) else json.dumps(reply, default=str)
