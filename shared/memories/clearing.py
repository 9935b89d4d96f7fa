"""The worker's part of forgetting: what is out of sight already goes from the index, the bucket and the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import PRESENT, Delete, Update
from shared.kernel.contention import persist
from shared.kernel.scope import Scope
from shared.memories.erasing import complete
from shared.memories.files.jobs import forget_words
from shared.memories.files.sending import jobs_of
from shared.memories.neighbours import Neighbours
from shared.memories.records import UserAddress, erasure_key, task_key
from shared.memories.remains import Remains, clear_away

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shared.aws.items import Item, Key
    from shared.memories.means import Means

PAGE = 90
"""Rows read, and removed in one transaction, at a time."""

_OLDER = "attribute_not_exists(#pk) OR #generation < :generation"


@dataclass(frozen=True)
class Clearing:
    """Removes what was forgotten; everything it does can be done again."""

    means: Means

    def erase(self, body: Mapping[str, Any], late: Callable[[], bool]) -> bool:
        """Remove all of a user that is of an earlier generation, and count it in the receipt; False: not all yet.

        Raises:
            Unavailable: something can't be asked now.
        """
        scope = Scope(body["tenant"], body["project"])
        receipt = self.means.backing.table.get(erasure_key(scope, body["erasure"]))
        if receipt is None or receipt["status"] == "success":
            return True
        address = UserAddress(scope, receipt["user_id"])
        gone = self.means.index.clear(address.owner, receipt["generation"])
        if gone:
            self._count(receipt, index=gone)
        for page in self.means.backing.table.pages(_all_of(address, receipt["generation"])):
            self._remove(receipt, page.items)
            # Not behind a page of what came since alone: the next piece begins anew, and would get no further.
            if page.items and page.last is not None and late():
                return False
        self._forget_lease(address)
        complete(self.means.backing, key_of(receipt))
        return True

    def clean(self, body: Mapping[str, Any]) -> None:
        """Remove what a change, a delete or an add has left; what a record has now stays.

        Raises:
            Unavailable: something can't be asked now.
        """
        address = UserAddress(Scope(body["tenant"], body["project"]), body["user_id"])
        states = frozenset((memory_id, revision) for memory_id, revision in body["states"])
        objects, forgotten = (frozenset(body.get(name, ())) for name in ("objects", "forgotten"))
        clear_away(self.means, address, Remains(states, objects, forgotten))
        Neighbours(self.means).refresh(address, body.get("beside", ()))

    def _remove(self, receipt: Item, rows: Sequence[Item]) -> None:
        objects = [row["object"] for row in rows if "object" in row]
        if objects:
            self.means.backing.objects.delete(*objects)
        scope = Scope(receipt["tenant"], receipt["project"])
        each(self._forget_reply, {task_key(scope, row["task"]) for row in rows if row["sk"].startswith("x#")})
        while rows:
            kept = self._try_to_remove(receipt, rows)
            rows = [row for n, row in enumerate(rows) if n not in kept] if kept else []

    def _forget_reply(self, key: Key) -> None:
        """Forget what a failed task keeps of the user's: what a model answered, and what its files say."""
        table = self.means.backing.table
        try:
            task = table.write(Update(key, drop=("reply",), when=PRESENT))
        except ConditionFailed:
            return
        for job in jobs_of(table, task):
            forget_words(self.means.backing, job)

    def _try_to_remove(self, receipt: Item, rows: Sequence[Item]) -> set[int]:
        """Remove rows and count them, all together; or return which of them are of the current generation by now."""
        values = {"generation": receipt["generation"]}
        deletes = [Delete(key_of(row), _OLDER, values) for row in rows]
        counted = {"records": len(rows), "objects": sum("object" in row for row in rows)}
        count = Update(key_of(receipt), add=counted, when="attribute_exists(#pk)")
        try:
            persist(lambda: self.means.backing.table.transact(*deletes, count))
        except TransactionFailed as failed:
            if len(rows) in failed.items:
                return set()  # nobody asks for the receipt any more
            return set(failed.items)
        memories = [row for row in rows if row["sk"].startswith("m#")]
        files = [row for row in rows if row["sk"].startswith("u#") and row["status"] == "ready"]
        size = sum(row["size"] for row in (*memories, *files))
        self.means.backing.note(Scope(receipt["tenant"], receipt["project"]), memories=-len(memories), bytes=-size)
        return set()

    def _forget_lease(self, address: UserAddress) -> None:
        free = "attribute_not_exists(#pk) OR #until < :now"
        try:
            now = {"now": self.means.backing.clock.now_ms()}
            self.means.backing.table.write(Delete(address.lease_key(), free, now))
        except ConditionFailed:
            return  # somebody writes for the user again

    def _count(self, receipt: Item, **counts: int) -> None:
        self.means.backing.table.write(Update(key_of(receipt), add=counts))


def _all_of(address: UserAddress, generation: int) -> Query:
    """Return the query for what a user's partition has of generations before one."""
    return Query(
        address.pk,
        keep="#user = :user AND #generation < :generation",
        values={"user": address.user, "generation": generation},
        only=("pk", "sk", "object", "size", "status", "task"),
        size=PAGE,
    )
