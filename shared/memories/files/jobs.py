"""One attempt at what an add has to do for one file: the fence that keeps it from writing too late, and the job's end.

An attempt puts its fence into the job's row; every later write of it asks for that. A job's end counts down what its
task waits for in the same transaction, so that somebody always finds that nothing is waited for any more: whoever
ended the last job, else whoever gets its message again, else the sweeper.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.writes import PRESENT, Check, Put, Update
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import Conflict, LodestoreError
from shared.kernel.scope import Scope
from shared.memories.attempts import Erased, Fenced, address_of, generation_check
from shared.memories.files.pieces import Pieces
from shared.memories.files.readings import Readings
from shared.memories.files.rows import ENDED
from shared.memories.files.sending import UNREAD, send_next
from shared.memories.records import UserAddress, file_key

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.memories.backing import Backing

STRIKES: Final = 3
"""So many attempts at one stage of a job may end by death or an unexpected error without progress between them."""

WAITS: Final = 10
"""So many may end because a dependency was down."""

HELD_MS: Final = 10 * 60_000
"""How long an attempt that gets no further may keep its message from others."""

AGAIN: Final = frozenset({"internal_error", "dependency_unavailable", "not_processed"})
"""Why a job failed that may succeed when its task is tried again."""

_MINE = "#fence = :fence AND #status IN (:queued, :parsing, :parsed, :indexing)"
_OPEN = {"queued": "queued", "parsing": "parsing", "parsed": "parsed", "indexing": "indexing"}


class FileGone(LodestoreError):
    """The file was deleted since it was added."""


class Replaced(Exception):
    """The document is not as it was read: another job, or a delete, was faster."""


@dataclass(frozen=True)
class Failure:
    """Why a file failed, in words that its user can act on."""

    code: str
    message: str


@dataclass
class FileJob:
    """An attempt under way; `row` is the job's row as it is after the attempt's last write."""

    backing: Backing
    task: Item
    row: Item
    fence: str

    @property
    def address(self) -> UserAddress:
        """Whose file it is."""
        return address_of(self.task)

    @property
    def held_until(self) -> int:
        """Until when (ms) the message may be kept from others."""
        until: int = self.row["since"] + HELD_MS
        return until

    def renew(self) -> None:
        """Do nothing: a job holds nothing of its user's."""

    def progress(self, *writes: Write, **changes: Any) -> None:
        """Note that something was reached, with what goes with it; of `writes` the first two are `holds`.

        Raises:
            Erased: everything of the user was forgotten meanwhile.
            Fenced: it is not this attempt's to say.
            FileGone: the file was deleted.
            Replaced: another condition does not hold.
        """
        self._write({"strikes": 1, "waits": 0, "since": self.backing.clock.now_ms(), **changes}, *writes)

    def holds(self) -> tuple[Write, Write]:
        """Return the checks that the user's memories were not forgotten, and that the file is there."""
        return generation_check(self.address, self.task["generation"]), there_still(self.task, self.row)

    def put_off(self, waits: int) -> None:
        """Note that the attempt ended without a strike against the job: a dependency was down, for the n-th time.

        Raises:
            Fenced: another attempt has taken over.
        """
        self._write({"strikes": self.row["strikes"] - 1, "waits": waits})

    def hand_over(self, *writes: Write, chunks: int = 0, **changes: Any) -> None:
        """Let the task wait for this job no longer, and count its chunks; of `writes` the first two are `holds`.

        Raises:
            Erased: everything of the user was forgotten meanwhile.
            Fenced: it is not this attempt's to say, or the task has ended.
            FileGone: the file was deleted.
            Replaced: another condition does not hold.
        """
        counted = {"waiting": -1, **({"chunks": chunks} if chunks else {})}
        now = {"updated_at": self.backing.clock.now_ms()}
        values = {"processing": "processing"}
        task = Update(key_of(self.task), now, add=counted, when="#status = :processing", values=values)
        self._write({"strikes": 0, "waits": 0, **changes}, *writes, task=task)

    def fail(self, failure: Failure) -> None:
        """End the job badly; what it has indexed is left to be removed.

        Raises:
            Fenced: it is not this attempt's to end, or the task has ended.
        """
        error = {"code": failure.code, "message": failure.message}
        readings = Readings(self.backing, self.address)
        left = readings.left(self.row) if self.row["status"] == "indexing" else None
        self.hand_over(*([Put(left)] if left else []), status="failed", error=error)
        if left:
            readings.send(left)

    def _write(self, changes: dict[str, Any], *writes: Write, task: Update | None = None) -> None:
        changes |= {"updated_at": self.backing.clock.now_ms()}
        values = {"fence": self.fence, **_OPEN}
        update = Update(key_of(self.row), changes, when=_MINE, values=values)
        others = [*writes, *([task] if task else [])]
        try:
            persist(lambda: self.backing.table.transact(update, *others))
        except TransactionFailed as failed:
            if not self._was_applied(failed, changes):
                raise self._meaning(failed, len(others) if task else 0) from None
        self.row = self.row | changes

    def _was_applied(self, failed: TransactionFailed, changes: dict[str, Any]) -> bool:
        """Tell whether it is our own write that stands in the way: applied, but its answer was lost."""
        there = failed.items[0] if 0 in failed.items else self.backing.table.get(key_of(self.row))
        return there is not None and all(there.get(n) == v for n, v in (changes | {"fence": self.fence}).items())

    def _meaning(self, failed: TransactionFailed, task: int) -> Exception:
        """Say what the first condition that did not hold means; `task` is the place of the task's, 0 without one."""
        if 0 in failed.items or (task and task in failed.items):
            return Fenced()
        if 1 in failed.items:
            return Erased("All memories of the user were deleted after this request was accepted.")
        return FileGone("The file was deleted.") if 2 in failed.items else Replaced()


def there_still(task: Item, job: Item) -> Check:
    """Return the check that a job's file is there."""
    values = {"ready": "ready", "generation": task["generation"]}
    key = file_key(address_of(task).scope, job["file"])
    return Check(key, "#status = :ready AND #generation = :generation", values)


def begin(backing: Backing, task: Item, row: Item, *, status: str) -> FileJob:
    """Begin an attempt at a job that was read just now.

    Raises:
        Fenced: another has begun one since, or the add was taken back.
    """
    fence, now = secrets.token_hex(8), backing.clock.now_ms()
    counted = {"tries": row["tries"] + 1, "strikes": row.get("strikes", 0) + 1}
    changes = {"fence": fence, **counted, "status": status, "since": now, "updated_at": now}
    seen = {"status": row["status"], "tries": row["tries"], "fence": row["fence"]}
    same = "#status = :status AND #tries = :tries AND #fence = :fence"
    try:
        persist(lambda: backing.table.write(Update(key_of(row), changes, when=same, values=seen)))
    except ConditionFailed as failed:
        if failed.item is None or failed.item.get("fence") != fence:
            raise Fenced from None
    return FileJob(backing, task, row | changes, fence)


def send_on(backing: Backing, task: Item, job: Item) -> None:
    """Send what is next after a job got further; sent twice it is done once.

    Raises:
        Unavailable: it may not have been sent.
    """
    now = backing.table.batch_get([key_of(task), key_of(job)])
    if key_of(task) not in now or key_of(job) not in now:
        return  # taken back
    task, job = now[key_of(task)], now[key_of(job)]
    if job["status"] in UNREAD:
        return  # begun anew meanwhile: whoever let it begin sends for it, and no function that is here may
    if task["status"] == "processing" and task["phase"] == "queued":
        # One that was tried again sends again what the queue has taken a moment ago under the first one's name.
        send_next(backing, task, [job], again=f":{job['tries']}")


def let_go(backing: Backing, job: Item, failure: Failure) -> None:
    """Remove what a job of an ended task has kept; one that has not ended ends so, whoever is at work on it still.

    Raises:
        Unavailable: some of it is left.
    """
    if job["status"] not in ENDED:
        _abandon(backing, job, failure)
    Pieces(backing, job).remove()


def forget_words(backing: Backing, job: Item) -> None:
    """Remove what the row of an ended job says in its user's words."""
    with suppress(ConditionFailed):
        backing.table.write(Update(key_of(job), drop=("caption", "filename"), when=PRESENT))


def begin_again(job: Item) -> tuple[Update | None, bool]:
    """Return the write that lets a job of a failed task begin anew, and whether the task has to wait for it.

    None for one that succeeded, or failed for good. Its reading gets another name: what is left of the one before may
    be being removed.
    """
    error = job["error"] or {}
    if job["status"] == "success" or error.get("code") not in AGAIN:
        return None, False
    told = job["of"] == "image" and job.get("caption") is not None
    address = UserAddress(Scope(job["tenant"], job["project"]), job["user_id"])
    again = {
        "status": "parsed" if told else "queued",
        "token": address.memory_id(job["task"], "reading", job["n"], job["tries"]),
        "chunks_done": 0,
        "chunks_total": None,
        "strikes": 0,
        "waits": 0,
        "error": None,
    }
    update = Update(key_of(job), again, drop=("at",), when="#status = :failed", values={"failed": "failed"})
    return update, not told


def _abandon(backing: Backing, job: Item, failure: Failure) -> None:
    readings = Readings(backing, address_of(job))
    error = {"code": failure.code, "message": failure.message}
    told = {"status": "failed", "fence": secrets.token_hex(8), "error": error}
    seen = {"status": job["status"]}
    update = Update(key_of(job), told, when="#status = :status", values=seen)
    left = readings.left(job) if job["status"] == "indexing" else None
    with suppress(TransactionFailed, LostRace, Conflict):  # it got further: its next write finds its task ended
        persist(lambda: backing.table.transact(update, *([Put(left)] if left else [])))
        if left:
            readings.send(left)
