"""What is done between the last commit and a task's success: to see that search finds the new, and to remove the old.

All of it can be done again. The old is invisible already: the records decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.parallel import together
from shared.kernel.errors import Unavailable
from shared.memories.records import memory_key
from shared.memories.remains import scrub
from shared.memories.sight import read_all

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Remove what the changes ended; first the words of what was to be forgotten, whatever the index says."""
    forgotten = [c.memory_id for c in changes if c.memory_id and (c.event == "DELETE" or c.forgets)]
    scrub(means.backing, attempt.address, forgotten)
    objects = [c.old["object"] for c in changes if c.ended and c.old and "object" in c.old]
    if objects:
        means.backing.objects.delete(*objects)
    ended = {c.ended for c in changes if c.ended}
    if ended:
        means.index.remove(attempt.address.owner, ended)
