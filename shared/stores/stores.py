"""Stores: create, list, retrieve, update, archive, delete."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.table import Query
from shared.aws.writes import ABSENT, PRESENT, Delete, Put, Update
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import InvalidInput, NotFound
from shared.kernel.ids import prefixed
from shared.stores.archiving import UNCHANGED, archive
from shared.stores.models import METADATA_PAIRS
from shared.stores.pages import ANY_TIME, Moments, Page, id_bounds, id_in, page_of
from shared.stores.records import STORE, StoreAddress, store_view, stores_pk
from shared.stores.removal import note_removed, removal
from shared.stores.sight import check_not_archived, known_store

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.stores.backing import Backing
    from shared.stores.models import NewStore, StoreChange
    from shared.stores.records import Record


@dataclass(frozen=True)
class StoreList:
    """Which stores to list: newest first, made within `created`, archived ones too or not, after the token `page`."""

    limit: int
    page: str | None = None
    created: Moments = ANY_TIME
    include_archived: bool = False


class Stores:
    """The memory stores of projects."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def create(self, scope: Scope, wanted: NewStore) -> Record:
        """Create a store."""
        now = self._backing.clock.now_ms()
        store_id = prefixed(STORE, now)
        row: Item = {
            "pk": stores_pk(scope),
            "sk": store_id,
            "kind": "memory_store",
            "name": wanted.name,
            "description": wanted.description,
            "metadata": wanted.metadata,
            "memories": 0,
            "created_at": now,
            "updated_at": now,
            "l1": store_id,
        }
        self._backing.table.create(row)
        self._backing.note(scope, stores=1)
        return store_view(row)

    def page(self, scope: Scope, wanted: StoreList) -> Page:
        """Return one page of a project's stores, newest first.

        Raises:
            InvalidInput: a token of another list.
        """
        binding = ("stores", scope.tenant, scope.project, *wanted.created.binding, str(wanted.include_archived))
        after = id_in(wanted.page, binding, STORE)
        bounds = id_bounds(STORE, wanted.created, before=after)
        if bounds is None:
            return Page([], None)
        order = "sk" if wanted.include_archived else "l1"
        query = Query(stores_pk(scope), order, between=bounds, size=wanted.limit + 2, newest_first=True)
        rows = (row for row in self._backing.table.every(query) if row["sk"] != after)
        # A mebibyte, which is what DynamoDB returns at once, may hold fewer large stores than a page.
        return page_of([(row["sk"], store_view(row)) for row in islice(rows, wanted.limit + 1)], wanted.limit, binding)

    def retrieve(self, address: StoreAddress) -> Record:
        """Return a store.

        Raises:
            NotFound: there is none.
        """
        return store_view(self._find(address))

    def update(self, address: StoreAddress, change: StoreChange) -> Record:
        """Change a store's name, description or metadata.

        Raises:
            NotFound: there is none.
            InvalidInput: it is archived, or would have too much metadata.
        """
        return store_view(persist(lambda: self._update(address, change)))

    def archive(self, address: StoreAddress) -> Record:
        """Archive a store, for good; one that is archived stays as it is. From then on no change of it lands.

        Raises:
            NotFound: there is none.
            Conflict: changes kept passing for longer than the retries last.
        """
        return store_view(persist(lambda: self._archive(address)))

    def delete(self, address: StoreAddress) -> None:
        """Hide a store with all that is in it at once; what is stored of it is removed in the background.

        Raises:
            NotFound: there is none.
        """
        work = removal(address, self._backing.clock.now_ms())

        def hide() -> None:
            try:
                self._backing.table.transact(Delete(address.key, PRESENT), Put(work, ABSENT))
            except TransactionFailed as failed:
                if failed.items.get(1) is None:
                    raise NotFound("There is no such memory store.") from None

        persist(hide)
        note_removed(self._backing, work)
        self._backing.note(address.scope, stores=-1)

    def _find(self, address: StoreAddress) -> Item:
        return known_store(self._backing.table.get(address.key))

    def _update(self, address: StoreAddress, change: StoreChange) -> Item:
        store = self._find(address)
        check_not_archived(store)
        new = _changed(store, change)
        if new.items() <= store.items():
            return store
        at = max(self._backing.clock.now_ms(), store["updated_at"] + 1)
        update = Update(key_of(store), {**new, "updated_at": at}, when=UNCHANGED, values={"seen": store["updated_at"]})
        try:
            return self._backing.table.write(update)
        except ConditionFailed:
            raise LostRace(pause=False) from None

    def _archive(self, address: StoreAddress) -> Item:
        store = self._find(address)
        return store if "archived_at" in store else archive(self._backing, address, store)


def _changed(store: Item, change: StoreChange) -> dict[str, Any]:
    """Return the fields as they shall be; metadata is a patch, in which null removes a key."""
    given = {"name": change.name, "description": change.description}
    merged = {**store["metadata"], **change.metadata}
    metadata = {key: value for key, value in merged.items() if value is not None}
    if len(metadata) > METADATA_PAIRS:
        raise InvalidInput.at("body", "metadata", message=f"A memory store has at most {METADATA_PAIRS} pairs")
    return {name: value for name, value in given.items() if value is not None} | {"metadata": metadata}
