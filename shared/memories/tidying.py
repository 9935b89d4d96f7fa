"""What is done between the last commit and a task's success: to see that search finds the new, and to remove the old.

All of it can be done again. The old is invisible already: the records decide.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each, together
from shared.aws.writes import PRESENT, Update
from shared.kernel.errors import Unavailable
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.memories.attempts import address_of
from shared.memories.past import past_rows, scope_in
from shared.memories.plan import Plan
from shared.memories.records import memory_key, plan_key
from shared.memories.sight import read_all
from shared.retention.erasures import Erasure, ErasureLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.memories.attempts import Attempt
    from shared.memories.means import Means
    from shared.memories.plan import Change
    from shared.search.port import State


class NotFound(Unavailable):
    """The index does not find what was put into it."""


def tidy(means: Means, attempt: Attempt, changes: Sequence[Change]) -> None:
    """Make sure that what changes made is found, and remove what they ended.

    Raises:
        Unavailable: search does not find all of it, or something can't be asked now.
    """
    together(lambda: _see(means, attempt, changes), lambda: _remove(means, attempt, changes))


def unmade(means: Means, task: Item) -> set[State]:
    """Return the states that a task has indexed, and will never commit; what can't be told is left to a reindexing."""
    backing = means.backing
    try:
        row = backing.table.get(plan_key(Scope(task["tenant"], task["project"]), task["task"]))
        plan = Plan.from_json(json.loads(backing.objects.get(row["object"]))) if row else None
    except Exception:  # noqa: BLE001 - a plan that can't be read must not keep its task from ending
        return set()
    pending = plan.decided[task.get("committed", 0) :] if plan else ()
    return {change.made for change in pending if change.made}


def withdraw(means: Means, task: Item, states: set[State]) -> None:
    """Remove states that a failed task has indexed, as far as that works: nothing finds them anyway."""
    if states:
        with suppress(Unavailable):
            means.index.remove(address_of(task).owner, states)


def _see(means: Means, attempt: Attempt, changes: Sequence[Change]) -> None:
    made = {c.made for c in changes if c.made} - {c.ended for c in changes if c.ended}
    missing = made - means.index.present(attempt.address.owner, made) if made else set()
    if missing and _still_there(means, attempt, missing):
        attempt.note(indexed=0, unseen=attempt.task.get("unseen", 0) + 1)
        raise NotFound("Search does not find yet what was stored.")


def _still_there(means: Means, attempt: Attempt, states: set[State]) -> bool:
    """Tell whether the records have any of these states still: others were changed or removed by their user."""
    scope = attempt.address.scope
    keys = {memory_key(scope, memory_id): revision for memory_id, revision in states}
    rows = read_all(means.backing.table, list(keys))
    return any(rows[key]["revision"] == revision for key, revision in keys.items() if key in rows)


def _remove(means: Means, attempt: Attempt, changes: Sequence[Change]) -> None:
    ended = {c.ended for c in changes if c.ended}
    if ended:
        means.index.remove(attempt.address.owner, ended)
    objects = [c.old["object"] for c in changes if c.ended and c.old and "object" in c.old]
    if objects:
        means.backing.objects.delete(*objects)
    each(lambda change: _scrub(means, change), [c for c in changes if c.event == "DELETE"])


def _scrub(means: Means, change: Change) -> None:
    """Forget what a memory said before, and keep that it was there; a restored table must forget it again."""
    row, memory_id = change.old or {}, change.memory_id or ""
    pasts = past_rows(means.backing.table, row["pk"], memory_id)
    said = [past for past in pasts if past.get("text") is not None or "object" in past]
    ids = {"pk": row["pk"], "rows": [row["sk"], *(past["sk"] for past in said)]}
    name = ulid(means.backing.clock.now_ms())
    ErasureLog(means.backing.objects).write(Erasure(name, "memories", scope_in(row["pk"]), ids))
    each(lambda past: _forget_text(means, past), said)


def _forget_text(means: Means, past: Item) -> None:
    if "object" in past:
        means.backing.objects.delete(past["object"])
    try:
        means.backing.table.write(Update(key_of(past), {"text": None}, drop=("object", "size"), when=PRESENT))
    except ConditionFailed:
        return  # its user has deleted it altogether
