"""How a task ends: once, with its quota settled in the same transaction, and with nothing left that is not needed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.writes import Delete, Put, Update
from shared.kernel.clock import DAY_MS
from shared.kernel.contention import persist
from shared.kernel.errors import LodestoreError, Unavailable
from shared.kernel.scope import Scope
from shared.memories.attempts import address_of
from shared.memories.files.jobs import AGAIN, Failure, begin_again, forget_words, let_go
from shared.memories.files.readings import chunk_id
from shared.memories.files.sending import jobs_of
from shared.memories.records import plan_key, pointer_key
from shared.memories.remains import leftovers_of, of_plan
from shared.memories.tasks import VISIBLE_MS, reservation_of
from shared.retention.records import due_bucket
from shared.tenancy.quotas import given_back, settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.memories.attempts import Attempt
    from shared.memories.backing import Backing
    from shared.memories.leftovers import Leftovers
    from shared.memories.plan import Change
    from shared.memories.records import UserAddress
    from shared.memories.remains import Remains

REDRIVE_MS = 14 * DAY_MS
"""How long a failed task keeps what it needs to be tried again: as long as the dead-letter queue keeps its message."""

EVENTS_KEPT = 4000
"""Events of a task's row; more would not fit into it."""

REPLY_KEPT = 4000
"""Characters of a model's useless answer that are kept with the task."""


@dataclass(frozen=True)
class Reason:
    """Why a task failed, in words that its user can act on; `reply` is what a model said.

    `again`: a redrive may succeed, so the payload is kept and the dead-letter queue gets the message.
    """

    code: str
    message: str
    reply: str | None = None
    again: bool = True


class NothingStored(LodestoreError):
    """Every file of an add failed, and it brought nothing else; `again`: one may be read when it is tried again."""

    def __init__(self, jobs: Sequence[Item]) -> None:
        errors = [job["error"] for job in jobs]
        each = "None of its files and images could be used; `files` and `images` say why of each."
        super().__init__(errors[0]["message"] if len(errors) == 1 else each)
        self.again = any(error["code"] in AGAIN for error in errors)


def succeed(
    backing: Backing, attempt: Attempt, changes: Sequence[Change], *, plan: Item | None, jobs: Sequence[Item] = ()
) -> None:
    """End a task well, and remove its payload and the plan that `plan` is the row of; `jobs` are those of its files.

    Raises:
        Fenced: another attempt has taken over.
        NothingStored: it is to end badly.
    """
    task = attempt.task
    events = [{"id": c.memory_id, "event": c.event} for c in changes if c.event != "NONE"]
    events += [_of_image(attempt.address, job) for job in jobs if job["of"] == "image" and _has_changed(job)]
    if jobs and not events and all(job["status"] == "failed" for job in jobs):
        raise NothingStored(jobs)
    now = backing.clock.now_ms()
    ended = {
        **_ended(task, now, VISIBLE_MS),
        "status": "success",
        "phase": "done",
        "memory": {"total": len(events) + task.get("chunks", 0)},
        "events": events[:EVENTS_KEPT],
        "error": None,
    }
    _note_usage(backing, attempt, changes)
    reservation = reservation_of(task)
    writes: list[Write] = [settled(reservation)] if reservation else []
    writes += [Delete(key_of(plan))] if plan else []
    attempt.end(ended, *writes, drop=("object",))
    backing.objects.discard(*[row["object"] for row in (task, plan) if row])
    _forget_jobs(backing, jobs)


def fail(backing: Backing, task: Item, reason: Reason, *, letter: bool) -> tuple[Leftovers, Remains] | None:
    """End a task badly, as it was last seen, and return what it leaves, with the job that stands for it.

    None when it is another attempt's by now, or has ended, or got further.
    `letter`: its message must be put into the dead-letter queue.
    """
    now = backing.clock.now_ms()
    leftovers, remains = leftovers_of(backing, task), of_plan(backing, task)
    ended = {
        **_ended(task, now, REDRIVE_MS if reason.again else VISIBLE_MS),
        "status": "failed",
        "error": {"code": reason.code, "message": reason.message},
        **({"reply": reason.reply[:REPLY_KEPT]} if reason.reply else {}),
        **({"letter": True} if letter and reason.again else {}),
    }
    same, values = _as_seen(task)
    update = Update(key_of(task), ended, drop=() if reason.again else ("object",), when=same, values=values)
    plan = backing.table.get(_plan_key(task))
    writes = [*_consequences(task, reason, plan), *remains.kept(leftovers)]
    try:
        persist(lambda: backing.table.transact(update, *writes))
    except TransactionFailed:
        return None
    with suppress(Unavailable):  # the sweeper does it when it removes the task
        each(lambda job: let_go(backing, job, Failure(reason.code, reason.message)), jobs_of(backing.table, task))
    if not reason.again:
        forget(backing, task)
    elif plan and not _keeps_plan(task):
        backing.objects.discard(plan["object"])
    return leftovers, remains


def forget(backing: Backing, task: Item) -> None:
    """Remove an ended task's payload, its plan and what its files say; what a crash leaves is the sweeper's."""
    plan = backing.table.get(_plan_key(task))
    backing.objects.discard(*[row["object"] for row in (task, plan) if row and "object" in row])
    if plan:
        backing.table.write(Delete(key_of(plan)))
    _forget_jobs(backing, jobs_of(backing.table, task))


def revive(backing: Backing, task: Item) -> bool:
    """Let a failed task be tried again, without its quota; False when it has nothing left to be tried with.

    Of its files those begin anew that were not at fault themselves.
    """
    now = backing.clock.now_ms()
    begun = [begin_again(job) for job in jobs_of(backing.table, task)]
    waiting = {"waiting": sum(waits for _, waits in begun)} if begun else {}
    again: dict[str, Any] = {
        "status": "processing",
        "phase": "queued",
        "tries": 0,
        "strikes": 0,
        "waits": 0,
        "indexed": 0,
        "error": None,
        "reservation": None,
        "completed_at": None,
        "updated_at": now,
        **waiting,
        **look_at(task, now + 5 * 60_000),
    }
    gone = ("since", "spent", "letter", "reply", "resent")
    failed = "#status = :failed AND attribute_exists(#object)"
    update = Update(key_of(task), again, drop=gone, when=failed, values={"failed": "failed"})
    try:
        jobs = [write for write, _ in begun if write]
        persist(lambda: backing.table.transact(update, *map(Delete, pointers(task)), *jobs))
    except TransactionFailed:
        return False
    return True


def _of_image(address: UserAddress, job: Item) -> dict[str, Any]:
    return {"id": chunk_id(address, job["token"], 0), "event": "ADD"}


def _has_changed(job: Item) -> bool:
    return bool(job["status"] == "success" and job["event"] != "NONE")


def _forget_jobs(backing: Backing, jobs: Sequence[Item]) -> None:
    with suppress(Unavailable):
        each(lambda job: forget_words(backing, job), jobs)


def look_at(task: Item, moment: int) -> dict[str, Any]:
    """Return the changes that have the sweeper look at a task at a moment (ms)."""
    return {"expires_at": moment, "due": due_bucket(moment, task["task"])}


def _note_usage(backing: Backing, attempt: Attempt, changes: Sequence[Change]) -> None:
    made = [change.row for change in changes if change.row]
    ended = [change.old for change in changes if change.old and change.ended]
    size = sum(row["size"] for row in made) - sum(row["size"] for row in ended)
    count = sum(c.event == "ADD" for c in changes) - sum(c.event == "DELETE" for c in changes)
    backing.note(attempt.address.scope, memories=count, bytes=size)


def _ended(task: Item, now: int, kept: int) -> dict[str, Any]:
    return {"completed_at": now, "updated_at": now, **look_at(task, now + kept)}


def _as_seen(task: Item) -> tuple[str, dict[str, Any]]:
    """Return the condition that nobody has begun another attempt, or committed more, since the task was read."""
    names = ("token", "committed")
    seen: dict[str, Any] = {name: task[name] for name in names if name in task}
    same = [f"#{name} = :{name}" if name in seen else f"attribute_not_exists(#{name})" for name in names]
    return " AND ".join(["#status = :processing", *same]), {"processing": "processing", **seen}


def _keeps_plan(task: Item) -> bool:
    """Tell whether a failed task needs its plan to be tried again: what is not begun is better planned anew.

    A plan has the words of memories that it was decided beside, and they may be deleted.
    """
    return bool(task.get("committed"))


def _consequences(task: Item, reason: Reason, plan: Item | None) -> list[Write]:
    reservation = reservation_of(task)
    writes: list[Write] = [given_back(reservation)] if reservation else []
    if not reason.again:
        return writes
    if plan and not _keeps_plan(task):
        writes.append(Delete(key_of(plan)))
        plan = None
    kept = [row["object"] for row in (task, plan or {}) if "object" in row]
    user = {"user": task["user"], "generation": task["generation"], "task": task["task"]}
    for (pk, sk), key in zip(pointers(task), kept, strict=False):
        writes.append(Put({"pk": pk, "sk": sk, **user, "object": key}))
    return writes


def pointers(task: Item) -> list[tuple[str, str]]:
    """Return the keys of the rows by which forgetting a user finds what a failed task of theirs has kept."""
    address = address_of(task)
    return [pointer_key(address, task["task"], what) for what in ("payload", "plan")]


def _plan_key(task: Item) -> tuple[str, str]:
    return plan_key(Scope(task["tenant"], task["project"]), task["task"])
