"""Archiving: what makes an archived store still, also for changes that were on their way.

Creates, renames and deletes are held to the store's row. A change of content is not, or all changes in a store would
take turns: it is held to one of the store's gates, picked by its memory. A gate is open while it has no row.
Archiving writes all gates and `archived_at` in one transaction; after it nothing passes.

DynamoDB refuses that transaction while anything passes a gate, which in a busy store is always. Who meets this says in
the store's row that it is closing: whoever would set out from then on archives the store first. Only what was on its
way still passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.writes import ABSENT, Check, Put, Update
from shared.kernel.contention import LostRace

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.stores.backing import Backing
    from shared.stores.records import StoreAddress

UNCHANGED = "#updated_at = :seen AND attribute_not_exists(#archived_at)"
"""The store is as it was seen: every change of it moves `updated_at`, and its count of memories is none."""

_CLOSING = "closing"


def is_closing(store: Item) -> bool:
    """Tell whether a store that is not archived is about to be."""
    return _CLOSING in store and "archived_at" not in store


def gate(address: StoreAddress, memory_id: str) -> Check:
    """Return the check that a memory's content may be changed."""
    return Check(address.gate_of(memory_id), ABSENT)


def archive(backing: Backing, address: StoreAddress, store: Item) -> Item:
    """Archive a store that was seen as `store`, and return its row.

    Raises:
        LostRace: it was changed since, or something is passing a gate.
    """
    at = max(backing.clock.now_ms(), store["updated_at"] + 1)
    put = {"archived_at": at, "updated_at": at}
    row = Update(address.key, put, drop=("l1", _CLOSING), when=UNCHANGED, values={"seen": store["updated_at"]})
    gates = [Put({"pk": pk, "sk": sk, "kind": "gate"}) for pk, sk in address.gates]
    try:
        backing.table.transact(row, *gates)
    except TransactionFailed:
        raise LostRace(pause=False) from None
    except LostRace:
        if _CLOSING not in store:
            _begin_to_close(backing, address, store)
        raise
    return {**store, **put}


def _begin_to_close(backing: Backing, address: StoreAddress, store: Item) -> None:
    seen = {"seen": store["updated_at"]}
    try:
        backing.table.write(Update(address.key, {_CLOSING: True}, when=UNCHANGED, values=seen))
    except ConditionFailed:
        raise LostRace(pause=False) from None
