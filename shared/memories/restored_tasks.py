"""Add tasks of a restored table that can't be gone on with: they end, and say that they are to be sent again.

A task that was under way at the moment may have ended since, and its payload is gone; what it made is not in the
restored table. And what its user has forgotten since, it would learn again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.writes import PRESENT, Delete, Update
from shared.kernel.scope import Scope
from shared.memories.attempts import address_of
from shared.memories.ending import Reason, fail, forget, pointers
from shared.memories.records import task_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from shared.aws.items import Item
    from shared.memories.backing import Backing

INTERRUPTED = Reason(
    "interrupted",
    "The store was restored to an earlier moment while this request was under way. Send it again.",
    again=False,
)


@dataclass
class RestoredTasks:
    """Ends tasks; `forgotten` gives the partitions of users of whom something was erased since the moment."""

    backing: Backing
    forgotten: Callable[[], Collection[str]]
    _forgotten: Collection[str] | None = field(default=None, init=False)

    def concerns(self, row: Item) -> bool:
        """Tell whether a row keeps what would bring back what its user has forgotten."""
        if not row["pk"].startswith("W#") or row["sk"] != "task":
            return False
        if self._forgotten is None:
            self._forgotten = self.forgotten()
        return address_of(row).pk in self._forgotten

    def end(self, row: Item) -> None:
        """End the task that a row belongs to, with all that it keeps; its request may be sent again at once."""
        _, tenant, project, task_id = row["pk"].split("#")
        task = self.backing.table.get(task_key(Scope(tenant, project), task_id))
        if task is None:
            self._delete(Delete(key_of(row)))
            return
        # The task's row keeps its object until the rest is done: by it the task is found again after a death.
        self.backing.objects.delete(*{known["object"] for known in (task, row) if "object" in known})
        if task.get("idempotency"):
            pk, sk = task["idempotency"]
            self._delete(Delete((pk, sk), "attribute_not_exists(#pk) OR #task = :task", {"task": task_id}))
        for key in pointers(task):
            self._delete(Delete(key))
        if task["status"] == "processing":
            fail(self.backing, task, INTERRUPTED, letter=False)
        forget(self.backing, task)
        with suppress(ConditionFailed):
            self.backing.table.write(Update(key_of(task), drop=("object", "reply"), when=PRESENT))
        if row["sk"] != "task":
            self._delete(Delete(key_of(row)))

    def _delete(self, delete: Delete) -> None:
        with suppress(ConditionFailed):
            self.backing.table.write(delete)
