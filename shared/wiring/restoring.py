"""The restoring of a table to an earlier moment, composed: what is closed, replayed, mended, in order."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ConditionFailed
from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.aws.writes import Put
from shared.memories.backing import Backing as MemoryBacking
from shared.memories.restored_tasks import RestoredTasks
from shared.memories.restoring import Restoring as Memories
from shared.projects.backing import Backing as ProjectBacking
from shared.projects.recounting import address_in as task_address
from shared.projects.recounting import recount_project, recount_task
from shared.projects.restoring import Restoring as Projects
from shared.retention.erasures import ErasureLog
from shared.retention.restoring import LostObjects, Replaying, Restoration, RestoreRefused, Step, Walk
from shared.stores.backing import Backing as StoreBacking
from shared.stores.restoring import Restoring as Stores
from shared.stores.restoring import address_in as store_address
from shared.tenancy.keys import Keys
from shared.tenancy.models import KeyRecord
from shared.tenancy.opening import CLOSED, MARK, is_open, row_of
from shared.tenancy.remembered import Remembered
from shared.wiring.tenancy import REVOKED_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.clients import Aws
    from shared.aws.items import Item
    from shared.aws.queue import Queue
    from shared.kernel.clock import Clock
    from shared.retention.restoring import Note, Repair, Replay

GRACE_SECONDS: Final = 240
"""How long after it was closed a table may still be written: whoever looks, looks again within 55 s, and then a
request lasts 29 s, a worker's batch 150 s. What they still log is read behind that."""

RECOUNTED = "begins_with(#pk, :project) OR begins_with(#pk, :stores)"


@dataclass(frozen=True)
class Plan:
    """What is to be restored: the table that AWS made of `moment` (ms), beside the bucket it belongs to.

    `old` is the table that it takes the place of, which is closed first; None where there is none any more.
    With `drill` the old one stays open, and this one closed. `reindex` makes the search index anew.
    """

    table: str
    moment: int
    old: str | None = None
    drill: bool = False
    reindex: Callable[[], None] | None = None
    grace: float = GRACE_SECONDS


class Untouched(Objects):
    """A bucket that is read and left as it is: in a drill, what is in it is the old table's, which is in use."""

    def put(self, key: str, body: bytes, *, owner: str) -> None:
        """Store nothing."""

    def delete(self, *keys: str) -> None:
        """Remove nothing: what was erased is gone from it, or about to go by the old table's own work."""


@dataclass
class Restorer:
    """Makes one restored table fit to be read."""

    aws: Aws
    objects: Objects
    queue: Queue
    clock: Clock
    plan: Plan
    pause: Callable[[float], None] = time.sleep
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        if self.plan.drill:
            self.objects = Untouched(self.aws, self.objects.bucket)
        self.table = Table(self.aws, self.plan.table)
        self._projects = Projects(ProjectBacking(self.table, self.objects, self.clock), self.plan.moment)
        self._stores = Stores(StoreBacking(self.table, self.objects, self.clock))
        backing = MemoryBacking(self.table, self.objects, self.clock, queue=self.queue)
        self._memories = Memories(backing)
        self._replaying = Replaying(ErasureLog(self.objects), self.replays(), self.plan.moment)
        self._tasks = RestoredTasks(backing, self._replaying.partitions)

    def restoration(self) -> Restoration:
        """Return the steps, in order: closed before the log is read, so that nothing is logged behind it."""
        steps = [
            Step("close", self._close, always=True),
            Step("settings", self._set, always=True),
            Step("erasures", self._replaying, always=True),
            Step("beside", self._part),
            Step("objects", self._lost_objects()),
            Step("counts", self._recount()),
            Step("index", self._reindex),
            Step("open", self._open),
        ]
        return Restoration(self.table, self.plan.moment, steps)

    def check(self) -> None:
        """Make sure that the table is one that nobody uses.

        Raises:
            RestoreRefused: it is open.
        """
        mark = self.table.get(MARK)
        if mark is not None and is_open(mark, self.table.name):
            raise RestoreRefused(f"{self.table.name} is open already: a stack may use it. Nothing was done.")

    def replays(self) -> Mapping[str, Replay]:
        """Return what replays the entries of the erasure log, by kind: every kind that anything logs is here."""
        keys = Keys(self.table, self.clock, Remembered[KeyRecord](self.clock))
        return {
            REVOKED_KEY: lambda entry: keys.revoke_again(entry.ids["key"]),
            **self._projects.replays(),
            **self._stores.replays(),
            **self._memories.replays(),
        }

    def _close(self, _mark: str, note: Note) -> bool:
        self._name(self.table, CLOSED)
        if self.plan.old is not None and not self.plan.drill:
            Table(self.aws, self.plan.old).write(Put(row_of(CLOSED) | {"replaced": self.table.name}))
            self.pause(self.plan.grace)
        note("", 1)
        return False

    def _set(self, _mark: str, note: Note) -> bool:
        """Give the table what AWS does not restore, and make sure that it has what can't be given to it later."""
        client, name = self.aws.dynamodb, self.table.name
        described: Any = client.describe_table(TableName=name)["Table"]
        there = {i["IndexName"] for kind in ("Local", "Global") for i in described.get(f"{kind}SecondaryIndexes", [])}
        if missing := {"by_l1", "by_l2", "by_l3", "due"} - there:
            message = f"{name} lacks the indexes {', '.join(sorted(missing))}: restore the table with all of them."
            raise RestoreRefused(message)
        ttl: Any = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        if ttl["TimeToLiveStatus"] not in {"ENABLED", "ENABLING"}:
            client.update_time_to_live(
                TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
            )
        client.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        note("", 1)
        return False

    def _part(self, _mark: str, note: Note) -> bool:
        for number, (pk, erased) in enumerate(sorted(self._replaying.partitions().items()), 1):
            self._memories.part(pk, erased)
            note("", number)
        return False

    def _lost_objects(self) -> LostObjects:
        repairs: dict[str, Repair | None] = {
            "T": self._projects.mend,
            "H": self._stores.drop_head,
            "V": self._stores.drop_version,
            "L": self._memories.mend,
            "W": self._tasks.end,
            "J": None,  # work that is still to be done; what it removes may be gone
            "F": None,
        }
        return LostObjects(self.table, self.objects, repairs, also=self._tasks.concerns)

    def _recount(self) -> Walk:
        projects: set[str] = set()
        backing = ProjectBacking(self.table, self.objects, self.clock)

        def project(row: Item) -> None:
            if row["sk"].startswith("task#"):
                recount_task(backing, task_address(row))
            if row["pk"] not in projects:
                projects.add(row["pk"])
                recount_project(backing, row["pk"])

        def store(row: Item) -> None:
            self._stores.mend_store(store_address(row))

        return Walk(self.table, RECOUNTED, {"P": project, "M": store}, values={"project": "P#", "stores": "M#"})

    def _reindex(self, _mark: str, note: Note) -> bool:
        if self.plan.reindex:
            self.plan.reindex()
            note("", 1)
        return False

    def _open(self, _mark: str, note: Note) -> bool:
        if not self.plan.drill:
            self._protect()
            self._name(self.table, self.table.name)
            note("", 1)
        return False

    def _protect(self) -> None:
        """Protect the table from deletion as the old one is, which AWS does not restore."""
        client = self.aws.dynamodb
        names = [name for name in (self.plan.old, self.table.name) if name]
        tables: list[Any] = [client.describe_table(TableName=name)["Table"] for name in names]
        if [table.get("DeletionProtectionEnabled", False) for table in tables] == [True, False]:
            client.update_table(TableName=self.table.name, DeletionProtectionEnabled=True)

    @staticmethod
    def _name(table: Table, name: str) -> None:
        table.write(Put(row_of(name)))


def reopen(table: Table) -> None:
    """Open a table again that was closed to be replaced.

    Raises:
        RestoreRefused: it was not closed so, but restored, and has to be made fit first.
    """
    try:
        table.write(Put(row_of(table.name), "#name = :closed AND attribute_exists(#replaced)", {"closed": CLOSED}))
    except ConditionFailed:
        raise RestoreRefused(f"{table.name} was not closed by a restore that was to replace it.") from None
