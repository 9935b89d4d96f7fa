"""The nightly rounds: which days of which classes are to be walked through, and how far that has got.

All of it is in one record, so that a run which is killed or out of time goes on where it was. Only
one run gets further at a time (`rev`); a second one stops at its first save, having done no harm.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from shared.aws.errors import ConditionFailed
from shared.aws.writes import Put
from shared.kernel.clock import DAY_MS, day_of
from shared.kernel.contention import LostRace, persist
from shared.retention.faults import Faults, isolated
from shared.retention.records import DAYS, KEEP, SLACK_DAYS, UPLOADS, class_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.objects import Listed, Objects
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.retention.deadline import Deadline

RENEW, RECONCILE = "renew", "reconcile"
CLASSES = (*map(class_of, DAYS), KEEP, UPLOADS)
PIECE = 100
"""Keys settled between two saves: as many as one batch read of their owners takes."""

AGE_DAYS = 2
"""How old a day is when it is reconciled."""

FIRST_LOOK_DAYS = 5
PLANNED_DAYS = 60
"""At most so many missed days are planned in one night; the next one goes on."""

TRIES = 12
PAUSE_MS, LONGEST_PAUSE_MS = 30 * 60_000, 8 * 3_600_000
"""A round with faults is walked again after a pause, doubled each time: twelve times in about three days."""

STATE: Key = ("SYS#sweeper", "rounds")


@dataclass(frozen=True)
class Settled:
    """How many objects a step removed and renewed."""

    removed: int = 0
    renewed: int = 0


class Step(Protocol):
    """What a round does with its objects."""

    def __call__(self, keys: Sequence[str], faults: Faults) -> Settled:
        """Settle at most 100 keys; single objects that fail are counted in `faults`."""


@dataclass(frozen=True)
class Round:
    """A walk through one class's day: `after` is the last key settled, `faults` those of this walk."""

    step: str
    class_name: str
    day: str
    after: str = ""
    faults: int = 0
    tries: int = 0
    not_before: int = 0

    @property
    def prefix(self) -> str:
        """Where its objects are."""
        return f"{self.class_name}/{self.day}/"

    def urgency(self) -> tuple[bool, int]:
        """Sort by what would be lost first: what S3 is about to expire, then the oldest orphans."""
        days = int(self.class_name[1:]) if self.step == RENEW else 0
        return self.step != RENEW, _day_ms(self.day) + days * DAY_MS


@dataclass
class Walked:
    """What a run of the rounds did; `complete` when no round is left for now."""

    removed: int = 0
    renewed: int = 0
    complete: bool = False
    faults: Faults = field(default_factory=Faults)


class Rounds:
    """Plans and walks the rounds; `steps` by their names `renew` and `reconcile`."""

    def __init__(self, table: Table, objects: Objects, steps: Mapping[str, Step], *, clock: Clock) -> None:
        self._table = table
        self._objects = objects
        self._steps = steps
        self._clock = clock

    def plan(self) -> None:
        """Add the rounds of tonight, and of every night that was missed. Repeating it changes nothing.

        Raises:
            Unavailable: the record can't be read or written.
        """
        persist(self._plan)

    def walk(self, deadline: Deadline) -> Walked:
        """Walk through what is planned until `deadline`.

        Raises:
            Unavailable: the record can't be read or written.
        """
        agenda, walked = _Agenda(self._table), Walked()
        while (current := agenda.next(self._clock.now_ms())) and not deadline.passed():
            further, settled = self._advance(current, walked)
            agenda.put(current, further)
            if settled and not agenda.save():
                return walked  # another run is at it
        walked.complete = current is None
        agenda.save()
        return walked

    def _plan(self) -> None:
        agenda = _Agenda(self._table)
        agenda.add(self._clock.now_ms())
        if not agenda.save():
            raise LostRace

    def _advance(self, current: Round, walked: Walked) -> tuple[Round | None, bool]:
        """Settle the next piece of a round; return what is left of it, and whether there was anything to settle."""
        faults = Faults()
        page = isolated("list", faults, lambda: self._objects.list(current.prefix, after=current.after, size=PIECE))
        keys = [key for key, _ in page.objects] if page else []
        if keys:
            self._settle(current.step, keys, walked, faults=faults)
        walked.faults.update(faults)
        further = replace(current, faults=current.faults + faults.total())
        return self._rest(page, further), bool(keys)

    def _rest(self, page: Listed | None, walk: Round) -> Round | None:
        if page is None:
            return self._later(walk)
        if page.token:
            return replace(walk, after=page.objects[-1][0])
        return self._later(replace(walk, after="", faults=0)) if walk.faults else None

    def _settle(self, step: str, keys: list[str], walked: Walked, *, faults: Faults) -> None:
        settled = isolated(step, faults, lambda: self._steps[step](keys, faults))
        if settled:
            walked.removed += settled.removed
            walked.renewed += settled.renewed

    def _later(self, failed: Round) -> Round | None:
        if failed.tries + 1 == TRIES:
            return None  # counted as faults for days by now; a lifecycle rule or the next visit takes the rest
        pause = min(PAUSE_MS << failed.tries, LONGEST_PAUSE_MS)
        return replace(failed, tries=failed.tries + 1, not_before=self._clock.now_ms() + pause)


class _Agenda:
    """The record: rounds in order of urgency, and the last day (`yyyymmdd`) whose reconciliation was planned."""

    def __init__(self, table: Table) -> None:
        self._table = table
        item = table.get(STATE) or {"rounds": [], "planned": "", "rev": 0}
        self._rounds = {_name(r): r for r in map(_read, item["rounds"])}
        self._planned: str = item["planned"]
        self._rev: int = item["rev"]
        self._changed = False

    def next(self, now: int) -> Round | None:
        """Return the most urgent round that may be walked now."""
        ready = [r for r in self._rounds.values() if r.not_before <= now]
        return min(ready, key=Round.urgency, default=None)

    def put(self, current: Round, further: Round | None) -> None:
        """Replace a round by what is left of it."""
        self._changed = True
        del self._rounds[_name(current)]
        if further:
            self._rounds[_name(further)] = further

    def add(self, now: int) -> None:
        """Plan tonight's rounds; those that are planned already keep their place."""
        for days in DAYS:
            for late in range(1, SLACK_DAYS + 1):
                self._plan(Round(RENEW, class_of(days), day_of(now - (days + late) * DAY_MS)))
        for day in self._unreconciled(now):
            for class_name in CLASSES:
                self._plan(Round(RECONCILE, class_name, day))
            self._planned = day

    def save(self) -> bool:
        """Write the record if it changed; False when another run wrote it since it was read."""
        if not self._changed:
            return True
        pk, sk = STATE
        rounds = [asdict(r) for r in self._rounds.values()]
        item: Item = {"pk": pk, "sk": sk, "rounds": rounds, "planned": self._planned, "rev": self._rev + 1}
        try:
            self._table.write(Put(item, "attribute_not_exists(#rev) OR #rev = :rev", {"rev": self._rev}))
        except ConditionFailed:
            return False
        self._rev += 1
        self._changed = False
        return True

    def _plan(self, planned: Round) -> None:
        if _name(planned) not in self._rounds:
            self._rounds[_name(planned)] = planned
            self._changed = True

    def _unreconciled(self, now: int) -> Iterator[str]:
        last = now - AGE_DAYS * DAY_MS
        start = _day_ms(self._planned) + DAY_MS if self._planned else last - FIRST_LOOK_DAYS * DAY_MS
        days = range(start, last + 1, DAY_MS)[:PLANNED_DAYS]
        return map(day_of, days)


def _name(walk: Round) -> tuple[str, str, str]:
    return walk.step, walk.class_name, walk.day


def _read(item: Item) -> Round:
    return Round(**item)


def _day_ms(day: str) -> int:
    return int(datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).timestamp()) * 1000
