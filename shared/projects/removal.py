"""How a task goes: hidden in one transaction, then removed piece by piece by the sweeper.

Order (design §3): the task's row and its count first, since they are what readers see; then objects,
then rows, and the job last. Whatever dies in between, the job is still there and does it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import Delete, Put
from shared.kernel.contention import LostRace
from shared.kernel.scope import Scope
from shared.projects.commit import removal
from shared.projects.records import UPLOAD_PREFIX, Address, count, lives, task_id_in
from shared.retention.erasures import Erasure, ErasureLog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.projects.backing import Backing

_PAGE = 500


def bury(backing: Backing, address: Address, task: Item, *, now: int) -> Item:
    """Hide a task with everything below it, and return the job that removes it.

    Raises:
        LostRace: the task changed its life meanwhile.
    """
    work = removal(address, task, now)
    same = Delete(address.task_key, "#gen = :gen", {"gen": task["gen"]})
    try:
        backing.table.transact(same, Put(work), count(address.scope, -1))
    except TransactionFailed:
        raise LostRace(pause=False) from None
    backing.note(address.scope, tasks=-1)
    return work


def note_erased(backing: Backing, work: Item) -> None:
    """Write the erasure log's entry of a removal: a restored table must forget the task again."""
    ids = {"task": work["task"], "gen": work["gen"]}
    scope = Scope(work["tenant"], work["project"])
    ErasureLog(backing.objects).write(Erasure(work["pk"].removeprefix("J#"), "task", scope, ids))


class Removal:
    """The sweeper's handlers of project memory; `stop` tells a long one when to leave the rest to the next run."""

    def __init__(self, backing: Backing, stop: Callable[[], bool]) -> None:
        self._backing = backing
        self._stop = stop

    def handlers(self) -> Mapping[str, Callable[[Item], bool]]:
        """Return the handlers by the kind of a due item."""
        return {"task": self.expire_task, "remove_task": self.remove_task, "upload": self.expire_upload}

    def expire_task(self, task: Item) -> bool:
        """Bury a task that is past its time; one that was written again is left alone."""
        now = self._backing.clock.now_ms()
        if lives(task, now):
            return True
        scope = _scope_in(task)
        address = Address(scope, task_id_in(task))
        work = removal(address, task, now)
        gone = {"gen": task["gen"], "until": task["retain_until"]}
        bury_it = Delete(address.task_key, "#gen = :gen AND #retain_until = :until", gone)
        try:
            self._backing.table.transact(bury_it, Put(work), count(scope, -1))
        except TransactionFailed:
            return True  # written again, or buried by another
        self._backing.note(scope, tasks=-1)
        if self.remove_task(work):
            self._backing.table.write(Delete((work["pk"], work["sk"])))
        return True  # what is left is the job's

    def remove_task(self, work: Item) -> bool:
        """Remove what lies below a task's ended life; True when nothing of it is left."""
        note_erased(self._backing, work)
        address = Address(Scope(work["tenant"], work["project"]), work["task"])
        only = ("pk", "sk", "gen", "object", "created_at", "bytes", "size")
        for page in self._backing.table.pages(Query(address.pk, only=only, size=_PAGE)):
            self._remove(address, [row for row in page.items if _ended_with(row, work)])
            if page.last is not None and self._stop():
                return False
        return True

    def expire_upload(self, upload: Item) -> bool:
        """Remove an upload that can no longer be completed, with the bytes that came for it."""
        if upload["expires_at"] > self._backing.clock.now_ms():
            return True
        self._backing.objects.delete(upload["object"])
        self._backing.table.write(Delete((upload["pk"], upload["sk"])))
        return True

    def _remove(self, address: Address, rows: list[Item]) -> None:
        objects = [row["object"] for row in rows if "object" in row]
        if objects:
            self._backing.objects.delete(*objects)
        gone = [row for row, done in zip(rows, each(self._forget, rows), strict=True) if done]
        turns = [row for row in gone if row["sk"].isdigit()]
        artifacts = [row for row in gone if "size" in row and not row["sk"].startswith(UPLOAD_PREFIX)]
        size = sum(row["bytes"] for row in turns) + sum(row["size"] for row in artifacts)
        self._backing.note(address.scope, turns=-len(turns), artifacts=-len(artifacts), bytes=-size)

    def _forget(self, row: Item) -> bool:
        """Delete a row unless a newer life of the task has taken its place."""
        same = "#object = :object" if "object" in row else "attribute_not_exists(#object)"
        values = {"gen": row["gen"]} | ({"object": row["object"]} if "object" in row else {})
        key = row["pk"], row["sk"]
        try:
            self._backing.table.write(Delete(key, f"attribute_not_exists(#pk) OR (#gen = :gen AND {same})", values))
        except ConditionFailed as failed:
            if failed.item is None or failed.item["gen"] != row["gen"]:
                return False
            # Its object was renewed since the row was read: the fresh one goes as well.
            self._backing.objects.delete(failed.item["object"])
            return self._forget(row | {"object": failed.item["object"]})
        return True


def _ended_with(row: Item, work: Item) -> bool:
    """Tell whether a row is of the ended life; an upload without one ended with it if it began before."""
    return bool(row["gen"] == work["gen"] or (row["gen"] == "" and row["created_at"] <= work["created_at"]))


def _scope_in(task: Item) -> Scope:
    _, tenant, project = task["pk"].split("#")
    return Scope(tenant, project)
