"""A small domain on top of the retention room, with a model of what must be true of it.

Tasks hold parts; each part has an object. A task lives `days` from the last write to any of its parts.
The model remembers what was acknowledged; `check` compares it with what is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from moto.s3.models import s3_backends

from infra.local.stack import ACCOUNT
from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.objects import Objects
from shared.aws.table import Query, Table
from shared.aws.writes import ABSENT, Delete, Put, Update
from shared.kernel.clock import DAY_MS
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.retention.deadline import Deadline
from shared.retention.ownership import Ownership
from shared.retention.reconciliation import Reconciliation
from shared.retention.records import class_of, due_bucket, job, object_key, owner_of
from shared.retention.removal import ObjectRemoval
from shared.retention.renewal import Renewal
from shared.retention.rounds import RECONCILE, RENEW, Rounds, Walked
from shared.retention.sweeper import HOUR_MS, STATE, Sweeper, Swept
from tests.emulator.ageing import expire_objects

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.retention.sweeper import Handler
    from tests.emulator.cloud import Cloud

SCOPE = Scope("acme", "demo")
START = 1_795_050_000_000  # 2026-11-19T01:00:00Z
NEVER = Deadline(lambda: 900_000)


class MovedClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now

    def move(self, *, days: float = 0, hours: float = 0) -> None:
        self.now += int(days * DAY_MS + hours * HOUR_MS)

    def move_to(self, moment: int) -> None:
        self.now = max(self.now, moment)


@dataclass
class Life:
    """What the model knows of a task: until when it lives, and the bytes of its parts."""

    retain_until: int
    parts: dict[str, bytes] = field(default_factory=dict)


class World:
    """The domain, its model and its sweeper."""

    def __init__(self, cloud: Cloud, clock: MovedClock) -> None:
        self.cloud, self.clock = cloud, clock
        self.table = Table(cloud.aws, cloud.table_name)
        self.objects = Objects(cloud.aws, cloud.bucket_name)
        self.handlers: dict[str, Handler] = {
            "task": self.expire_task,
            "remove_task": self.remove_task,
            "remove_object": ObjectRemoval(self.table, self.objects),
        }
        self.lives: dict[str, Life] = {}
        self._read: dict[str, bytes] = {}

    # ---- the domain's writes

    def write(self, task: str, part: str, days: int) -> None:
        """Write a part, as a domain room would: object first, then one transaction."""
        now, body = self.clock.now_ms(), ulid().encode()
        task_key, part_key = self.task_key(task), self.part_key(task, part)
        found = self.table.batch_get([task_key, part_key])
        old_task, old_part = found.get(task_key), found.get(part_key)
        key = self.store(days, part_key, body)
        until = now + days * DAY_MS
        gen = old_task["gen"] if old_task else ulid(now)
        row = {"pk": part_key[0], "sk": part_key[1], "kind": "part", "gen": gen, "object": key}
        head = {
            "pk": task_key[0],
            "sk": task_key[1],
            "kind": "task",
            "gen": gen,
            "retain_until": until,
            "due": due_bucket(until, task),
        }
        writes: list[Any] = [
            Put(row, "#object = :seen", {"seen": old_part["object"]}) if old_part else Put(row, ABSENT),
            Put(head, "#gen = :gen", {"gen": gen}) if old_task else Put(head, ABSENT),
        ]
        if old_part:
            writes.append(Put(job("remove_object", SCOPE, now, object=old_part["object"])))
        self.table.transact(*writes)
        life = self.lives.get(task)
        if life is None or life.retain_until <= now:
            life = self.lives[task] = Life(until)
        life.retain_until = until
        life.parts[part] = body

    def delete(self, task: str) -> None:
        """Delete a task at once, leaving its parts to a job."""
        row = self.table.get(self.task_key(task))
        assert row is not None
        self._bury(row, "#gen = :gen", {"gen": row["gen"]})
        del self.lives[task]

    def store(self, days: int, owner: tuple[str, str], body: bytes = b"lost") -> str:
        """Store an object as a write does that dies before its transaction."""
        key = object_key(class_of(days), self.clock.now_ms(), SCOPE)
        self.objects.put(key, body, owner=owner_of(owner))
        return key

    @staticmethod
    def task_key(task: str) -> tuple[str, str]:
        return f"P#{SCOPE.tenant}#{SCOPE.project}", f"task#{task}"

    @staticmethod
    def part_key(task: str, part: str) -> tuple[str, str]:
        return f"T#{SCOPE.tenant}#{SCOPE.project}#{task}", part

    # ---- the domain's handlers

    def expire_task(self, row: Item) -> bool:
        now = self.clock.now_ms()
        self._bury(row, "#gen = :gen AND #retain_until <= :now", {"gen": row["gen"], "now": now})
        return True

    def remove_task(self, work: Item) -> bool:
        pk, _ = self.part_key(work["task"], "")
        for row in list(self.table.every(Query(pk))):
            if row["gen"] != work["gen"]:
                continue
            self.objects.delete(row["object"])
            seen = {"gen": row["gen"], "object": row["object"]}
            try:
                self.table.write(Delete((row["pk"], row["sk"]), "#gen = :gen AND #object = :object", seen))
            except ConditionFailed:
                return False
        return True

    def _bury(self, row: Item, when: str, values: dict[str, Any]) -> None:
        task = row["sk"].removeprefix("task#")
        work = job("remove_task", SCOPE, self.clock.now_ms(), task=task, gen=row["gen"])
        try:
            self.table.transact(Delete((row["pk"], row["sk"]), when, values), Put(work))
        except TransactionFailed:
            return

    # ---- running

    def sweep(self, deadline: Deadline = NEVER, *, deep: bool = False) -> Swept:
        return Sweeper(self.table, self.handlers, self.clock).sweep(deadline, deep=deep)

    def rounds(self) -> Rounds:
        ownership = Ownership(self.table, self.objects)
        renewal = Renewal(self.table, self.objects, self.clock, ownership=ownership)
        steps = {RENEW: renewal, RECONCILE: Reconciliation(ownership, self.objects)}
        return Rounds(self.table, self.objects, steps, clock=self.clock)

    def night(self, deadline: Deadline = NEVER) -> Walked:
        rounds = self.rounds()
        rounds.plan()
        return rounds.walk(deadline)

    def midnight(self) -> list[str]:
        """Let S3 apply its lifecycle rules."""
        return expire_objects(self.cloud, self.clock.now_ms())

    def skip_to_now(self) -> None:
        """Move the watermark to this hour: nothing is due yet, and reading each hour up to now takes long."""
        now = self.clock.now_ms()
        self.table.write(Update(STATE, put={"passed": now - now % HOUR_MS}))

    # ---- looking

    def living(self) -> dict[str, Life]:
        return {name: life for name, life in self.lives.items() if life.retain_until > self.clock.now_ms()}

    def owned_keys(self) -> set[str]:
        return {item["object"]["S"] for item in self.cloud.items() if "object" in item and item["sk"]["S"] != "job"}

    def check_nothing_is_lost(self) -> None:
        """Every part of every living task is there with its bytes."""
        stored = {(i["pk"]["S"], i["sk"]["S"]): i for i in self.cloud.items()}
        keys = {name for name, _ in s3_backends[ACCOUNT]["aws"].buckets[self.objects.bucket].keys.items()}
        for name, life in self.living().items():
            task = stored[self.task_key(name)]
            for part, body in life.parts.items():
                row = stored[self.part_key(name, part)]
                assert row["gen"] == task["gen"]
                assert row["object"]["S"] in keys, f"{name} {part} has lost its object"
                assert self._bytes(row["object"]["S"]) == body

    def _bytes(self, key: str) -> bytes:
        if key not in self._read:  # keys are never reused
            self._read[key] = self.objects.get(key)
        return self._read[key]

    def check_nothing_is_left(self) -> None:
        """Nothing is stored but what lives, and what the sweeper keeps for itself."""
        living = self.living()
        expected = {self.task_key(n) for n in living}
        expected |= {self.part_key(n, p) for n, life in living.items() for p in life.parts}
        stored = {(i["pk"]["S"], i["sk"]["S"]) for i in self.cloud.items()}
        assert {key for key in stored if not key[0].startswith("SYS#")} == expected
        assert set(self.cloud.object_keys()) == self.owned_keys()

    def settle(self, *, nights: int = 4) -> None:
        """Let so many nights pass, with the sweeper at work, and S3's rules."""
        for _ in range(nights):
            self.next_night()
        self.clock.move(hours=3)
        self.sweep()

    def next_night(self, work: Callable[[], object] | None = None) -> None:
        """Go to the next midnight, apply the rules, and to 02:17: do the night's work."""
        today = self.clock.now - self.clock.now % DAY_MS
        self.clock.move_to(today + DAY_MS)
        self.midnight()
        self.clock.move_to(today + DAY_MS + 137 * 60_000)
        (work or self._night)()

    def _night(self) -> None:
        self.sweep()
        assert self.night().complete
