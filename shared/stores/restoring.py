"""Memory stores in a restored table: what was erased since goes again, and what has lost its bytes goes with them.

A version that was redacted since may be the head of a live memory in the restored table: then the memory goes, since
nothing of what it says is left.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import BATCH, Query
from shared.aws.writes import PRESENT, Delete, Put, Update
from shared.kernel.contention import persist
from shared.kernel.scope import Scope
from shared.stores.records import StoreAddress, ancestors, directory_row, file_row
from shared.stores.removal import Removal, removal
from shared.stores.versions import CONTENT, REDACTABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shared.aws.items import Item
    from shared.retention.erasures import Erasure
    from shared.stores.backing import Backing


@dataclass(frozen=True)
class Restoring:
    """Repairs memory stores in a restored table, which nobody else writes."""

    backing: Backing

    def replays(self) -> Mapping[str, Callable[[Erasure], None]]:
        """Return what replays the entries of the erasure log, by kind."""
        return {"memory_store": self.forget_store, "memory_version": self.redact}

    def forget_store(self, entry: Erasure) -> None:
        """Remove a store again, with all that is in it."""
        address = StoreAddress(entry.scope, entry.ids["store"])
        work = removal(address, entry.at) | {"pk": f"J#{entry.id}"}
        with suppress(TransactionFailed):  # it was gone, or not there yet, when the table was as it is restored
            self.backing.table.transact(Delete(address.key, PRESENT), Put(work))
        Removal(self.backing).remove_store(work)
        self.backing.table.write(Delete(key_of(work)))

    def redact(self, entry: Erasure) -> None:
        """Redact a version again; a memory whose head it is goes."""
        address = StoreAddress(entry.scope, entry.ids["store"])
        row = self.backing.table.get(address.version_key(entry.ids["version"]))
        if row is None:
            return
        self._drop_head_of(address, row)
        if "object" in row:
            self.backing.objects.delete(row["object"])
        put = {"redacted_at": entry.at, "redacted_by": entry.ids["by"], "erasure": f"J#{entry.id}"}
        with suppress(ConditionFailed):  # it is redacted
            self.backing.table.write(Update(key_of(row), put, drop=CONTENT, when=REDACTABLE))

    def drop_version(self, row: Item) -> None:
        """Remove a version whose bytes are gone, and the memory whose head it is."""
        self._drop_head_of(_address_of(row), row)
        with suppress(ConditionFailed):
            self.backing.table.write(Delete(key_of(row), "#object = :lost", {"lost": row["object"]}))

    def drop_head(self, head: Item) -> None:
        """Remove a memory whose bytes are gone; its place and the store's count follow (`mend_store`)."""
        with suppress(ConditionFailed):
            self.backing.table.write(Delete(key_of(head), "#version = :seen", {"seen": head["version"]}))
        self.mend_store(_address_of(head))

    def mend_store(self, address: StoreAddress) -> None:
        """Bring a store's places, count and gates in line with the memories that have a version."""
        store = self.backing.table.get(address.key)
        if store is None:
            return
        heads = self._heads(address)
        files = {head["l1"]: head["sk"] for head in heads}
        self._mend_places(address, files)
        self._mend_gates(address, archived="archived_at" in store)
        if store["memories"] != len(heads):
            self.backing.table.write(Update(address.key, {"memories": len(heads)}, when=PRESENT))

    def _drop_head_of(self, address: StoreAddress, version: Item) -> None:
        head = self.backing.table.get(address.head_key(version["memory_id"]))
        if head is not None and head["version"] == version["sk"]:
            self.drop_head(head)

    def _heads(self, address: StoreAddress) -> list[Item]:
        """Return the live memories; one without a version was written half when the table was as it is restored."""
        only = ("pk", "sk", "kind", "l1", "version")
        found = [row for row in self.backing.table.every(Query(address.heads, only=only)) if row["kind"] == "memory"]
        keys = [address.version_key(head["version"]) for head in found]
        pages = each(self.backing.table.batch_get, [keys[n : n + BATCH] for n in range(0, len(keys), BATCH)])
        versions = {key for page in pages for key in page}
        for head, key in zip(found, keys, strict=True):
            if key not in versions:
                self.backing.table.write(Delete(key_of(head)))
        return [head for head, key in zip(found, keys, strict=True) if key in versions]

    def _mend_places(self, address: StoreAddress, files: Mapping[str, str]) -> None:
        wanted = {path: file_row(address, path, memory_id) for path, memory_id in files.items()}
        wanted |= {path: directory_row(address, path, n) for path, n in _children(files).items()}
        there = {row["sk"]: row for row in self.backing.table.every(Query(address.places))}
        writes: list[Any] = [Put(row) for path, row in wanted.items() if there.get(path) != row]
        writes += [Delete(key_of(row)) for path, row in there.items() if path not in wanted]
        each(lambda write: persist(lambda: self.backing.table.write(write)), writes)

    def _mend_gates(self, address: StoreAddress, *, archived: bool) -> None:
        there = [key_of(row) for row in self.backing.table.every(Query(address.heads, begins="gate#"))]
        writes: list[Any] = [] if archived else [Delete(key) for key in there]
        if archived:
            writes += [Put({"pk": pk, "sk": sk, "kind": "gate"}) for pk, sk in address.gates if (pk, sk) not in there]
        each(self.backing.table.write, writes)


def address_in(store: Item) -> StoreAddress:
    """Return the address of a store's row."""
    _, tenant, project = store["pk"].split("#")
    return StoreAddress(Scope(tenant, project), store["sk"])


def _address_of(row: Item) -> StoreAddress:
    _, tenant, project, store = row["pk"].split("#")
    return StoreAddress(Scope(tenant, project), store)


def _children(files: Mapping[str, str] | Sequence[str]) -> Mapping[str, int]:
    """Return the directories that files need, with how many places lie directly in each."""
    directories = {directory for path in files for directory in ancestors(path)}
    return Counter(above[0] for place in {*files, *directories} if (above := ancestors(place)))
