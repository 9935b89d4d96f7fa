"""A memory's row: one revision of it, with the decision that made it, and what is needed to index it anew."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel.clock import rfc3339
from shared.kernel.strict_json import compact
from shared.memories.records import by_kind, by_origin, by_time, memory_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.memories.models import Kind
    from shared.memories.records import UserAddress

SOURCES = ("dialogue", "document")
_STEP = 1 << 20


@dataclass(frozen=True)
class Origin:
    """Where a memory comes from: the add task, the messages in it, and what the caller said of them.

    `content_type` is a hit's (`dialogue`, `code`, `document`); `source` what `sources` filters by.
    """

    task_id: str
    positions: tuple[int, ...]
    content_type: str
    source: str
    key_id: str
    agent_id: str | None = None
    app_id: str | None = None
    session_id: str | None = None
    document_id: str | None = None
    metadata: dict[str, Any] | None = None


def memory_row(address: UserAddress, memory_id: str, kind: Kind, *, origin: Origin, **state: Any) -> Item:
    """Return the row of a memory.

    `state` has `text` or `object` (the key of the object that holds it) with `size` (bytes), `modes`, `revision`
    (from 1), `generation`, `created_at`, `updated_at`, `event_at` (ms or None), `memory_type`, `categories`,
    `immutable`, the context that it is found by (`speaker`, `previous`, `following`), the `fingerprint` of a fact,
    and the decision that made this revision (`event`, `reason`, `decided_at`, `task`); a summary that its caller wrote
    is `verbatim`.
    """
    pk, sk = memory_key(address.scope, memory_id)
    return {
        "pk": pk,
        "sk": sk,
        "user": address.user,
        "user_id": address.user_id,
        "kind": kind,
        "origin": origin.task_id,
        "positions": list(origin.positions),
        "content_type": origin.content_type,
        "source": origin.source,
        "key_id": origin.key_id,
        "agent_id": origin.agent_id,
        "app_id": origin.app_id,
        "session_id": origin.session_id,
        "document_id": origin.document_id,
        "metadata": compact(origin.metadata or {}),
        "l1": by_time(address.user, state["created_at"], memory_id),
        "l2": by_origin(address.user, origin.task_id, sk),
        "l3": by_kind(address.user, kind, state["created_at"], memory_id=memory_id),
        **state,
    }


def next_revision(row: Item) -> int:
    """Return the number of a memory's next revision.

    Not the one after: two writers that prepare a change at the same time index their passages before either of them
    commits, and under the same number they would be each other's.
    """
    revision: int = row["revision"]
    return revision + 1 + secrets.randbelow(_STEP)


def metadata_of(row: Item) -> dict[str, Any]:
    """Return the caller's own metadata; it is kept as JSON, so that its numbers stay as they were written."""
    metadata: dict[str, Any] = json.loads(row["metadata"])
    return metadata


def memory_id_of(row: Item) -> str:
    """Return the id of a row's memory."""
    sk: str = row["sk"]
    return sk.removeprefix("m#")


def moment_or_none(ms: int | None) -> str | None:
    """Write a moment, where there is one."""
    return None if ms is None else rfc3339(ms)


BESIDE = {"previous": -1, "following": 1}
"""Where the messages stand whose words a message is found by as well."""


def message_beside(address: UserAddress, row: Item, step: int) -> str:
    """Return the id of the message that stands `step` places after one of the same add."""
    return address.memory_id(row["origin"], "raw", row["positions"][0] + step)


def messages_beside(address: UserAddress, rows: Sequence[Item]) -> list[str]:
    """Return the ids of the messages just before and after those among `rows`, themselves left out."""
    messages = [row for row in rows if row["sk"].startswith("m#") and row["kind"] == "raw"]
    places = [(row, step) for row in messages for name, step in BESIDE.items() if row[name]]
    return sorted({message_beside(address, *place) for place in places} - set(map(memory_id_of, messages)))
