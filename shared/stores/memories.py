"""Memories: create, retrieve, update (content, path, or both), delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing
from shared.aws.writes import ABSENT, PRESENT, Delete, Put
from shared.kernel.errors import InvalidInput, Unavailable
from shared.kernel.ids import prefixed
from shared.stores.archiving import gate
from shared.stores.errors import StaleContent
from shared.stores.records import MEMORY, head_row, memory_view
from shared.stores.sight import LOOKS, look
from shared.stores.tree import Tree
from shared.stores.writing import WRITABLE, MemoryWrite

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.stores.backing import Backing
    from shared.stores.models import NewMemory, Wish
    from shared.stores.records import Record, StoreAddress
    from shared.stores.sight import Sight


class Memories:
    """The memories of stores."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def create(self, address: StoreAddress, wanted: NewMemory, *, actor: Record, full: bool) -> Record:
        """Create a memory at a path; its answer has the content if `full`.

        Raises:
            NotFound: no such store.
            InvalidInput: the store is archived, or has as many memories as it may.
            PathTaken: another memory is at the path, above, or below.
            Conflict: others kept writing for longer than the retries last.
        """
        head = _Creation(self._backing, address, wanted, actor=actor).run()
        self._backing.note(address.scope, memories=1, versions=1, bytes=head["size"])
        return memory_view(address, head, wanted.content.text if full else None)

    def retrieve(self, address: StoreAddress, memory_id: str, *, full: bool) -> Record:
        """Return a memory, with its content if `full`.

        Raises:
            NotFound: no such store or memory.
        """
        for _ in range(LOOKS):
            sight = look(self._backing, address, memory_id)
            sight.known_store()
            head = sight.known_head()
            try:
                return memory_view(address, head, text_of(self._backing, head["content"]) if full else None)
            except ObjectMissing:
                continue  # replaced, and its version erased, between the two reads: look again
        raise Unavailable

    def update(self, address: StoreAddress, memory_id: str, wish: Wish, *, actor: Record, full: bool) -> Record:
        """Change a memory's content, path, or both; nothing is written where all of it is so already.

        Raises:
            NotFound: no such store or memory.
            InvalidInput: the store is archived.
            StaleContent: the stored content is not the expected one, nor all that is asked for.
            PathTaken: another memory is at the new path, above, or below.
            Conflict: others kept writing for longer than the retries last.
        """
        change = _Update(self._backing, address, memory_id, wish=wish, actor=actor)
        head = change.run()
        if change.committed:
            self._backing.note(address.scope, versions=1, bytes=head["size"])
        if not full:
            return memory_view(address, head, None)
        try:
            text = wish.content.text if wish.content else text_of(self._backing, head["content"])
            return memory_view(address, head, text)
        except ObjectMissing:  # changed again since, and erased: what there is now is as good an answer
            return self.retrieve(address, memory_id, full=True)

    def delete(self, address: StoreAddress, memory_id: str, *, expected: str | None, actor: Record) -> None:
        """Delete a memory; its versions stay, and one is added that says so. `expected`: SHA-256 of its content.

        Raises:
            NotFound: no such store or memory.
            StaleContent: the stored content is not the expected one.
            Conflict: others kept writing for longer than the retries last.
        """
        _Deletion(self._backing, address, memory_id, expected=expected, actor=actor).run()
        self._backing.note(address.scope, memories=-1, versions=1)


def text_of(backing: Backing, key: str) -> str:
    """Return the text of an object.

    Raises:
        ObjectMissing: it is gone.
    """
    return backing.objects.get(key).decode()


class _Creation(MemoryWrite):
    """A new memory at a path."""

    def __init__(self, backing: Backing, address: StoreAddress, wanted: NewMemory, *, actor: Record) -> None:
        self._content, self._path = wanted.content, wanted.path
        super().__init__(backing, address, "", actor=actor, content=self._content)
        self.memory_id = prefixed(MEMORY, self.draft.at)

    def look(self) -> Sight:
        """See the store and the path."""
        return self.see(None, self._path)

    def apply(self, sight: Sight) -> Item:
        """Make the memory."""
        store = self.writable_store(sight)
        tree = Tree(self.address, sight.places)
        self.place(tree, self._path, sight)
        limit = self.backing.memories_a_store
        if store["memories"] >= limit:
            raise InvalidInput.at("memory_store_id", message=f"The memory store has its {limit} memories.")
        version = self.version("created", self._path, len(self._content.body), sha256=self._content.sha256)
        head = head_row(self.address, self._path, version, created_at=self.draft.at)
        room = self.count(1, f"{WRITABLE} AND #memories < :limit", limit=limit)
        self.commit(version, Put(head, ABSENT), room, *tree.writes())
        return head


class _Update(MemoryWrite):
    """A memory's new content, path, or both."""

    def __init__(self, backing: Backing, address: StoreAddress, memory_id: str, *, wish: Wish, actor: Record) -> None:
        super().__init__(backing, address, memory_id, actor=actor, content=wish.content)
        self._wish = wish

    def look(self) -> Sight:
        """See the store, the memory and the new path; the path that it leaves once that is known."""
        return self.see(self.memory_id, *[path for path in (self._wish.path, self.left) if path is not None])

    def apply(self, sight: Sight) -> Item:
        """Change the memory."""
        self.writable_store(sight)
        head = sight.known_head()
        if self._wish.holds(head):
            return head
        if self._wish.expected not in (None, head["sha256"]):
            raise StaleContent
        path = self._wish.path or head["l1"]
        moves = path != head["l1"]
        if moves:
            self._move(sight, head, path)  # what is refused is refused before bytes are copied
        version = self._draw(head, path)
        held = self._move(sight, head, path) if moves else [gate(self.address, self.memory_id)]
        new = head_row(self.address, path, version, created_at=head["created_at"])
        seen = Put(new, "#version = :seen", {"seen": head["version"]})
        self.commit(version, seen, *self.replaced(head), *held)
        return new

    def _draw(self, head: Item, path: str) -> Item:
        self.draft.follow(head["updated_at"])
        content = self._wish.content
        if content is None:
            self.looking_closer(lambda: self.draft.copy(head["content"]))
            return self.version("modified", path, head["size"], sha256=head["sha256"])
        self.draft.store()
        return self.version("modified", path, len(content.body), sha256=content.sha256)

    def _move(self, sight: Sight, head: Item, path: str) -> list[Write]:
        self.left = head["l1"]
        tree = Tree(self.address, self.places(sight))
        tree.remove(head["l1"], self.memory_id)
        self.place(tree, path, sight)
        return [self.hold_writable(), *tree.writes()]


class _Deletion(MemoryWrite):
    """A memory's end."""

    def __init__(
        self, backing: Backing, address: StoreAddress, memory_id: str, *, expected: str | None, actor: Record
    ) -> None:
        super().__init__(backing, address, memory_id, actor=actor)
        self._expected = expected

    def look(self) -> Sight:
        """See the store and the memory; the path that it leaves once that is known."""
        return self.see(self.memory_id, *([self.left] if self.left else []))

    def apply(self, sight: Sight) -> Item:
        """Delete the memory."""
        sight.known_store()
        head = sight.known_head()
        if self._expected not in (None, head["sha256"]):
            raise StaleContent
        self.left = path = head["l1"]
        self.draft.follow(head["updated_at"])
        tree = Tree(self.address, sight.places)
        tree.remove(path, self.memory_id)
        gone = Delete(self.address.head_key(self.memory_id), "#version = :seen", {"seen": head["version"]})
        version = self.draft.row(self.memory_id, "deleted", path, **self.draft.end())
        self.commit(version, gone, self.count(-1, PRESENT), *self.replaced(head), *tree.writes())
        return head
