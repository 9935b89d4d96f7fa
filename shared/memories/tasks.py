"""Add tasks: their rows, and how they are read.

| attribute | what it says |
| --- | --- |
| `user`, `user_id`, `tenant`, `project` | whose it is; `group`: where its message goes |
| `status`, `phase`, `tries` | `processing`, `success` or `failed`; `queued` to `done`; how often a worker began |
| `received_at`, `created_at`, `updated_at`, `completed_at` | ms; the last one from its end on |
| `object`, `digest` | the payload's key, and the SHA-256 of what it asks for |
| `generation` | how often the user's memories had been forgotten when it was accepted |
| `reservation` | the quota's call: `[pk, sk, kind]`, or None |
| `told` | a repeated request was told of it: nobody takes it back |
| `idempotency` | the key of the row that answers a repeated request: `[pk, sk]`, or None |
| `error`, `memory` | of its end: `{code, message}`; `{total}` |
| `events` | what changed: a list of `{id, event}` |
| `expires_at`, `due`, `kind` | when the sweeper looks at it, and as what |
| `files`, `waiting` | where it has any: its files and images, and how many of their jobs are waited for |
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel.clock import DAY_MS
from shared.kernel.errors import NotFound
from shared.memories.records import has_form, task_key
from shared.retention.records import due_bucket
from shared.tenancy.quotas import Reservation

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing
    from shared.memories.records import UserAddress

KIND = "memory_task"
VISIBLE_MS = DAY_MS
"""How long a task is told of after its end (seed, Asynchronous task status)."""

STARTED_WITHIN_MS = 5 * 60_000
"""A task that no worker has begun by then is sent again by the sweeper."""

_FIRST_LOOK, _LONGEST_LOOK = 0.05, 0.4
"""Seconds between two looks at a task that is waited for."""


@dataclass(frozen=True)
class NewTask:
    """What is known of a task when it is accepted."""

    address: UserAddress
    task_id: str
    now: int
    payload: str
    digest: str
    correlation_id: str
    generation: int = 0
    reservation: Reservation | None = None
    idempotency: tuple[str, str] | None = None
    files: int = 0
    waiting: int = 0

    @property
    def shared(self) -> Item:
        """What its row and the rows of its jobs have in common: whose they are, and of which task."""
        return {
            "task": self.task_id,
            "tenant": self.address.scope.tenant,
            "project": self.address.scope.project,
            "user": self.address.user,
            "user_id": self.address.user_id,
            "generation": self.generation,
            "correlation_id": self.correlation_id,
        }

    def row(self) -> Item:
        """Return the task's row."""
        pk, sk = task_key(self.address.scope, self.task_id)
        taken = self.reservation
        return {
            "pk": pk,
            "sk": sk,
            "kind": KIND,
            **self.shared,
            "group": self.address.group,
            "status": "processing",
            "phase": "queued",
            "tries": 0,
            "object": self.payload,
            "digest": self.digest,
            "reservation": [*taken.key, taken.kind] if taken else None,
            "idempotency": list(self.idempotency) if self.idempotency else None,
            "received_at": self.now,
            "created_at": self.now,
            "updated_at": self.now,
            "expires_at": self.now + STARTED_WITHIN_MS,
            "due": due_bucket(self.now + STARTED_WITHIN_MS, self.task_id),
            **({"files": self.files, "waiting": self.waiting} if self.files else {}),
        }


def message_of(task: Item) -> dict[str, Any]:
    """Return the queue's message that has a worker do the task."""
    return {
        "work": "add",
        "tenant": task["tenant"],
        "project": task["project"],
        "task": task["task"],
        "user": task["user"],
        "correlation_id": task["correlation_id"],
    }


def reservation_of(task: Item) -> Reservation | None:
    """Return the quota's call that a task holds until its end."""
    if not task.get("reservation"):
        return None
    pk, sk, kind = task["reservation"]
    return Reservation((pk, sk), kind)


class Tasks:
    """Reads tasks; `pause` is how it waits, in seconds."""

    def __init__(self, backing: Backing, pause: Callable[[float], None] = time.sleep) -> None:
        self._backing = backing
        self._pause = pause

    def read(self, scope: Scope, task_id: str) -> Item:
        """Return the row of a task.

        Raises:
            NotFound: it is unknown, another project's, or ended more than a day ago.
        """
        task = self._backing.table.get(task_key(scope, task_id)) if has_form(task_id) else None
        if task is None or self._is_past(task):
            raise NotFound(
                "There is no such task in this project; a task is told of for 24 hours after its end.",
                hint="Check the task_id, and that the key is of the project that it was added with.",
            )
        return task

    def ended_within(self, scope: Scope, task_id: str, seconds: float) -> Item | None:
        """Return the row of a task once it has succeeded or failed, or None if that takes longer."""
        deadline, pause = time.monotonic() + seconds, _FIRST_LOOK
        while True:
            task = self._backing.table.get(task_key(scope, task_id))
            if task is None or task["status"] != "processing":
                return task
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._pause(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_LOOK)

    def _is_past(self, task: Item) -> bool:
        ended = task.get("completed_at")
        return ended is not None and self._backing.clock.now_ms() - ended >= VISIBLE_MS
