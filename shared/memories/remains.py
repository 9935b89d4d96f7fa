"""What an add has left in the index, the bucket and the past that no record has: found, kept as a job, removed.

All of it can be removed at any time, and again. What a record has by then stays: so it does not matter whether the
add goes on meanwhile, or what became of its changes.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.writes import PRESENT, Put, Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import Unavailable
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.memories.attempts import address_of
from shared.memories.leftovers import Leftovers
from shared.memories.past import past_rows
from shared.memories.plan import Plan, state_of
from shared.memories.records import memory_key, plan_key
from shared.memories.sight import read_all
from shared.retention.erasures import Erasure, ErasureLog

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.memories.backing import Backing
    from shared.memories.means import Means
    from shared.memories.plan import Change
    from shared.memories.records import UserAddress
    from shared.search.port import State


@dataclass(frozen=True)
class Remains:
    """What may be left: states in the index, keys of objects, and memories whose past may still say what they said."""

    states: frozenset[State] = field(default_factory=frozenset)
    objects: frozenset[str] = field(default_factory=frozenset)
    forgotten: frozenset[str] = field(default_factory=frozenset)

    def __bool__(self) -> bool:
        return bool(self.states or self.objects or self.forgotten)

    def kept(self, leftovers: Leftovers) -> list[Write]:
        """Return the writes that keep them as a job, due at once; none where nothing is left."""
        return [Put(leftovers.due(sorted(self.states), sorted(self.objects), sorted(self.forgotten)))] if self else []


def of_plan(backing: Backing, task: Item) -> Remains:
    """Return what a task may leave that is not gone on with; what its plan can't tell is left to a reindexing."""
    try:
        row = backing.table.get(plan_key(Scope(task["tenant"], task["project"]), task["task"]))
        plan = Plan.from_json(json.loads(backing.objects.get(row["object"]))) if row else None
    except Exception:  # noqa: BLE001 - a plan that can't be read must not keep its task from ending
        return Remains()
    if plan is None:
        return Remains()
    committed: int = task.get("committed", 0)
    return _of_changes(plan.decided[:committed], plan.decided[committed:])


def made_by(changes: Sequence[Change]) -> Remains:
    """Return the states that changes have put, or are going to put, into the index."""
    return Remains(frozenset(change.made for change in changes if change.made))


def dropped(before: Sequence[Change], after: Sequence[Change]) -> Remains:
    """Return what changes that were never committed have left, where others have taken their places."""
    old, new = _of_changes((), before), _of_changes((), after)
    return Remains(old.states - new.states, old.objects - new.objects)


def clear_away(means: Means, address: UserAddress, remains: Remains) -> None:
    """Remove what no record has.

    Raises:
        Unavailable: something can't be asked now.
    """
    if not remains:
        return
    scrub(means.backing, address, sorted(remains.forgotten))
    rows = read_all(means.backing.table, [memory_key(address.scope, memory_id) for memory_id, _ in remains.states])
    owned = {row.get("object") for row in rows.values()}
    if objects := [key for key in remains.objects if key not in owned]:
        means.backing.objects.delete(*objects)
    if left := remains.states - set(map(state_of, rows.values())):
        means.index.remove(address.owner, left)


def clear_away_now(means: Means, leftovers: Leftovers, remains: Remains) -> None:
    """Remove what no record has, and its job with it; what does not answer is left to the job."""
    if remains:
        with suppress(Unavailable, LostRace):
            clear_away(means, leftovers.address, remains)
            leftovers.done()


def scrub(backing: Backing, address: UserAddress, memory_ids: Collection[str]) -> None:
    """Forget what memories said before, and keep that they were there; a restored table must forget it again."""
    if not memory_ids:
        return
    # Their own first: what one is then is among its past rows, read after it, if it has changed in between.
    keys = {memory_id: memory_key(address.scope, memory_id) for memory_id in memory_ids}
    now = read_all(backing.table, list(keys.values()))
    pasts = dict(zip(keys, each(lambda n: list(past_rows(backing.table, address.pk, n)), keys), strict=True))
    until = {name: _until(now.get(key), pasts[name]) for name, key in keys.items()}
    ids = {"pk": address.pk, "memories": until}
    ErasureLog(backing.objects).write(Erasure(ulid(backing.clock.now_ms()), "past_of_memories", address.scope, ids))
    each(lambda past: forget_text(backing, past), [past for rows in pasts.values() for past in rows if says(past)])


def says(past: Item) -> bool:
    """Tell whether a past row still has what its memory said."""
    return past.get("text") is not None or "object" in past


def forget_text(backing: Backing, past: Item) -> None:
    """Forget what a past row says, and keep that it was there."""
    if "object" in past:
        backing.objects.delete(past["object"])
    try:
        backing.table.write(Update(key_of(past), {"text": None}, drop=("object", "size"), when=PRESENT))
    except ConditionFailed:
        return  # its user has deleted it altogether


def leftovers_of(backing: Backing, task: Item) -> Leftovers:
    """Return what keeps a task's remains as a job."""
    return Leftovers(backing, address_of(task))


def _of_changes(committed: Sequence[Change], pending: Sequence[Change]) -> Remains:
    olds = [c.old for c in committed if c.ended and c.old]
    made = {c.made for c in (*committed, *pending) if c.made}
    ended = {c.ended for c in committed if c.ended}
    long = [row["object"] for row in (*olds, *(c.row for c in pending if c.row)) if "object" in row]
    forgotten = {c.memory_id for c in committed if c.memory_id and (c.event == "DELETE" or c.forgets)}
    return Remains(frozenset(made | ended), frozenset(long), frozenset(forgotten))


def _until(row: Item | None, pasts: Sequence[Item]) -> int:
    """Return the moment (ms) before which all that a memory said is forgotten."""
    return max([*(past["at"] + 1 for past in pasts), *([row["decided_at"]] if row else [])], default=0)
