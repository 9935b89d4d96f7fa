"""Project memory's key design (see `docs/decisions/0001-…`).

| record   | pk                      | sk                  | indexes                                           |
| task     | `P#tenant#project`      | `task#{task_id}`    | l1 `{updated_at}#{task}`, l2 `{retain_until}#{task}` |
| counter  | `P#tenant#project`      | `count#00` to `#15` | l1 `~count#00` to `#15`: before the newest task   |
| turn     | `T#tenant#project#task` | `0007`              | l2 `{gen}#0007`, only with a summary              |
| artifact | `T#tenant#project#task` | `0007#{name}`       |                                                   |
| upload   | `T#tenant#project#task` | `u#{upload_id}`     |                                                   |

Rows below a task carry its generation (`gen`): those of an older one are invisible until they are removed.
Times are milliseconds; indexes write them with 15 digits so that text order is time order.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.writes import Update
from shared.kernel.clock import rfc3339

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.kernel.scope import Scope

COUNTERS = 16
NO_TURN = -1
LAST_TURN = 9999
COUNTER_PREFIX = "count#"
UPLOAD_PREFIX = "u#"
_PLACE = re.compile(r"[0-9]{15}#[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class Address:
    """Where in project memory: a task, a turn of it, an artifact of that."""

    scope: Scope
    task_id: str
    turn: int = NO_TURN
    name: str = ""

    @property
    def task_key(self) -> Key:
        """The task row's key."""
        return project_pk(self.scope), f"task#{self.task_id}"

    @property
    def pk(self) -> str:
        """The partition of everything below the task."""
        return f"T#{self.scope.tenant}#{self.scope.project}#{self.task_id}"

    @property
    def turn_key(self) -> Key:
        """The turn row's key."""
        return self.pk, f"{self.turn:04d}"

    @property
    def artifact_key(self) -> Key:
        """The artifact row's key."""
        return self.pk, f"{self.turn:04d}#{self.name}"


def project_pk(scope: Scope) -> str:
    """Return the partition of a project's tasks and counters."""
    return f"P#{scope.tenant}#{scope.project}"


def newest_index(updated_at: int, task_id: str) -> str:
    """Return a task's place in the list, newest first when read backwards."""
    return f"{updated_at:015d}#{task_id}"


def is_place(position: Any) -> bool:
    """Tell whether a cursor's position has the form of a task's place in the list."""
    return isinstance(position, str) and _PLACE.fullmatch(position) is not None


def is_turn(position: Any) -> bool:
    """Tell whether a cursor's position is a turn's number."""
    return type(position) is int and 0 <= position <= LAST_TURN


def expiry_index(retain_until: int, task_id: str = "") -> str:
    """Return a task's place in the order of expiry."""
    return f"{retain_until:015d}#{task_id}"


def summary_index(gen: str, turn: int) -> str:
    """Return a turn's place among its task's turns that have a summary."""
    return f"{gen}#{turn:04d}"


def count(scope: Scope, change: int) -> Update:
    """Return the write that counts a task's birth (+1) or death (-1) in one of the project's counters."""
    shard = f"{secrets.randbelow(COUNTERS):02d}"
    key = (project_pk(scope), f"{COUNTER_PREFIX}{shard}")
    return Update(key, put={"l1": f"~count#{shard}"}, add={"n": change})


def lives(task: Item | None, now: int) -> bool:
    """Tell whether a task row is there and not past its time."""
    return task is not None and task["retain_until"] > now


def task_id_in(task: Item) -> str:
    """Return the id of a task row."""
    return str(task["sk"]).removeprefix("task#")


def artifact_view(row: Item) -> dict[str, Any]:
    """Return the seed's MemoryArtifact of an artifact row."""
    return {
        "name": row["sk"].partition("#")[2],
        "content_type": row["content_type"],
        "size": row["size"],
        "updated_at": rfc3339(row["updated_at"]),
    }


def artifact_record(address: Address, row: Item) -> dict[str, Any]:
    """Return the seed's ArtifactRecord of an artifact row."""
    return {**artifact_view(row), "task_id": address.task_id, "turn": address.turn}


def task_summary(task: Item) -> dict[str, Any]:
    """Return the seed's TaskSummary of a task row."""
    return {
        "task_id": task_id_in(task),
        "latest_turn": task["latest_turn"],
        "turn_count": task["turn_count"],
        "updated_at": rfc3339(task["updated_at"]),
        "retain_until": rfc3339(task["retain_until"]),
    }
