"""From changes to the writes of transactions: memories, their fingerprints and their past, together or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.items import key_of
from shared.aws.writes import ABSENT, Check, Delete, Put
from shared.memories.past import Decided, past_decision, past_state, without_text
from shared.memories.rows import memory_id_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.writes import Write
    from shared.memories.backing import Backing
    from shared.memories.plan import Change
    from shared.memories.records import UserAddress

WRITES = 80
"""Writes of one transaction's changes; besides these, what fences it: within DynamoDB's 100 items."""

BYTES = 2_500_000
"""Texts of one transaction: within DynamoDB's 4 MB."""

_AS_SEEN = "#revision = :revision AND #generation = :generation"


@dataclass(frozen=True)
class Numbered:
    """A change with its place in the plan, which tells decisions of one moment apart, and the plan's moment (ms)."""

    change: Change
    number: int
    at: int


def batches(changes: Sequence[Change], start: int) -> Iterator[range]:
    """Yield the places of the changes that go into one transaction, from `start` on: in order, no item twice."""
    end, held, weight, size = start, set[str](), 0, 0
    for n in range(start, len(changes)):
        touched, more, text = _touched(changes[n]), _weight(changes[n]), _size(changes[n])
        if n > start and (held & touched or weight + more > WRITES or size + text > BYTES):
            yield range(start, n)
            start, held, weight, size = n, set(), 0, 0
        held, weight, size, end = held | touched, weight + more, size + text, n + 1
    if end > start:
        yield range(start, end)


def writes_of(backing: Backing, address: UserAddress, numbered: Numbered) -> list[Write]:
    """Return the writes of one change, each held to what the decision had seen.

    Raises:
        ObjectMissing: the memory that it ends was changed or removed since it was read.
    """
    change = numbered.change
    if change.event == "ADD":
        return _addition(address, change)
    if change.event == "UPDATE":
        return _update(backing, address, change)
    if change.event == "DELETE":
        return _deletion(backing, address, numbered)
    return _nothing(numbered)


def _addition(address: UserAddress, change: Change) -> list[Write]:
    row = _row(change)
    return [Put(row, ABSENT), *_fingerprint(address, change, row)]


def _update(backing: Backing, address: UserAddress, change: Change) -> list[Write]:
    row, old = _row(change), _old(change)
    past = without_text(past_state(backing, _inline(old))) if change.forgets else past_state(backing, old)
    writes: list[Write] = [Put(row, _AS_SEEN, _seen(old)), Put(past)]
    if old["fingerprint"] != row["fingerprint"]:
        writes += [*_without_fingerprint(address, old), *_fingerprint(address, change, row)]
    return writes


def _deletion(backing: Backing, address: UserAddress, numbered: Numbered) -> list[Write]:
    old = _old(numbered.change)
    past = without_text(past_state(backing, _inline(old)))
    gone = past_decision(old, _decided(numbered))
    return [Delete(key_of(old), _AS_SEEN, _seen(old)), Put(past), Put(gone), *_without_fingerprint(address, old)]


def _nothing(numbered: Numbered) -> list[Write]:
    old = numbered.change.old
    if old is None:
        return []
    return [Check(key_of(old), _AS_SEEN, _seen(old)), Put(past_decision(old, _decided(numbered)))]


def _fingerprint(address: UserAddress, change: Change, row: Item) -> list[Write]:
    if row["fingerprint"] is None:
        return []
    pk, sk = address.fingerprint_key(row["fingerprint"])
    mark = {"pk": pk, "sk": sk, "user": row["user"], "generation": row["generation"], "memory": memory_id_of(row)}
    free = f"{ABSENT} OR #generation < :generation"
    values = {"generation": row["generation"]}
    if change.stale is not None:
        return [Put(mark, f"{free} OR #memory = :stale", {**values, "stale": change.stale})]
    return [Put(mark, free, values)]


def _without_fingerprint(address: UserAddress, old: Item) -> list[Write]:
    return [Delete(address.fingerprint_key(old["fingerprint"]))] if old["fingerprint"] else []


def _decided(numbered: Numbered) -> Decided:
    change, at = numbered.change, numbered.at
    if change.event == "DELETE":  # it ends the history, whatever this machine's clock says
        at = max(at, _old(change)["decided_at"] + 1)
    return Decided(change.event, change.reason, at, change.task, numbered.number + 1, change.positions)


def _inline(old: Item) -> Item:
    """Return a row whose text is forgotten with it: nothing of it needs to be copied."""
    return {name: value for name, value in old.items() if name != "object"}


def _seen(old: Item) -> dict[str, int]:
    return {"revision": old["revision"], "generation": old["generation"]}


def _touched(change: Change) -> set[str]:
    """Return the names of the items that no other change of the same transaction may touch."""
    rows = [row for row in (change.row, change.old) if row]
    return {row["sk"] for row in rows} | {row["fingerprint"] for row in rows if row["fingerprint"]}


def _weight(change: Change) -> int:
    return {"ADD": 2, "UPDATE": 4, "DELETE": 4, "NONE": 2}[change.event]


def _size(change: Change) -> int:
    rows = [row for row in (change.row, change.old) if row]
    return sum(len(row.get("text", "").encode()) + len(row["metadata"].encode()) for row in rows)


def _row(change: Change) -> Item:
    return change.row or {}


def _old(change: Change) -> Item:
    return change.old or {}


def objects_of(changes: Sequence[Change]) -> dict[str, tuple[bytes, Key]]:
    """Return the objects that changes need before they are written: their bytes and owners, by their keys."""
    long = [(c.row, c.text) for c in changes if c.row and c.text is not None]
    return {row["object"]: (text.encode(), key_of(row)) for row, text in long}
