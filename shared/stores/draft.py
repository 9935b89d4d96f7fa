"""The version that a write is about to make: its id, and its bytes stored ahead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.kernel.clock import DAY_MS
from shared.kernel.ids import prefixed
from shared.retention.records import KEEP, due_bucket, object_key, owner_of
from shared.stores.records import VERSION, actor_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.stores.backing import Backing
    from shared.stores.models import Content
    from shared.stores.records import Record, StoreAddress


class Draft:
    """A version in the making. Its object names it as its owner, so a new id means a new object."""

    def __init__(
        self, backing: Backing, address: StoreAddress, actor: Record, *, content: Content | None = None
    ) -> None:
        self._backing, self._address, self._actor = backing, address, actor
        self.content = content
        self._stored: dict[str, str] = {}  # object keys by the version id that they were stored for
        self._source: str | None = None
        self._begin(backing.clock.now_ms())

    def follow(self, moment: int) -> None:
        """Become later than `moment` (ms), that of the version before."""
        if self.at <= moment:
            self._begin(max(self._backing.clock.now_ms(), moment + 1))

    def store(self) -> None:
        """Store the content, if there is some and it is not stored yet."""
        content = self.content
        if content is not None:
            self._store(lambda key, owner: self._backing.objects.put(key, content.body, owner=owner))

    def copy(self, source: str) -> None:
        """Store a copy of another version's bytes, so that either can be erased alone.

        Raises:
            ObjectMissing: they are gone.
        """
        if self._source not in (None, source):
            self._begin(self.at)  # what was copied before is no longer what the memory holds
        self._source = source
        self._store(lambda key, owner: self._backing.objects.copy(source, key, owner=owner))

    def row(self, memory_id: str, operation: str, path: str, **more: str | int) -> Item:
        """Return the version's row; `more` has its size, SHA-256 and object, or its end where it has no content."""
        pk, sk = self._address.version_key(self.id)
        return {
            "pk": pk,
            "sk": sk,
            "kind": "memory_version",
            "memory_id": memory_id,
            "operation": operation,
            "path": path,
            "created_at": self.at,
            "created_by": self._actor,
            "l1": f"{memory_id}#{self.id}",
            "l3": actor_index(self._actor, self.id),
            **more,
        }

    def end(self) -> Item:
        """Return the end of a version that is no head of a live memory, or from now on; empty where it has none."""
        days = self._backing.version_days
        if not days:
            return {}
        expires_at = self.at + days * DAY_MS
        return {"expires_at": expires_at, "due": due_bucket(expires_at, self.id)}

    @property
    def object(self) -> str:
        """The key of the version's object."""
        return self._stored[self.id]

    def discard(self, *, used: bool) -> None:
        """Remove what was stored in vain: all of it, or all but the version's own object."""
        kept = self._stored.get(self.id) if used else None
        self._backing.objects.discard(*[key for key in self._stored.values() if key != kept])

    def _begin(self, moment: int) -> None:
        self.at = moment
        self.id = prefixed(VERSION, moment)

    def _store(self, store: Callable[[str, str], None]) -> None:
        if self.id not in self._stored:
            self._stored[self.id] = object_key(KEEP, self.at, self._address.scope)
            store(self._stored[self.id], owner_of(self._address.version_key(self.id)))
