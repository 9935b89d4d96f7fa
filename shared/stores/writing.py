"""The course of one write to a memory: look, check, commit; again when others were first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing, TransactionFailed
from shared.aws.parallel import together
from shared.aws.table import Query
from shared.aws.writes import ABSENT, PRESENT, Check, Put, Update
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import LodestoreError, Unavailable
from shared.stores.archiving import archive, is_closing
from shared.stores.draft import Draft
from shared.stores.errors import PathTaken
from shared.stores.records import ancestors
from shared.stores.sight import look
from shared.stores.tree import Blocked, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.stores.backing import Backing
    from shared.stores.models import Content
    from shared.stores.records import Record, StoreAddress
    from shared.stores.sight import Sight

WRITABLE = "attribute_exists(#pk) AND attribute_not_exists(#archived_at)"


class MemoryWrite(ABC):
    """One request's write. Bytes are stored first, under a fresh key; one transaction makes them visible."""

    def __init__(
        self, backing: Backing, address: StoreAddress, memory_id: str, *, actor: Record, content: Content | None = None
    ) -> None:
        self.backing, self.address, self.memory_id = backing, address, memory_id
        self.draft = Draft(backing, address, actor, content=content)
        self.committed = False
        self._sight: Sight | None = None
        self._closer: Sight | None = None  # what was seen beside an attempt; it saves the next one a look
        self.left: str | None = None  # the path that the write leaves, once it is known

    @abstractmethod
    def look(self) -> Sight:
        """See what the write depends on."""

    @abstractmethod
    def apply(self, sight: Sight) -> Item:
        """Check, commit, and return the memory's row as it is then."""

    def run(self) -> Item:
        """Do the write; bytes that certainly did not become visible are removed.

        Raises:
            Conflict: others kept writing for longer than the retries last.
        """
        try:
            head = persist(self._attempt)
        except Unavailable:
            raise  # the commit may have been applied all the same: what it names must stay
        except LodestoreError:
            self.draft.discard(used=False)
            raise
        self.draft.discard(used=self.committed)
        return head

    def _attempt(self) -> Item:
        if self._sight is None:
            self._sight = together(self.draft.store, self.look)[1]
        try:
            return self.apply(self._sight)
        except LostRace as lost:
            # A clash alone says nothing against what was seen: most are about the store's count, or a directory's.
            self._sight, self._closer = self._closer or (self._sight if lost.pause else None), None
            raise
        except ObjectMissing:
            self._sight = self._closer = None
            raise LostRace(pause=False) from None

    def see(self, memory_id: str | None, *paths: str) -> Sight:
        """Look at the store, a memory, the paths and all above them."""
        return look(self.backing, self.address, memory_id, *paths)

    def writable_store(self, sight: Sight) -> Item:
        """Return the store, if memories may be created and changed in it; one that is closing is archived first.

        Raises:
            NotFound: there is none.
            InvalidInput: it is archived.
        """
        store = sight.writable_store()
        if is_closing(store):
            archive(self.backing, self.address, store)
            raise LostRace(pause=False)
        return store

    def version(self, operation: str, path: str, size: int, *, sha256: str) -> Item:
        """Return the row of the version that is made, with the bytes stored for it."""
        return self.draft.row(self.memory_id, operation, path, size=size, sha256=sha256, object=self.draft.object)

    def place(self, tree: Tree, path: str, sight: Sight) -> None:
        """Put the memory at a path of the tree.

        Raises:
            PathTaken: another memory is there, above, or below; names it.
        """
        try:
            tree.add(path, self.memory_id)
        except Blocked as blocked:
            raise self._taken(blocked, sight) from None

    def commit(self, version: Item, *writes: Write) -> None:
        """Write the version's row and what belongs to it.

        That more lies in a directory than what leaves it is taken for granted; beside that, it is looked at.

        Raises:
            LostRace: something is not as it was seen.
        """
        self.looking_closer(lambda: self._write(version, *writes))
        self.committed = True

    def looking_closer(self, call: Callable[[], None]) -> None:
        """Make a call, and beside it look at the path that is left, unless that was seen."""
        seen = self._closer or self._sight
        blind = self.left is not None and ancestors(self.left) and seen is not None and self.left not in seen.places
        together(*([self._look_closer] if blind else []), call)

    def places(self, sight: Sight) -> Mapping[str, Item | None]:
        """Return what was seen at paths, by the closest look."""
        return (self._closer or sight).places

    def _look_closer(self) -> None:
        with suppress(Unavailable):
            self._closer = self.look()

    def _write(self, version: Item, *writes: Write) -> None:
        try:
            self.backing.table.transact(Put(version, ABSENT), *writes)
        except TransactionFailed as failed:
            if failed.items.get(0) is None:
                raise LostRace(pause=False) from None
            # The version is there: our own earlier attempt was applied, only its answer was lost.

    def count(self, change: int, when: str, **values: int) -> Update:
        """Return the write that counts the store's memories."""
        return Update(self.address.key, add={"memories": change}, when=when, values=values)

    def replaced(self, head: Item) -> list[Write]:
        """Return the write that gives the version so far its end, where versions have one."""
        end = self.draft.end()
        return [Update(self.address.version_key(head["version"]), end, when=PRESENT)] if end else []

    def hold_writable(self) -> Check:
        """Return the check that the store is there and not archived."""
        return Check(self.address.key, WRITABLE)

    def _taken(self, blocked: Blocked, sight: Sight) -> PathTaken | LostRace:
        blocker = self._blocker(blocked, sight)
        # The rows were not read at one instant: that the memory is as it was seen makes the refusal true of one.
        if blocker is None or (sight.head is not None and self._has_changed(sight.head)):
            return LostRace(pause=False)
        return PathTaken(*blocker)

    def _blocker(self, blocked: Blocked, sight: Sight) -> tuple[str, str] | None:
        """Return the path and id of the memory in the way; None where that can't be told from what was seen."""
        if blocked.memory_id is not None:
            return blocked.path, blocked.memory_id
        below = f"{blocked.path}/"
        if self.left is not None and self.left.startswith(below) and self.left not in sight.places:
            return None  # what lies below may be this memory alone: look closer
        files = Query(self.address.heads, "l1", begins=below, size=2)
        others = (head for head in self.backing.table.query(files).items if head["sk"] != self.memory_id)
        # With nothing there by now, the directory has gone since it was seen.
        return next(((head["l1"], head["sk"]) for head in others), None)

    def _has_changed(self, head: Item) -> bool:
        now = self.backing.table.get(self.address.head_key(head["sk"]))
        return now is None or now["version"] != head["version"]
