"""The sweeper's care for add tasks: those that nobody has begun or ended are sent again, and old ones go.

A task ends in any case: the worker's own count of attempts ends what fails, and what no worker comes to at all is
ended here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.writes import Delete, Update
from shared.kernel.clock import DAY_MS
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.memories.ending import Reason, fail, forget, look_at, pointers, revive
from shared.memories.files.jobs import Failure, let_go
from shared.memories.files.readings import READING, send_reading
from shared.memories.files.sending import jobs_of, send_next
from shared.memories.leftovers import LEFTOVERS
from shared.memories.records import UserAddress, task_key
from shared.memories.tasks import KIND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.items import Item
    from shared.memories.backing import Backing
    from shared.retention.sweeper import Handler

AGAIN_MS: Final = 5 * 60_000
LONGEST_AGAIN_MS: Final = 3_600_000
"""How long after it was sent again a task is looked at, doubled each time."""

RESENDS: Final = 5
"""So often a task that was begun, and not ended, is sent again without a worker's beginning it anew."""

WAITING_MS: Final = DAY_MS
"""How long a task may wait to be begun."""

NOT_PROCESSED = Reason(
    "not_processed",
    "No worker came to this request in time. Send it again; if this goes on, tell your operator: "
    "the worker, or its queue, stands still.",
)


@dataclass(frozen=True)
class Settling:
    """The handlers of due items that need the queue."""

    backing: Backing

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by kind."""
        return {KIND: self.look, LEFTOVERS: self.send_leftovers, READING: self.send_reading}

    def look(self, task: Item) -> bool:
        """Send a task again, end it, or remove it, whatever its time has come for."""
        if task["status"] != "processing":
            self._remove(task)
        elif self._is_given_up(task):
            fail(self.backing, task, NOT_PROCESSED, letter=False)
        else:
            self._send_again(task)
        return True

    def send_leftovers(self, work: Item) -> bool:
        """Have a worker remove what a change has left in the index and the bucket."""
        told = ("tenant", "project", "user_id", "states", "objects", "forgotten", "beside")
        address = UserAddress(Scope(work["tenant"], work["project"]), work["user_id"])
        body = {"work": "clean", **{name: work[name] for name in told if name in work}}
        self.backing.queue.send(body, group=address.group, once=work["pk"])
        return True

    def send_reading(self, work: Item) -> bool:
        """Have a worker remove what a reading of a file has left that counts no more."""
        send_reading(self.backing, work)
        return True

    def _is_given_up(self, task: Item) -> bool:
        if "since" in task:
            return bool(task.get("resent", 0) >= RESENDS)
        return bool(self.backing.clock.now_ms() - task["received_at"] >= WAITING_MS)

    def _send_again(self, task: Item) -> None:
        resent = task.get("resent", 0) + 1
        send_next(self.backing, task, jobs_of(self.backing.table, task), again=f":{task['tries']}:{resent}")
        pause = min(AGAIN_MS << min(resent, 8), LONGEST_AGAIN_MS)
        later = {"resent": resent, **look_at(task, self.backing.clock.now_ms() + pause)}
        same = {"seen": task["expires_at"]}
        try:
            self.backing.table.write(Update(key_of(task), later, when="#expires_at = :seen", values=same))
        except ConditionFailed:
            return  # begun meanwhile

    def _remove(self, task: Item) -> None:
        """Remove an ended task with all that it has kept; its row goes last."""
        forget(self.backing, task)
        for job in jobs_of(self.backing.table, task):
            let_go(self.backing, job, Failure(NOT_PROCESSED.code, NOT_PROCESSED.message))
            self._delete(Delete(key_of(job)))
        if task.get("idempotency"):
            pk, sk = task["idempotency"]
            self._delete(Delete((pk, sk), "attribute_not_exists(#pk) OR #task = :task", {"task": task["task"]}))
        for key in pointers(task):
            self._delete(Delete(key))
        ended = {"status": task["status"], "at": task["completed_at"]}
        same = "attribute_not_exists(#pk) OR (#status = :status AND #completed_at = :at)"
        self._delete(Delete(key_of(task), same, ended))

    def _delete(self, delete: Delete) -> None:
        try:
            self.backing.table.write(delete)
        except ConditionFailed:
            return  # another's by now


def redrive(backing: Backing, scope: Scope, task_id: str) -> bool:
    """Have a failed task begin again, and send it; False when it has nothing left to be done, or to be tried with.

    One that is under way was let begin again by a redrive that was cut short: it is sent once more.

    Raises:
        Unavailable: it may not have been sent.
    """
    task = backing.table.get(task_key(scope, task_id))
    if task is None or task["status"] == "success":
        return False
    if task["status"] == "failed" and not revive(backing, task):
        return False
    begun = backing.table.get(key_of(task)) or task
    send_next(backing, begun, jobs_of(backing.table, begun), again=f":{ulid()}")
    return True
