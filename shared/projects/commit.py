"""How a write below a task becomes visible: its rows, its task and what it leaves behind, in one transaction.

The task's condition names what must still be so (generation, order of times, newest turn), not the
row as it was read: writers of different turns only collide while their transactions overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.aws.errors import TransactionFailed
from shared.aws.writes import ABSENT, Put, Update
from shared.kernel.clock import DAY_MS
from shared.kernel.contention import LostRace
from shared.kernel.ids import ulid
from shared.projects.records import NO_TURN, Address, count, expiry_index, newest_index
from shared.retention.records import due_bucket, job

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.projects.backing import Backing
    from shared.projects.sight import Sight


@dataclass(frozen=True)
class SummaryChange:
    """What a turn's write does to the digest: the bytes of its summary, and which turn the digest falls back to.

    `fallback` (turn, bytes) is known only when the digest's own turn loses its summary.
    """

    size: int
    fallback: tuple[int, int] | None = None


@dataclass(frozen=True)
class Stamp:
    """The moment (ms) and the generation that a write's rows carry."""

    at: int
    gen: str


@dataclass(frozen=True)
class Plan:
    """One write: its rows for a stamp, whether the turn is new, its summary, objects that it replaces."""

    rows: Callable[[Stamp], list[Write]]
    new_turn: bool
    summary: SummaryChange | None = None
    replaced: tuple[str | None, ...] = ()


@dataclass
class Writer:
    """Commits plans of one request, so that a repeated attempt is known as its own (`rev`)."""

    backing: Backing
    address: Address
    principal: str
    rev: str = field(default_factory=ulid)
    _newborn: str = field(default_factory=ulid)

    def commit(self, sight: Sight, plan: Plan) -> tuple[Stamp, Item]:
        """Apply a plan and return its stamp and the task as it is then.

        Raises:
            Outdated: something else changed; carries the newer sight.
        """
        stamp = self._stamp(sight)
        rows = plan.rows(stamp)
        task_write, task = self._task(sight, plan, stamp)
        writes = [*rows, task_write, *self._births(sight), *self._jobs(sight, plan, stamp)]
        try:
            self.backing.table.transact(*writes)
        except TransactionFailed as failed:
            self._explain(failed, rows, sight)
        return stamp, task

    def _stamp(self, sight: Sight) -> Stamp:
        now = self.backing.clock.now_ms()
        if sight.task is None:
            return Stamp(now, self._newborn)
        return Stamp(max(now, sight.task["updated_at"] + 1), sight.task["gen"])

    def _explain(self, failed: TransactionFailed, rows: list[Write], sight: Sight) -> None:
        first = failed.items.get(0)
        if first is not None and first.get("rev") == self.rev:
            return  # our own earlier attempt was applied, only its answer was lost
        # What the refusal does not show was as it was seen, or its condition would have failed too.
        images = {_sort_key(rows[n]): image for n, image in failed.items.items() if n < len(rows)}
        newer = sight.with_rows(images)
        if len(rows) in failed.items:
            newer = newer.with_task(failed.items[len(rows)], self.backing.clock.now_ms())
        raise Outdated(newer)

    def _task(self, sight: Sight, plan: Plan, stamp: Stamp) -> tuple[Write, Item]:
        times = _times(self.address, stamp, sight.settings.retention_days)
        if sight.task is None:
            return self._birth(sight, plan, times | {"gen": stamp.gen})
        change = _Change(times, ["#gen = :gen", "#updated_at < :at"], {"gen": stamp.gen, "at": stamp.at})
        change.count(sight.task, self.address.turn, new=plan.new_turn)
        if plan.summary:
            change.summarise(sight.task, self.address.turn, plan.summary)
        return change.update(self.address), {**sight.task, **change.put, **change.counted(sight.task)}

    def _birth(self, sight: Sight, plan: Plan, times: Item) -> tuple[Write, Item]:
        pk, sk = self.address.task_key
        size = plan.summary.size if plan.summary else 0
        turn = self.address.turn
        born = {"pk": pk, "sk": sk, "kind": "task", "owner": self.principal, "created_at": times["updated_at"]}
        told = {"latest_turn": turn, "turn_count": 1, "digest_turn": turn if size else NO_TURN, "digest_bytes": size}
        task = {**born, **times, **told}
        if sight.expired is None:
            return Put(task, ABSENT), task
        # What is past its time is replaced at once; its rows are left to a job, its count stays one.
        gone = {"old": sight.expired["gen"], "until": sight.expired["retain_until"]}
        return Put(task, "#gen = :old AND #retain_until = :until", gone), task

    def _births(self, sight: Sight) -> list[Write]:
        return [count(self.address.scope, 1)] if sight.begins else []

    def _jobs(self, sight: Sight, plan: Plan, stamp: Stamp) -> list[Write]:
        jobs = [job("remove_object", self.address.scope, stamp.at, object=key) for key in plan.replaced if key]
        if sight.task is None and sight.expired is not None:
            jobs.append(removal(self.address, sight.expired, stamp.at))
        return [Put(item) for item in jobs]


class Outdated(LostRace):
    """What was seen is no longer so; `sight` is what the refusal told of what is there now."""

    def __init__(self, sight: Sight) -> None:
        super().__init__(pause=False)
        self.sight = sight


def _sort_key(write: Write) -> str:
    return str(write.item["sk"]) if isinstance(write, Put) else write.key[1]


def removal(address: Address, task: Item, now: int) -> Item:
    """Return the job that removes what lies below a task that is gone."""
    return job("remove_task", address.scope, now, task=address.task_id, gen=task["gen"])


def _times(address: Address, stamp: Stamp, days: int) -> Item:
    until = stamp.at + days * DAY_MS
    return {
        "updated_at": stamp.at,
        "retain_until": until,
        "retention_days": days,
        "l1": newest_index(stamp.at, address.task_id),
        "l2": expiry_index(until, address.task_id),
        "due": due_bucket(until, address.task_id),
    }


@dataclass
class _Change:
    """The update of a living task's row, and the conditions under which it is right."""

    put: Item
    when: list[str]
    values: dict[str, Any]
    add: dict[str, int] = field(default_factory=dict)

    def count(self, task: Item, turn: int, *, new: bool) -> None:
        """Count a new turn, and move `latest_turn`, which only ever rises."""
        if new:
            self.add["turn_count"] = 1
        if turn > task["latest_turn"]:
            self.put["latest_turn"] = turn
            self._hold("#latest_turn < :turn", turn=turn)

    def summarise(self, task: Item, turn: int, summary: SummaryChange) -> None:
        """Keep `digest_turn` at the newest turn that has a summary."""
        shown = task["digest_turn"]
        if summary.size and turn >= shown:
            self._show(turn, summary.size)
            self._hold("#digest_turn <= :turn", turn=turn)
        elif summary.size:
            self._hold("#digest_turn > :turn", turn=turn)
        elif turn != shown:
            self._hold("#digest_turn <> :turn", turn=turn)
        else:
            # The turn to fall back to was looked for beforehand: only right if nothing changed since.
            self._show(*(summary.fallback or (NO_TURN, 0)))
            self._hold("#updated_at = :seen", seen=task["updated_at"])

    def counted(self, task: Item) -> Item:
        """Return the count after the update."""
        return {"turn_count": task["turn_count"] + self.add.get("turn_count", 0)}

    def update(self, address: Address) -> Update:
        """Return the write."""
        return Update(address.task_key, self.put, self.add, when=" AND ".join(self.when), values=self.values)

    def _show(self, turn: int, size: int) -> None:
        self.put.update(digest_turn=turn, digest_bytes=size)

    def _hold(self, condition: str, **values: int) -> None:
        self.when.append(condition)
        self.values.update(values)
