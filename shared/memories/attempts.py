"""One attempt at a task: its place in the queue of attempts, and the fence that keeps it from writing too late.

An attempt takes the user's lease and puts its token into the task's row, in one transaction. Every later write of the
attempt asks for both: one whose place was taken, or whose task was ended by another, changes nothing any more.
The row counts what went wrong since the last progress, since the queue can't tell a message that kills its worker
from one that only stood behind it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.writes import Check, Update
from shared.kernel.contention import persist
from shared.kernel.errors import LodestoreError
from shared.kernel.scope import Scope
from shared.memories.records import UserAddress
from shared.retention.records import due_bucket

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.aws.table import Table
    from shared.aws.writes import Write
    from shared.kernel.clock import Clock

LEASE_MS = 60_000
"""How long a user's lease outlives the last sign of its holder."""

LOOK_MS = 5 * 60_000
"""How long after its last beginning the sweeper looks at a task that has not ended."""

STRIKES = 3
"""So many attempts may end by death or an unexpected error without progress between them."""

WAITS = 10
"""So many may end because a dependency was down."""

BLOCK_MS = 110_000
"""How long a task may hold up its user without progress: two minutes, less the time of a last delivery."""

HELD_MS = 85_000
"""How long of it a single attempt may take: then its message is let go, to come again half a minute later."""

HUNG_MS = 100_000
"""A task that is delivered so late after its last attempt began, and did not end it, had hung: it comes too late."""

ABSENCE_MS, DEATH_MS = 120_000, 30_000
"""A longer time between two attempts means that nobody was there to try; it counts as if a worker had just died."""

_MINE = "#status = :processing AND #token = :token"


class Fenced(Exception):
    """Another attempt has taken over, or the task has ended: this one must stop, and has nothing to report."""


class Busy(Exception):
    """Another writer has the user's lease."""


class Overtaken(Exception):
    """A memory that a change rests on was changed since it was read."""


class Erased(LodestoreError):
    """All of the user's memories were forgotten since the task was accepted."""


@dataclass
class Attempt:
    """An attempt under way; `task` is the row as it is after the attempt's last write."""

    table: Table
    clock: Clock
    task: Item
    token: str

    @property
    def address(self) -> UserAddress:
        """Whose task it is."""
        return address_of(self.task)

    @property
    def held_until(self) -> int:
        """Until when (ms) the message may be kept from other workers."""
        until: int = self.task["since"] + HELD_MS - self.task["spent"]
        return until

    def note(self, **changes: Any) -> None:
        """Note something in the task's row that is no progress, such as its phase.

        Raises:
            Fenced: it is not this attempt's to say.
        """
        self._write(changes)

    def progress(self, *writes: Write, **changes: Any) -> None:
        """Note that something was reached that no later attempt does again.

        Raises:
            Fenced: it is not this attempt's to say.
        """
        reached = {"strikes": 1, "waits": 0, "spent": 0, "since": self.clock.now_ms()}
        self._write(reached | changes, *writes)

    def commit(self, count: int, *writes: Write, **changes: Any) -> None:
        """Apply changes to memories, and note that `count` of the plan are applied now.

        Raises:
            Erased: everything was forgotten meanwhile.
            Fenced: another attempt, or another writer of the user, has taken over.
            Overtaken: a condition of the changes does not hold.
        """
        self.progress(self.holds_lease(), self.holds_generation(), *writes, committed=count, **changes)

    def put_off(self, waits: int) -> None:
        """Note that the attempt ended without a strike against the task: a dependency was down, for the n-th time.

        Raises:
            Fenced: another attempt has taken over.
        """
        self._write({"strikes": self.task["strikes"] - 1, "waits": waits})

    def holds_lease(self) -> Check:
        """Return the check that no other writer of the user has taken the lease."""
        return Check(self.address.lease_key(), "#token = :token", {"token": self.token})

    def holds_generation(self) -> Check:
        """Return the check that the user's memories were not forgotten since the task was accepted."""
        return generation_check(self.address, self.task["generation"])

    def renew(self) -> None:
        """Keep the lease.

        Raises:
            Fenced: another has it.
        """
        until = self.clock.now_ms() + LEASE_MS
        mine = Update(self.address.lease_key(), {"until": until}, when="#token = :token", values={"token": self.token})
        try:
            persist(lambda: self.table.write(mine))
        except ConditionFailed:
            raise Fenced from None

    def release(self) -> None:
        """Give the lease back; its row stays, since it tells who had it last."""
        _free(self.table, self.address, "#token = :value", value=self.token)

    def end(self, changes: dict[str, Any], *writes: Write, drop: tuple[str, ...] = ()) -> None:
        """End the task.

        Raises:
            Fenced: it is not this attempt's to end.
        """
        self._write(changes, *writes, drop=drop)

    def _write(self, changes: dict[str, Any], *writes: Write, drop: tuple[str, ...] = ()) -> None:
        changes |= {"updated_at": self.clock.now_ms()}
        values = {"processing": "processing", "token": self.token}
        update = Update(key_of(self.task), changes, drop=drop, when=_MINE, values=values)
        try:
            self._apply(update, *writes)
        except (ConditionFailed, TransactionFailed) as failed:
            if not self._was_applied(failed, changes):
                raise self._meaning(failed) from None
        self.task |= changes

    def _apply(self, update: Update, *writes: Write) -> None:
        if writes:
            persist(lambda: self.table.transact(update, *writes))
        else:
            persist(lambda: self.table.write(update))

    def _was_applied(self, failed: ConditionFailed | TransactionFailed, changes: dict[str, Any]) -> bool:
        """Tell whether it is our own write that stands in the way: applied, but its answer was lost."""
        there = failed.item if isinstance(failed, ConditionFailed) else self._there(failed)
        return there is not None and all(there.get(n) == v for n, v in (changes | {"token": self.token}).items())

    def _there(self, failed: TransactionFailed) -> Item | None:
        return failed.items[0] if 0 in failed.items else self.table.get(key_of(self.task))

    def _meaning(self, failed: ConditionFailed | TransactionFailed) -> Exception:
        if isinstance(failed, ConditionFailed) or 0 in failed.items or 1 in failed.items:
            return Fenced()
        if 2 in failed.items:
            return Erased("All memories of the user were deleted after this request was accepted.")
        return Overtaken()


def begin(table: Table, clock: Clock, task: Item) -> Attempt:
    """Begin an attempt at a task that was read just now.

    Raises:
        Busy: another writer has the user's lease.
        Fenced: the task has ended.
    """
    token, now, address = secrets.token_hex(8), clock.now_ms(), address_of(task)
    changes = {
        "token": token,
        "phase": "reading",
        "tries": task["tries"] + 1,
        "strikes": task.get("strikes", 0) + 1,
        "waits": task.get("waits", 0),
        "resent": 0,
        "spent": spent(task, now),
        "since": now,
        "updated_at": now,
        "expires_at": now + LOOK_MS,
        "due": due_bucket(now + LOOK_MS, task["task"]),
    }
    start = Update(key_of(task), changes, when="#status = :processing", values={"processing": "processing"})
    if task["tries"] and _started(table, start, _keep_lease(address, task["task"], token, now=now)):
        return Attempt(table, clock, task | changes, token)
    if not _started(table, start, _take_lease(address, task["task"], token, now=now)):
        raise Busy
    return Attempt(table, clock, task | changes, token)


def free_lease(table: Table, task: Item) -> None:
    """Give back the lease that an attempt at an ended task may have left: a dead worker can't."""
    _free(table, address_of(task), "#task = :value", value=task["task"])


def spent(task: Item, now: int) -> int:
    """Return how long (ms) a task has held up its user since it last got further."""
    if "since" not in task:
        return 0
    gap = now - task["since"]
    held_up: int = task["spent"] + (gap if gap <= ABSENCE_MS else DEATH_MS)
    return held_up


def address_of(task: Item) -> UserAddress:
    """Return whose task a row is."""
    return UserAddress(Scope(task["tenant"], task["project"]), task["user_id"])


def generation_check(address: UserAddress, generation: int) -> Check:
    """Return the check that the user's generation is this one still."""
    name = address.generation_name
    first = f"attribute_not_exists(#{name}) OR " if generation == 0 else ""
    return Check(address.generation_key, f"{first}#{name} = :generation", {"generation": generation})


def _started(table: Table, start: Update, lease: Update) -> bool:
    """Begin, if the lease can be had.

    Raises:
        Fenced: the task has ended.
    """
    try:
        persist(lambda: table.transact(start, lease))
    except TransactionFailed as failed:
        if 0 in failed.items:
            raise Fenced from None
        return False
    return True


def _keep_lease(address: UserAddress, task_id: str, token: str, *, now: int) -> Update:
    """Return the write that goes on with a lease that an earlier attempt at the same task had last."""
    changes = {"token": token, "until": now + LEASE_MS}
    return Update(address.lease_key(), changes, when="#task = :task", values={"task": task_id})


def _take_lease(address: UserAddress, task_id: str, token: str, *, now: int) -> Update:
    """Return the write that takes a lease that is free; `turn` counts the tasks that had it."""
    return Update(
        address.lease_key(),
        {"user": address.user, "task": task_id, "token": token, "until": now + LEASE_MS},
        add={"turn": 1},
        when="attribute_not_exists(#pk) OR #until < :now",
        values={"now": now},
    )


def _free(table: Table, address: UserAddress, when: str, *, value: str) -> None:
    try:
        free = Update(address.lease_key(), {"until": 0}, drop=("token",), when=when, values={"value": value})
        persist(lambda: table.write(free))
    except ConditionFailed:
        return
