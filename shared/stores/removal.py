"""How a store goes: hidden in one transaction, then removed piece by piece by the sweeper.

Memories and paths go first: once they are gone, no write that is still under way can add a version. Then the
versions go, each object before the row that owns it. Whatever dies in between, the job is still there.

A version whose time is over goes alone: its row first, so that no answer names bytes that are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.aws.errors import TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each, together
from shared.aws.table import Query
from shared.aws.writes import Delete, Put
from shared.kernel.scope import Scope
from shared.retention.erasures import Erasure, ErasureLog
from shared.retention.records import job
from shared.stores.records import StoreAddress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.stores.backing import Backing
    from shared.stores.records import Record

    Handler = Callable[[Item], bool]

REMOVE_STORE = "remove_memory_store"
ERASE_VERSION = "erase_memory_version"
EXPIRED_VERSION = "memory_version"
_PAGE = 500


def removal(address: StoreAddress, now: int) -> Item:
    """Return the job that removes what is in a store that is gone."""
    return job(REMOVE_STORE, address.scope, now, store=address.store_id)


def note_removed(backing: Backing, work: Item) -> None:
    """Write the erasure log's entry of a store: a restored table must forget it again."""
    _log(backing, work, "memory_store", store=work["store"])


def erasure(address: StoreAddress, version: Item, now: int, *, actor: Record) -> Item:
    """Return the job that erases the bytes of a version that `actor` redacts."""
    gone = {"object": version["object"]} if "object" in version else {}
    return job(ERASE_VERSION, address.scope, now, store=address.store_id, version=version["sk"], by=actor, **gone)


def erase(backing: Backing, work: Item) -> None:
    """Remove a redacted version's bytes, and log that it is redacted; doing it again changes nothing.

    Raises:
        Unavailable: one of both is not done, and the redaction may not be acknowledged.
    """
    together(lambda: _remove_bytes(backing, work), lambda: _log_redaction(backing, work))


class Removal:
    """The sweeper's handlers of memory stores, by the kind of a due item; `late` tells when to stop."""

    def __init__(self, backing: Backing, late: Callable[[], bool] = lambda: False) -> None:
        self._backing = backing
        self._late = late

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by kind."""
        return {
            REMOVE_STORE: self.remove_store,
            ERASE_VERSION: self.erase_version,
            EXPIRED_VERSION: self.expire_version,
        }

    def remove_store(self, work: Item) -> bool:
        """Remove what is left of a store; True when nothing is."""
        note_removed(self._backing, work)
        address = _address(work)
        return all(self._clear(address, pk) for pk in (address.heads, address.places, address.versions))

    def erase_version(self, work: Item) -> bool:
        """Erase a redacted version's bytes, where the request did not come to it."""
        erase(self._backing, work)
        return True

    def expire_version(self, version: Item) -> bool:
        """Remove a version whose time is over; a job removes its bytes."""
        _, tenant, project, _ = version["pk"].split("#")
        scope = Scope(tenant, project)
        now = self._backing.clock.now_ms()
        bytes_too = [job("remove_object", scope, now, object=version["object"])] if "object" in version else []
        gone = Delete(key_of(version), "#due = :due", {"due": version["due"]})
        try:
            self._backing.table.transact(gone, *map(Put, bytes_too))
        except TransactionFailed:
            return True  # gone with its store, or by another sweeper
        self._backing.note(scope, versions=-1, bytes=-version.get("size", 0))
        return True

    def _clear(self, address: StoreAddress, pk: str) -> bool:
        query = Query(pk, only=("pk", "sk", "kind", "object", "size"), size=_PAGE)
        for page in self._backing.table.pages(query):
            if self._late():
                return False
            self._remove(address, page.items)
        return True

    def _remove(self, address: StoreAddress, rows: list[Item]) -> None:
        objects = [row["object"] for row in rows if "object" in row]
        if objects:
            self._backing.objects.delete(*objects)
        each(lambda row: self._backing.table.write(Delete(key_of(row))), rows)
        versions = [row for row in rows if row["kind"] == "memory_version"]
        memories = sum(row["kind"] == "memory" for row in rows)
        size = sum(row.get("size", 0) for row in versions)
        self._backing.note(address.scope, memories=-memories, versions=-len(versions), bytes=-size)


def _address(work: Item) -> StoreAddress:
    return StoreAddress(Scope(work["tenant"], work["project"]), work["store"])


def _remove_bytes(backing: Backing, work: Item) -> None:
    if "object" in work:
        backing.objects.delete(work["object"])


def _log_redaction(backing: Backing, work: Item) -> None:
    _log(backing, work, "memory_version", store=work["store"], version=work["version"], by=work["by"])


def _log(backing: Backing, work: Item, kind: str, **ids: Any) -> None:
    name = work["pk"].removeprefix("J#")
    ErasureLog(backing.objects).write(Erasure(name, kind, Scope(work["tenant"], work["project"]), ids))
