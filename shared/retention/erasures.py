"""The erasure log: what was erased, so that a table restored to an earlier moment can be made to forget it again.

The table's point-in-time recovery keeps what is deleted for 35 days. Every erasure is therefore written
here, under a prefix that no rule expires and no reconciliation visits, before it is acknowledged.
Entries hold ids and times, never content.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.objects import PAGE
from shared.kernel.clock import day_of, rfc3339
from shared.kernel.ids import ulid_ms
from shared.kernel.scope import Scope
from shared.kernel.strict_json import compact
from shared.retention.records import ERASURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shared.aws.objects import Objects

OWNER = "erasures"


@dataclass(frozen=True)
class Erasure:
    """One erasure: its ULID (which is also its time), its kind such as `task`, and the ids of what is erased."""

    id: str
    kind: str
    scope: Scope
    ids: Mapping[str, Any]

    @property
    def at(self) -> int:
        """When it was (ms)."""
        return ulid_ms(self.id)

    @property
    def key(self) -> str:
        """Its object's key: of the day of its ULID, so that a repeated write is the same write."""
        return f"{ERASURES}/{day_of(self.at)}/{self.id}"


class ErasureLog:
    """Writes entries, and reads them back in order of time."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def write(self, erasure: Erasure) -> None:
        """Store an entry; storing it again changes nothing.

        Raises:
            Unavailable: it is not stored, and the erasure may not be acknowledged.
        """
        scope = erasure.scope
        entry = {
            "id": erasure.id,
            "kind": erasure.kind,
            "tenant": scope.tenant,
            "project": scope.project,
            "ids": dict(erasure.ids),
            "at": rfc3339(erasure.at),
        }
        self._objects.put(erasure.key, compact(entry).encode(), owner=OWNER)

    def replay(self, since_ms: int) -> Iterator[Erasure]:
        """Yield every erasure since a moment (ms), in order of time, for a table restored to that moment."""
        after = f"{ERASURES}/{day_of(since_ms)}"
        while True:
            page = self._objects.list(f"{ERASURES}/", after=after, size=PAGE)
            entries = (self._read(key) for key, _ in page.objects)
            yield from (entry for entry in entries if entry.at >= since_ms)
            if page.token is None:
                return
            after = page.objects[-1][0]

    def _read(self, key: str) -> Erasure:
        entry = json.loads(self._objects.get(key))
        return Erasure(entry["id"], entry["kind"], Scope(entry["tenant"], entry["project"]), entry["ids"])
