"""One consistent look at a task and a few rows below it: what every read and write starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.aws.parallel import together
from shared.aws.table import Query
from shared.kernel.errors import NotFound
from shared.projects.records import Address, lives
from shared.tenancy.projects import ProjectSettings, settings_key, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.items import Item, Key
    from shared.projects.backing import Backing

LOOKS = 3
"""How often a read looks again when the task was replaced between its two reads."""


@dataclass(frozen=True)
class Sight:
    """What was seen: the live task, the row of one past its time, the project's settings, rows by sort key.

    `rows` are those of the live task's generation; `stored` is what the table holds, of any generation.
    """

    task: Item | None
    expired: Item | None
    settings: ProjectSettings
    stored: dict[str, Item]

    @property
    def rows(self) -> dict[str, Item]:
        """The rows that can be seen, by sort key in order."""
        if self.task is None:
            return {}
        return {sk: row for sk, row in self.stored.items() if row.get("gen") == self.task["gen"]}

    @property
    def begins(self) -> bool:
        """Tell whether a write begins a task that is not counted yet; one that takes an expired one's place is."""
        return self.task is None and self.expired is None

    def with_task(self, task: Item | None, now: int) -> Sight:
        """Return the same sight with a newer image of the task."""
        alive = lives(task, now)
        return replace(self, task=task if alive else None, expired=None if alive else task)

    def with_rows(self, images: Mapping[str, Item | None]) -> Sight:
        """Return the same sight with newer images of rows, by sort key; None for one that is gone."""
        stored = {sk: row for sk, row in {**self.stored, **images}.items() if row is not None}
        return replace(self, stored=dict(sorted(stored.items())))

    def torn(self) -> bool:
        """Tell whether the rows are of a newer life of the task than the one seen: generations rise with time."""
        seen = self.task["gen"] if self.task else ""
        return any(row.get("gen", "") > seen for row in self.stored.values())


def look_for_write(backing: Backing, address: Address, *sort_keys: str) -> Sight:
    """Return task, settings and the named rows in one read."""
    settings, below = settings_key(address.scope), [(address.pk, sk) for sk in sort_keys]
    found = backing.table.batch_get([address.task_key, settings, *below])
    return _sight(backing, address, found, rows={key[1]: found[key] for key in below if key in found})


def look_with_turn(backing: Backing, address: Address) -> Sight:
    """Return task, settings, the turn's row and those of its artifacts, read at the same time."""
    keys = [address.task_key, settings_key(address.scope)]
    found, rows = together(lambda: backing.table.batch_get(keys), lambda: _turn_range(backing, address))
    return _sight(backing, address, found, rows=rows)


def look_at_turn(backing: Backing, address: Address) -> Sight:
    """Return the live task with a turn's rows.

    Raises:
        NotFound: no such task.
    """
    for _ in range(LOOKS):
        task, rows = together(lambda: backing.table.get(address.task_key), lambda: _turn_range(backing, address))
        sight = Sight(None, None, ProjectSettings(), rows).with_task(task, backing.clock.now_ms())
        if address.turn_key[1] in sight.rows or not sight.torn():
            break
    return known(sight)


def look_at_artifact(backing: Backing, address: Address) -> Sight:
    """Return the live task with one artifact's row.

    Raises:
        NotFound: no such task.
    """
    sight = look_for_write(backing, address, address.artifact_key[1])
    return known(sight)


def known(sight: Sight) -> Sight:
    """Return a sight that has a live task.

    Raises:
        NotFound: it has none.
    """
    if sight.task is None:
        raise NotFound("No such task.")
    return sight


def _sight(backing: Backing, address: Address, found: dict[Key, Item], *, rows: dict[str, Item]) -> Sight:
    settings = settings_of(found.get(settings_key(address.scope)))
    return Sight(None, None, settings, rows).with_task(found.get(address.task_key), backing.clock.now_ms())


def _turn_range(backing: Backing, address: Address) -> dict[str, Item]:
    query = Query(address.pk, begins=address.turn_key[1])
    return {row["sk"]: row for row in backing.table.every(query)}
