"""The worker's part of deleting a file: what its documents' readings have made goes, with its bytes.

Nothing of it can be seen any more, so everything can be done again, in pieces, and beside anything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.table import Query
from shared.aws.writes import PRESENT, Delete, Update
from shared.kernel.contention import LostRace, persist
from shared.kernel.scope import Scope
from shared.memories.erasing import complete
from shared.memories.records import UserAddress, by_origin, erasure_key
from shared.memories.sight import read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.writes import Write
    from shared.memories.means import Means

PAGE: Final = 45
"""Rows read, and removed in one transaction, at a time: each may have a fingerprint's row beside it."""


@dataclass(frozen=True)
class Unfiling:
    """Removes what a file has left."""

    means: Means

    def unfile(self, body: Mapping[str, Any], late: Callable[[], bool]) -> bool:
        """Remove what a deleted file has left, and count it in the receipt; False: not all yet.

        Raises:
            Unavailable: something can't be asked now.
        """
        table, key = self.means.backing.table, erasure_key(Scope(body["tenant"], body["project"]), body["erasure"])
        receipt = table.get(key)
        if receipt is None or receipt["status"] == "success":
            return True
        address = UserAddress(Scope(body["tenant"], body["project"]), receipt["user_id"])
        for token in receipt["tokens"]:
            if not remove_reading(self.means, address, token, late=late, receipt=key):
                return False
        self._remove_bytes(key, receipt)
        complete(self.means.backing, key)
        return True

    def _remove_bytes(self, key: Key, receipt: Item) -> None:
        if not receipt.get("kept"):
            return
        self.means.backing.objects.delete(*receipt["kept"])
        count = Update(key, add={"objects": len(receipt["kept"])}, drop=("kept",), when="attribute_exists(#kept)")
        try:
            self.means.backing.table.write(count)
        except ConditionFailed:
            return  # counted by another delivery


def remove_reading(
    means: Means, address: UserAddress, token: str, *, late: Callable[[], bool], receipt: Key | None = None
) -> bool:
    """Remove all that a reading of a file has made, counted in a receipt if there is one; False: late, not all yet.

    No document may name the reading, and no job may be at work on it any more.

    Raises:
        Conflict: others kept changing a row for longer than the retries last.
        Unavailable: something can't be asked now.
    """
    removal = _Removal(means, address, receipt)
    query = Query(address.pk, "l2", begins=by_origin(address.user, token, ""), only=("pk", "sk"), size=PAGE)
    while True:  # until nothing is found: a change that was on its way may have left a state behind what was read
        found = 0
        for page in means.backing.table.pages(query):
            keys = [key_of(item) for item in page.items if item["sk"].startswith(("m#", "h#"))]
            if keys:
                persist(lambda keys=keys: removal.remove(keys))  # type: ignore[misc]
            found += len(keys)
            if found and late():
                return False
        if not found:
            return True


@dataclass(frozen=True)
class _Removal:
    """The removal of one reading's rows."""

    means: Means
    address: UserAddress
    receipt: Key | None

    def remove(self, keys: Sequence[Key]) -> None:
        """Remove those of some rows that are there: first what they own, then they themselves.

        Raises:
            LostRace: one of them was changed or removed since it was read.
        """
        rows = list(read_all(self.means.backing.table, keys).values())
        if not rows:
            return
        self.means.index.remove(self.address.owner, sorted({_state_of(row) for row in rows}))
        if objects := [row["object"] for row in rows if "object" in row]:
            self.means.backing.objects.delete(*objects)
        writes = [write for row in rows for write in self._gone(row)]
        try:
            self.means.backing.table.transact(*writes, *self._count(rows, len(objects)))
        except TransactionFailed:
            raise LostRace(pause=False) from None
        memories = [row for row in rows if _is_memory(row)]
        size = sum(row["size"] for row in memories)
        self.means.backing.note(self.address.scope, memories=-len(memories), bytes=-size)

    def _gone(self, row: Item) -> list[Write]:
        gone: list[Write] = [Delete(key_of(row), "#revision = :seen", {"seen": row["revision"]})]
        if row.get("fingerprint"):
            gone.append(Delete(self.address.fingerprint_key(row["fingerprint"])))
        return gone

    def _count(self, rows: Sequence[Item], objects: int) -> list[Write]:
        if self.receipt is None:
            return []
        counted = {"records": len(rows), "objects": objects, "index": sum(map(_is_memory, rows))}
        return [Update(self.receipt, add=counted, when=PRESENT)]


def _is_memory(row: Item) -> bool:
    return str(row["sk"]).startswith("m#")


def _state_of(row: Item) -> tuple[str, int]:
    return (row["sk"].removeprefix("m#") if _is_memory(row) else row["memory"]), row["revision"]
