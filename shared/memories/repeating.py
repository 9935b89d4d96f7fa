"""What a repeated request is known by: an idempotency key for a day, and what the request asks for."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from shared.kernel.clock import DAY_MS
from shared.kernel.strict_json import compact
from shared.retention.records import ttl_of

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.memories.models import Add
    from shared.memories.tasks import NewTask

REMEMBERED_MS = DAY_MS
"""How long a repeated request is answered as the first was."""


def remembered(task: NewTask, again: Key) -> Item:
    """Return the row that answers a repeated request with the task."""
    pk, sk = again
    until = task.now + REMEMBERED_MS
    return {
        "pk": pk,
        "sk": sk,
        "user": task.address.user,
        "generation": task.generation,
        "task": task.task_id,
        "digest": task.digest,
        "expires_at": until,
        "ttl": ttl_of(until),
    }


def digest_of(add: Add) -> str:
    """Return what two requests have in common that ask for the same: whichever key they came with.

    The ids of files stand for their bytes.
    """
    return hashlib.sha256(compact({**add.to_json(), "key_id": ""}).encode()).hexdigest()
