"""One consistent look at a store, a memory and the paths around it: what every write starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.errors import InvalidInput, NotFound
from shared.stores.records import MEMORY, STORE, StoreAddress, ancestors, has_form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.stores.backing import Backing

LOOKS = 3
"""How often a read looks again when what it found was replaced between its two reads."""


@dataclass(frozen=True)
class Sight:
    """What was seen: the store, the memory, and the rows at the paths looked at (None: nothing is there)."""

    store: Item | None
    head: Item | None
    places: Mapping[str, Item | None]

    def known_store(self) -> Item:
        """Return the store.

        Raises:
            NotFound: there is none.
        """
        return known_store(self.store)

    def writable_store(self) -> Item:
        """Return the store, if memories may be created and changed in it.

        Raises:
            NotFound: there is none.
            InvalidInput: it is archived.
        """
        store = self.known_store()
        check_not_archived(store)
        return store

    def known_head(self) -> Item:
        """Return the memory.

        Raises:
            NotFound: there is none.
        """
        return known_head(self.head)


def look(backing: Backing, address: StoreAddress, memory_id: str | None, *paths: str) -> Sight:
    """Return a store, a memory if one is named, and what is at the paths and above them, in one read."""
    around = list(dict.fromkeys(place for path in paths for place in (path, *ancestors(path))))
    head_key = address.head_key(memory_id) if memory_id else None
    keys = [address.key, *([head_key] if head_key else []), *map(address.place_key, around)]
    found = backing.table.batch_get(keys)
    places = {path: found.get(address.place_key(path)) for path in around}
    return Sight(found.get(address.key), found.get(head_key) if head_key else None, places)


def store_address(scope: Scope, store_id: str) -> StoreAddress:
    """Return where a store is.

    Raises:
        NotFound: the id can't be a store's.
    """
    if not has_form(store_id, STORE):
        raise NotFound("There is no such memory store.")
    return StoreAddress(scope, store_id)


def memory_id_of(text: str) -> str:
    """Return a memory's id, or one that no memory has: which of store and memory is unknown is told in that order."""
    return text if has_form(text, MEMORY) else "none"


def known_store(store: Item | None) -> Item:
    """Return a store that is there.

    Raises:
        NotFound: it is not.
    """
    if store is None:
        raise NotFound("There is no such memory store.")
    return store


def known_head(head: Item | None) -> Item:
    """Return a memory that is there.

    Raises:
        NotFound: it is not.
    """
    if head is None:
        raise NotFound("There is no such memory.")
    return head


def check_not_archived(store: Item) -> None:
    """Refuse what an archived store does not take.

    Raises:
        InvalidInput: the store is archived.
    """
    if store.get("archived_at") is not None:
        raise InvalidInput.at("memory_store_id", message="The memory store is archived.")
