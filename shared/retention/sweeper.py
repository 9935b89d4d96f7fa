"""The sweeper: hands everything whose moment has come to the handler of its kind.

Due items lie in buckets of an hour (`records.due_bucket`). A run reads the hours from its watermark to
now, and the watermark passes an hour when nothing in it is left to do. What can't be finished is moved
to a later bucket of its own, so that it is kept, retried, and holds up nothing else.
Handlers are idempotent, so a second sweeper at the same time, or one killed anywhere, does no harm.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.table import BATCH
from shared.aws.writes import Delete, Update
from shared.kernel.contention import LostRace
from shared.retention.faults import Fault, Faults, fault_of, isolated
from shared.retention.records import due_buckets, is_job, moved_bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.retention.deadline import Deadline

    Handler = Callable[[Item], bool]
    """Does an item's work; True: nothing is left of it. A job's row is removed for it, other kinds remove their own."""

HOUR_MS = 3_600_000
SLACK_HOURS = 2
"""How far behind the watermark every run looks again: the index lags, and so do writers' clocks."""

LOOK_BACK_HOURS = 5 * 24
RUN_HOURS = 10 * 24
"""At most so many hours are read in one run, so that catching up after an outage goes by steps."""

PROMPT_ATTEMPTS = 3
"""After this many failures an item rests for an hour between attempts; it still counts as waiting in each run."""

WIDTH = 8
"""Items in hand at the same time: fewer than the threads that their handlers' calls share."""

STATE: Key = ("SYS#sweeper", "sweep")


class UnknownKind(Exception):
    """A due item of a kind that no handler is given for: it is kept for a version that knows it."""


class Outcome(Enum):
    """What became of an item in hand."""

    DONE = "done"
    EARLY = "early"
    UNFINISHED = "unfinished"
    FAILED = "failed"
    RESTING = "resting"
    CUT = "cut"


@dataclass
class Swept:
    """What a run did: items done, those left by error or unfinished, and the oldest moment (ms) still waiting."""

    items: int = 0
    unfinished: int = 0
    complete: bool = True
    waiting_since: int | None = None
    faults: Faults = field(default_factory=Faults)

    def wait(self, moment: int) -> None:
        """Note something that was due at `moment` (ms) and is still to be done."""
        self.waiting_since = moment if self.waiting_since is None else min(moment, self.waiting_since)

    def cut(self, moment: int) -> None:
        """Note that the run ended before it came to what was due at `moment` (ms)."""
        self.complete = False
        self.wait(moment)

    def lag_seconds(self, now: int) -> int:
        """Return for how long the oldest due item has been waiting; 0 if nothing waits."""
        return 0 if self.waiting_since is None else max(0, now - self.waiting_since) // 1000


class Sweeper:
    """Runs over the due index; `handlers` by the items' attribute `kind`."""

    def __init__(self, table: Table, handlers: Mapping[str, Handler], clock: Clock) -> None:
        self._table = table
        self._handlers = handlers
        self._clock = clock

    def sweep(self, deadline: Deadline, *, deep: bool = False) -> Swept:
        """Handle what is due until `deadline`; a deep run looks five days back, whatever the watermark says.

        Raises:
            Unavailable: the watermark can't be read; of single items and buckets errors are counted instead.
        """
        now = self._clock.now_ms()
        this_hour = now - now % HOUR_MS
        mark = self._watermark(this_hour)
        first = mark - SLACK_HOURS * HOUR_MS
        if deep:
            first = min(first, this_hour - LOOK_BACK_HOURS * HOUR_MS)
        swept, passed = Swept(), first
        with ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as pool:
            run = _Run(self._table, self._handlers, self._clock, deadline, swept, pool)
            for hour in range(first, this_hour + 1, HOUR_MS):
                if hour - first >= RUN_HOURS * HOUR_MS or not swept.complete:
                    swept.cut(hour)
                    break
                if run.hour(hour) and passed == hour < this_hour:
                    passed = hour + HOUR_MS
        if passed > mark:
            isolated("watermark", swept.faults, lambda: self._advance(passed))
        return swept

    def _watermark(self, this_hour: int) -> int:
        state = self._table.get(STATE)
        return min(this_hour, state["passed"] if state else this_hour - LOOK_BACK_HOURS * HOUR_MS)

    def _advance(self, passed: int) -> None:
        forward = "attribute_not_exists(#passed) OR #passed < :new"
        try:
            self._table.write(Update(STATE, put={"passed": passed}, when=forward, values={"new": passed}))
        except ConditionFailed:
            return  # another sweeper is ahead


@dataclass(frozen=True)
class _Result:
    """What became of an item; `settled` when its hour need not wait for it."""

    item: Item
    outcome: Outcome
    fault: Fault | None
    settled: bool


@dataclass
class _Run:
    """One run's work; a fault is counted here and never leaves."""

    table: Table
    handlers: Mapping[str, Handler]
    clock: Clock
    deadline: Deadline
    swept: Swept
    pool: ThreadPoolExecutor
    _left: set[Key] = field(default_factory=set)  # not again in this run, where moving puts it into a later bucket

    def hour(self, hour: int) -> bool:
        """Handle an hour's buckets; True when nothing in them is left to do."""
        cleared = [self._bucket(hour, bucket) for bucket in due_buckets(hour)]
        return all(cleared)

    def _bucket(self, hour: int, bucket: str) -> bool:
        clear = True
        pages = self._pages(bucket)
        while True:
            if self.deadline.passed():
                self.swept.cut(hour)
                return False
            batch = isolated("due index", self.swept.faults, lambda: next(pages, ()))
            if batch is None:
                self.swept.wait(hour)
                return False
            if not batch:
                return clear
            clear = self._batch(hour, bucket, batch) and clear

    def _pages(self, bucket: str) -> Iterator[Sequence[Key]]:
        start = None
        while True:
            keys, start = self.table.due(bucket, start)
            yield from (keys[n : n + BATCH] for n in range(0, len(keys), BATCH))
            if start is None:
                return

    def _batch(self, hour: int, bucket: str, keys: Sequence[Key]) -> bool:
        found = isolated("due items", self.swept.faults, lambda: self.table.batch_get(keys))
        if found is None:
            self.swept.wait(hour)
            return False
        items = [i for k, i in found.items() if i.get("due") == bucket and k not in self._left]
        futures = [self.pool.submit(copy_context().run, self._one, item) for item in items]
        settled = [self._note(future.result()) for future in futures]
        return all(settled)

    def _one(self, item: Item) -> _Result:
        outcome, fault = self._handle(item)
        settled = outcome is Outcome.DONE or (outcome is not Outcome.CUT and self._leave(item, outcome))
        return _Result(item, outcome, fault, settled)

    def _handle(self, item: Item) -> tuple[Outcome, Fault | None]:
        if self.deadline.passed():
            return Outcome.CUT, None
        if _moment(item) > self.clock.now_ms():
            return Outcome.EARLY, None
        if item.get("attempts", 0) >= PROMPT_ATTEMPTS and self.clock.now_ms() - item.get("tried_at", 0) < HOUR_MS:
            return Outcome.RESTING, None
        try:
            return (Outcome.DONE if self._apply(item) else Outcome.UNFINISHED), None
        except LostRace:
            return Outcome.UNFINISHED, None
        except Exception as error:  # noqa: BLE001 - a poisoned item, whatever its handler raises, must not stop others
            return Outcome.FAILED, fault_of(str(item.get("kind")), error)

    def _apply(self, item: Item) -> bool:
        handler = self.handlers.get(str(item.get("kind")))
        if handler is None:
            raise UnknownKind
        done = handler(item)
        if done and is_job(item):
            self.table.write(Delete(key_of(item)))
        return done

    def _leave(self, item: Item, outcome: Outcome) -> bool:
        """Put an item where a later run finds it; True when its hour need not wait for it."""
        now = self.clock.now_ms()
        changes: dict[str, Any] = {}
        if outcome is Outcome.FAILED:
            changes = {"attempts": item.get("attempts", 0) + 1, "tried_at": now}
        if (due := moved_bucket(item["due"], max(now, _moment(item)))) != item["due"]:
            changes["due"] = due
        if not changes:
            return True
        try:
            self.table.write(Update(key_of(item), put=changes, when="#due = :due", values={"due": item["due"]}))
        except ConditionFailed:
            return True  # renewed, removed, or another sweeper's by now
        except Exception:  # noqa: BLE001 - then the hour waits, and the next run finds the item where it is
            return False
        return True

    def _note(self, result: _Result) -> bool:
        if result.outcome is Outcome.DONE:
            self.swept.items += 1
        elif result.outcome is not Outcome.EARLY:
            self._left.add(key_of(result.item))
            self.swept.wait(_moment(result.item))
            self.swept.unfinished += 1
            self.swept.complete = self.swept.complete and result.outcome is not Outcome.CUT
        if result.fault:
            self.swept.faults[result.fault] += 1
        return result.settled


def _moment(item: Item) -> int:
    """Return when an item was due, to the millisecond; a job was at its creation."""
    moment: int = item.get("retain_until") or item.get("expires_at") or item.get("created_at") or 0
    return moment
