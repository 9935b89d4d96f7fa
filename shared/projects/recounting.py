"""What is counted of tasks and projects, counted anew from the rows: for a restored table, which nobody writes."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import Delete, Update
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.projects.records import (
    COUNTER_PREFIX,
    NO_TURN,
    Address,
    count,
    newest_index,
    task_id_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.projects.backing import Backing

_ONLY = ("pk", "sk", "kind", "gen", "summary_bytes", "artifact_count", "lost")


def recount_task(backing: Backing, address: Address) -> None:
    """Bring a task's row, and those of its turns, in line with what lies below it; one without turns goes."""
    task = backing.table.get(address.task_key)
    if task is None:
        return
    below = [row for row in backing.table.every(Query(address.pk, only=_ONLY)) if row["gen"] == task["gen"]]
    turns = _recount_artifacts(backing, below)
    if not turns:
        _forget(backing, address, task, below=below)
        return
    right = _numbers(turns)
    if right.items() <= task.items():
        return
    at = task["updated_at"] + 1  # what a reader keeps of it is no longer so
    put = {**right, "updated_at": at, "l1": newest_index(at, address.task_id)}
    with suppress(ConditionFailed):
        same = {"seen": task["updated_at"], "gen": task["gen"]}
        backing.table.write(Update(address.task_key, put, when="#updated_at = :seen AND #gen = :gen", values=same))


def recount_project(backing: Backing, pk: str) -> None:
    """Bring the sum of a project's counters in line with its tasks."""
    there = Query(pk, begins="task#", count=True)
    tasks = sum(page.count for page in backing.table.pages(there))
    counters = backing.table.query(Query(pk, begins=COUNTER_PREFIX)).items
    missing = tasks - sum(row["n"] for row in counters)
    if missing == 0:
        return
    if not counters:
        _, tenant, project = pk.split("#")
        backing.table.write(count(Scope(tenant, project), missing))
        return
    first = counters[0]
    with suppress(ConditionFailed):  # another run has done it
        backing.table.write(Update(key_of(first), add={"n": missing}, when="#n = :seen", values={"seen": first["n"]}))


def address_in(task: Item) -> Address:
    """Return the address of a task's row."""
    _, tenant, project = task["pk"].split("#")
    return Address(Scope(tenant, project), task_id_in(task))


def _forget(backing: Backing, address: Address, task: Item, *, below: Sequence[Item]) -> None:
    """Remove a task of which nothing is left. It was not erased: the log is not told, and what it owned expires."""
    each(backing.table.write, [Delete(key_of(row)) for row in below])
    with suppress(TransactionFailed):
        same = Delete(address.task_key, "#gen = :gen", {"gen": task["gen"]})
        backing.table.transact(same, count(address.scope, -1))


def _numbers(turns: Sequence[Item]) -> dict[str, Any]:
    told = [row for row in turns if row["summary_bytes"]]
    newest = told[-1] if told else None
    return {
        "turn_count": len(turns),
        "latest_turn": int(turns[-1]["sk"]),
        "digest_turn": int(newest["sk"]) if newest else NO_TURN,
        "digest_bytes": newest["summary_bytes"] if newest else 0,
    }


def _recount_artifacts(backing: Backing, below: Sequence[Item]) -> list[Item]:
    """Return the turns that are there, each with the right count; one that lost its content and has none goes."""
    files = [row for row in below if row["kind"] == "artifact"]
    counts = {turn: len(list(of)) for turn, of in groupby(files, key=lambda row: row["sk"].partition("#")[0])}
    turns = [row for row in below if row["kind"] == "turn"]
    empty = [row for row in turns if row.get("lost") and row["sk"] not in counts]
    for turn in empty:
        backing.table.write(Delete(key_of(turn)))
    left = [row for row in turns if row not in empty]
    for turn in left:
        right = counts.get(turn["sk"], 0)
        if turn["artifact_count"] != right:
            backing.table.write(Update(key_of(turn), {"artifact_count": right, "listed": ulid(), "rev": ulid()}))
    return left
