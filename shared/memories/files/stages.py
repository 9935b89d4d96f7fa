"""What becomes of a message about a file of an add: a stage of its job is done, tried again later, or failed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from shared.aws.errors import ObjectMissing
from shared.documents.port import DocumentFailed
from shared.kernel.contention import LostRace
from shared.kernel.errors import Conflict, Unavailable
from shared.kernel.scope import Scope
from shared.memories.attempts import Erased, Fenced
from shared.memories.files.jobs import STRIKES, WAITS, Failure, FileGone, Replaced, begin, send_on
from shared.memories.files.pieces import Pieces
from shared.memories.files.rows import ENDED
from shared.memories.outcome import Outcome, State
from shared.memories.records import file_job_key, task_key
from shared.models.errors import ModelRefused
from shared.retention.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.memories.backing import Backing
    from shared.memories.files.jobs import FileJob
    from shared.retention.faults import Fault

_PAUSE, _LONGEST_PAUSE = 2, 30
"""Seconds before a job is tried again, doubled each time."""

ERASED: Final = Failure("erased", "All memories of this user were deleted after the file was accepted.")
DELETED: Final = Failure("deleted", "The file was deleted before all of it was read.")
EXHAUSTED: Final = Failure(
    "internal_error",
    "Reading this file failed each time, for a fault on our side. Send it again; if that does not help, tell your "
    "operator the task_id.",
)
DOWN: Final = Failure(
    "dependency_unavailable", "Search, a model or the storage was down for too long. Send the file again later."
)


class TimeOver(Unavailable):
    """This function's time is over; the next delivery goes on from what was reached."""


class Stage(Protocol):
    """One stage of a job: from which states it is begun, in which it is while it lasts, and the work."""

    @property
    def begins(self) -> frozenset[str]:
        """The states that a job may be in when the stage is begun."""

    @property
    def status(self) -> str:
        """The state of a job that is worked on."""

    def __call__(self, job: FileJob, late: Callable[[], bool]) -> None:
        """Do the work; `late` tells when no new piece of it may be begun."""


class Stages:
    """Does a stage of the jobs that messages name; `watch` hears of each attempt."""

    def __init__(self, backing: Backing, stage: Stage) -> None:
        self._backing = backing
        self._stage = stage

    def deliver(
        self, body: Mapping[str, Any], *, late: Callable[[], bool], watch: Callable[[FileJob], None]
    ) -> Outcome:
        """Do the stage for the job that a message is about.

        Raises:
            Unavailable: the table can't be asked, or what is next can't be sent; the message is to come again.
        """
        scope = Scope(body["tenant"], body["project"])
        keys = task_key(scope, body["task"]), file_job_key(scope, body["task"], body["n"])
        task, row = map(self._backing.table.batch_get(list(keys)).get, keys)
        if task is None or row is None or task["status"] != "processing":
            return Outcome(State.DONE)
        if row["status"] not in self._stage.begins:
            return self._go_on(task, row, Outcome(State.DONE))  # done before: nothing to tell of
        try:
            job = begin(self._backing, task, row, status=self._stage.status)
        except Fenced:
            return Outcome(State.LATER, _PAUSE, job=row)
        watch(job)
        outcome = self._given_up(job, EXHAUSTED) if row.get("strikes", 0) >= STRIKES else self._tried(job, late)
        return outcome if outcome.state is not State.DONE else self._go_on(task, job.row, outcome)

    def _go_on(self, task: Item, row: Item, outcome: Outcome) -> Outcome:
        send_on(self._backing, task, row)
        if row["status"] in ENDED:
            with suppress(Unavailable):  # they go with the task in any case
                Pieces(self._backing, row).remove()
        return outcome

    def _tried(self, job: FileJob, late: Callable[[], bool]) -> Outcome:
        try:
            self._stage(job, late)
        except Fenced:
            return Outcome(State.LEAVE, job=job.row)
        except TimeOver:
            return self._later(job)
        except (ModelRefused, Erased, FileGone, DocumentFailed, ObjectMissing) as error:
            return self._given_up(job, _failure(error))
        except (Unavailable, Conflict, LostRace, Replaced) as error:
            return self._wait_for(job, error)
        except Exception as error:  # noqa: BLE001 - whatever a file raises is counted against it, not against others
            return self._struck(job, fault_of(self._stage.status, error))
        return Outcome(State.DONE, job=job.row)

    def _later(self, job: FileJob) -> Outcome:
        """Go on with a message of its own: the queue buries one that was received too often."""
        with suppress(Unavailable, LostRace, Conflict, Fenced):
            job.put_off(job.row.get("waits", 0))
        return Outcome(State.DONE, job=job.row)

    def _struck(self, job: FileJob, fault: Fault) -> Outcome:
        if job.row["strikes"] >= STRIKES:
            return self._given_up(job, EXHAUSTED, fault)
        return Outcome(State.LATER, _PAUSE ** job.row["strikes"], fault=fault, job=job.row)

    def _wait_for(self, job: FileJob, error: Exception) -> Outcome:
        """Try again later what a dependency could not do now; such an attempt is no strike."""
        waits, fault = job.row.get("waits", 0) + 1, fault_of(self._stage.status, error)
        if waits >= WAITS:
            return self._given_up(job, DOWN, fault)
        with suppress(Unavailable, LostRace, Conflict, Fenced):  # then it counts as a strike
            job.put_off(waits)
        return Outcome(State.LATER, min(_PAUSE**waits, _LONGEST_PAUSE), fault=fault, job=job.row)

    def _given_up(self, job: FileJob, failure: Failure, fault: Fault | None = None) -> Outcome:
        try:
            job.fail(failure)
        except Fenced:
            return Outcome(State.LEAVE, fault=fault, job=job.row)
        return Outcome(State.DONE, fault=fault, job=job.row)


def _failure(error: Exception) -> Failure:
    """Return what is told of an error that no repetition helps against."""
    if isinstance(error, DocumentFailed):
        return Failure(error.code, error.message)
    if isinstance(error, ModelRefused):
        return Failure("model_refused", error.message)
    return ERASED if isinstance(error, Erased) else DELETED
