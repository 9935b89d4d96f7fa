"""A caller's own changes to a memory: a new revision, searchable before it is answered.

Object, embedding and passages come first, all of them under names that nothing uses yet; one transaction then makes
them the memory's. A job that says what to remove from the index goes before the passages, for a death in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ObjectMissing, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import together
from shared.aws.writes import Delete, Put
from shared.extraction.fingerprint import fingerprint
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import Conflict
from shared.kernel.strict_json import compact
from shared.memories.attempts import generation_check
from shared.memories.indexing import passages_of
from shared.memories.leftovers import Leftovers
from shared.memories.past import past_state, scope_in
from shared.memories.reading import Shown
from shared.memories.records import INLINE_BYTES, UserAddress
from shared.memories.rows import memory_id_of, messages_beside, next_revision
from shared.memories.sight import seen
from shared.memories.texts import text_of
from shared.memories.views import etag_of, memory_view
from shared.retention.records import KEEP, object_key, owner_of

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.kernel.preconditions import Preconditions
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing
    from shared.models.port import Embedder
    from shared.search.port import Passage, SearchIndex

REASON: Final = "Changed over the API."
_UNCHANGED: Final = "#revision = :seen"


@dataclass(frozen=True)
class ChangeWish:
    """What a memory shall be; None leaves it as it is. `metadata` takes the place of the caller's own."""

    memory: str | None = None
    metadata: dict[str, Any] | None = None
    categories: tuple[str, ...] | None = None
    immutable: bool | None = None

    def changes(self, row: Item) -> Item:
        """Return what differs from a memory's row, but for its text."""
        wanted = {
            "metadata": None if self.metadata is None else compact(self.metadata),
            "categories": None if self.categories is None else list(self.categories),
            "immutable": self.immutable,
        }
        return {name: value for name, value in wanted.items() if value is not None and value != row[name]}


@dataclass(frozen=True)
class Changing:
    """Changes memories."""

    backing: Backing
    index: SearchIndex
    embedder: Embedder

    def change(self, scope: Scope, memory_id: str, wish: ChangeWish, *, conditions: Preconditions) -> Shown:
        """Change a memory, and return it once search finds it so; nothing is written where all of it is so already.

        Raises:
            NotFound: there is none, or it was forgotten.
            PreconditionFailed: it has another entity tag.
            Conflict: it is immutable and its text would change; another memory says the same; or others kept
                changing it for longer than the retries last.
            Unavailable: a dependency does not answer; the change may have been made or not.
        """
        return persist(lambda: self._change(scope, memory_id, wish, conditions=conditions))

    def _change(self, scope: Scope, memory_id: str, wish: ChangeWish, *, conditions: Preconditions) -> Shown:
        row, document = seen(self.backing.table, scope, memory_id)
        conditions.check_write(etag_of(row))
        try:
            before = text_of(self.backing.objects, row)
        except ObjectMissing:
            raise LostRace(pause=False) from None
        text = before if wish.memory is None else wish.memory
        changes = wish.changes(row)
        if text != before:
            if row["immutable"]:
                raise Conflict("This memory is immutable: its text can't be changed.", code="immutable")
            changes |= self._kept(scope, text)
        if not changes:
            return Shown(etag_of(row), memory_view(scope, row, before, document=document))
        revision = Revision(self.backing, row, changes, text=text)
        revision.write(self.index, self.embedder)
        return Shown(etag_of(revision.row), memory_view(scope, revision.row, text, document=document))

    def _kept(self, scope: Scope, text: str) -> Item:
        size = len(text.encode())
        if size <= INLINE_BYTES:
            return {"text": text, "size": size}
        return {"object": object_key(KEEP, self.backing.clock.now_ms(), scope), "size": size}


class Revision:
    """The next revision of a memory: `changes` to the row, with the whole text."""

    def __init__(self, backing: Backing, old: Item, changes: Item, *, text: str) -> None:
        self._backing, self._old, self._text = backing, old, text
        self._says_else = "size" in changes
        self._address = UserAddress(scope_in(old["pk"]), old["user_id"])
        self.row = _next_row(old, changes, text, now=backing.clock.now_ms())
        self._states = [(memory_id_of(old), self.row["revision"])], [(memory_id_of(old), old["revision"])]
        self._leftovers = Leftovers(backing, self._address)

    def write(self, index: SearchIndex, embedder: Embedder) -> None:
        """Write it, so that search finds it and the one before is history.

        Raises:
            LostRace: the memory was changed, removed or forgotten meanwhile; nothing is left of this.
            Conflict: another memory says the same.
            Unavailable: a dependency does not answer.
        """
        new, ended = self._states
        passages, past = self._prepare(embedder)
        try:
            index.put(passages)
            self._commit(past)
        except (LostRace, Conflict):
            self._backing.objects.discard(*self._own_objects(past))
            self._leftovers.remove(index, new)
            raise
        self._leftovers.remove(index, ended, self._ended_objects())

    def _prepare(self, embedder: Embedder) -> tuple[list[Passage], Item]:
        table, (new, _) = self._backing.table, self._states
        passages, past, *_ = together(
            lambda: passages_of([(self.row, self._text)], embedder),
            self._past,
            lambda: table.write(Put(self._leftovers.if_it_dies(new))),
            *([self._store] if self._says_else and "object" in self.row else []),
        )
        return passages, past

    def _past(self) -> Item:
        try:
            return past_state(self._backing, self._old)
        except ObjectMissing:
            raise LostRace(pause=False) from None

    def _store(self) -> None:
        owner = owner_of(key_of(self.row))
        self._backing.objects.put(self.row["object"], self._text.encode(), owner=owner)

    def _commit(self, past: Item) -> None:
        _, ended = self._states
        held = generation_check(self._address, self.row["generation"])
        writes: list[Write] = [
            Put(self.row, _UNCHANGED, {"seen": self._old["revision"]}),
            held,
            Put(past),
            Put(self._leftovers.due(ended, self._ended_objects(), beside=self._beside())),
            *self._fingerprints(),
        ]
        try:
            self._backing.table.transact(*writes)
        except TransactionFailed as failed:
            if not failed.items.keys() & {0, 1}:
                raise Conflict("Another memory of this user says the same.", code="duplicate") from None
            raise LostRace(pause=False) from None

    def _beside(self) -> list[str]:
        """Return the messages that are found by what this one says."""
        return messages_beside(self._address, [self.row]) if self._says_else else []

    def _fingerprints(self) -> list[Write]:
        """Return what keeps a fact from being there twice: its new fingerprint in place of the old one."""
        before, after = self._old["fingerprint"], self.row["fingerprint"]
        if before == after:
            return []
        gone = Delete(self._address.fingerprint_key(before))
        if after is None:
            return [gone]
        pk, sk = self._address.fingerprint_key(after)
        taken = {name: self.row[name] for name in ("user", "generation")} | {"memory": memory_id_of(self.row)}
        free = "attribute_not_exists(#pk) OR #generation < :generation OR #memory = :memory"
        values = {"generation": taken["generation"], "memory": taken["memory"]}
        return [Put({"pk": pk, "sk": sk, **taken}, free, values), gone]

    def _own_objects(self, past: Item) -> list[str]:
        """Return the objects that were stored for this revision and its past."""
        stored = [self.row["object"]] if self._says_else and "object" in self.row else []
        return stored + ([past["object"]] if "object" in past else [])

    def _ended_objects(self) -> list[str]:
        """Return the object of the state before, where it is not this one's too."""
        return [self._old["object"]] if self._says_else and "object" in self._old else []


def _next_row(old: Item, changes: Item, text: str, *, now: int) -> Item:
    says_else = "size" in changes
    kept = {name: value for name, value in old.items() if not (says_else and name in ("text", "object", "size"))}
    at = max(now, old["updated_at"] + 1, old["decided_at"] + 1)
    # Only facts can't be there twice by their user's own hand: a summary that is changed is told apart no more.
    mark = fingerprint(text) if old["kind"] == "fact" else None
    marked = {"fingerprint": mark} if says_else and old["fingerprint"] else {}
    decision = {"event": "UPDATE", "reason": REASON, "decided_at": at, "task": None}
    return {**kept, **changes, **marked, **decision, "revision": next_revision(old), "updated_at": at}
