"""A memory's past: the states that it had, and the decisions that changed nothing, each a row of its own.

`event`, `reason`, `at` and `task` are those that made the state. A row without a text is a decision that changed
nothing (NONE), or one whose text was forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.table import Query
from shared.kernel.scope import Scope
from shared.memories.records import by_origin, past_key, past_prefix
from shared.memories.rows import memory_id_of
from shared.retention.records import KEEP, object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.extraction.port import Event
    from shared.retention.backing import Backing

_TEXT = ("text", "object", "size")


@dataclass(frozen=True)
class Decided:
    """A decision about a memory: what, why, when (ms), and by which task (None: over the API).

    `number` tells decisions of one moment about one memory apart (from 1), `positions` the messages that led to it.
    """

    event: Event
    reason: str
    at: int
    task: str | None
    number: int = 1
    positions: Sequence[int] = ()


def past_state(backing: Backing, row: Item) -> Item:
    """Return the past row of the state that a memory's row is in, with a long text copied to an object of its own.

    An object belongs to the one record that it names: the row's own goes with its next state.

    Raises:
        ObjectMissing: the row was changed or removed since it was read.
    """
    key = past_key(scope_in(row["pk"]), memory_id_of(row), row["decided_at"], number=0)
    past = {
        **_place(row, key, row["origin"], positions=row["positions"]),
        **{name: row[name] for name in ("event", "reason", "task", "event_at", "memory_type", "categories")},
        "at": row["decided_at"],
        **{name: row[name] for name in _TEXT if name in row},
    }
    if "object" in row:
        past["object"] = object_key(KEEP, backing.clock.now_ms(), scope_in(row["pk"]))
        backing.objects.copy(row["object"], past["object"], owner=owner_of(key))
    return past


def past_decision(row: Item, decided: Decided) -> Item:
    """Return the past row of a decision that leaves no state of its own: NONE, or DELETE."""
    key = past_key(scope_in(row["pk"]), memory_id_of(row), decided.at, number=decided.number)
    return {
        **_place(row, key, decided.task or "", positions=decided.positions),
        **{name: row[name] for name in ("event_at", "memory_type", "categories")},
        "event": decided.event,
        "reason": decided.reason,
        "at": decided.at,
        "task": decided.task,
        "text": None,
    }


def without_text(past: Item) -> Item:
    """Return a past row that still tells what was decided, and no longer what the memory said."""
    return {name: value for name, value in past.items() if name not in _TEXT} | {"text": None}


def past_rows(table: Table, pk: str, memory_id: str) -> Iterator[Item]:
    """Yield all past rows of a memory, the oldest first."""
    return table.every(Query(pk, begins=past_prefix(memory_id)))


def was_removed(table: Table, pk: str, memory_id: str) -> bool:
    """Tell whether a memory without a row was removed by a decision, which its history still tells of."""
    newest = table.query(Query(pk, begins=past_prefix(memory_id), size=1, newest_first=True)).items
    return bool(newest) and newest[0]["event"] == "DELETE"


def scope_in(pk: str) -> Scope:
    """Return the tenant and project that a partition is of."""
    _, tenant, project, _ = pk.split("#")
    return Scope(tenant, project)


def _place(row: Item, key: Key, origin: str, *, positions: Sequence[int]) -> Item:
    return {
        "pk": key[0],
        "sk": key[1],
        "l2": by_origin(row["user"], origin, key[1]),
        "user": row["user"],
        "user_id": row["user_id"],
        "generation": row["generation"],
        "memory": memory_id_of(row),
        "revision": row["revision"],
        "origin": origin,
        "positions": list(positions),
    }
