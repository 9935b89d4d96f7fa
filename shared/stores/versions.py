"""Versions: list with filters, retrieve, redact."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing, TransactionFailed
from shared.aws.parallel import each, together
from shared.aws.table import Query
from shared.aws.writes import Put, Update
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import InvalidInput, NotFound, Unavailable
from shared.stores.memories import text_of
from shared.stores.pages import ANY_TIME, Moments, Page, id_bounds, id_in, page_of, token
from shared.stores.records import MEMORY, VERSION, actor_index, actor_of, has_form, version_view
from shared.stores.removal import erase, erasure
from shared.stores.sight import LOOKS, known_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.stores.backing import Backing
    from shared.stores.records import Record, StoreAddress

READ_ON_SECONDS = 10.0
"""How long a list reads on for a version that its filters let through (contract, "Settled here")."""
_READ_ON = 500
ID_BYTES = 255

REDACTABLE = "attribute_exists(#pk) AND attribute_not_exists(#redacted_at)"
CONTENT = ("path", "size", "sha256", "object")


@dataclass(frozen=True)
class VersionList:
    """Which versions to list: newest first, those that every filter lets through, after the token `page`."""

    limit: int
    page: str | None = None
    created: Moments = ANY_TIME
    memory_id: str | None = None
    operation: str | None = None
    actors: tuple[tuple[str, str], ...] = ()  # (kind of author, its id)
    full: bool = False

    @property
    def binding(self) -> tuple[str, ...]:
        """What binds a token to the list."""
        actors = (word for pair in self.actors for word in pair)
        return (*self.created.binding, str(self.memory_id), str(self.operation), *actors)


@dataclass
class Versions:
    """The versions of stores."""

    backing: Backing
    seconds: float = READ_ON_SECONDS
    monotonic: Callable[[], float] = field(default=time.monotonic)

    def page(self, address: StoreAddress, wanted: VersionList) -> Page:
        """Return one page of versions; empty with a token only where reading on took too long.

        Raises:
            NotFound: no such store.
            InvalidInput: a token of another list.
        """
        binding = ("versions", *address.key, *wanted.binding)
        after = id_in(wanted.page, binding, VERSION)
        store, (rows, reached) = together(
            lambda: self.backing.table.get(address.key), lambda: self._read(address, wanted, after)
        )
        known_store(store)
        texts = self._texts(rows[: wanted.limit]) if wanted.full else {}
        views = [(row["sk"], self._view(address, row, texts)) for row in rows]
        page = page_of(views, wanted.limit, binding)
        if page.next_page is None and reached is not None:
            return Page(page.data, token(reached, binding))
        return page

    def retrieve(self, address: StoreAddress, version_id: str, *, full: bool) -> Record:
        """Return a version, with its content if `full` and it has some.

        Raises:
            NotFound: no such store or version.
        """
        for _ in range(LOOKS):
            row = self._find(address, version_id)
            try:
                text = text_of(self.backing, row["object"]) if full and "object" in row else None
            except ObjectMissing:
                continue  # redacted between the two reads: look again
            return version_view(address, row, text)
        raise Unavailable

    def redact(self, address: StoreAddress, version_id: str, actor: Record) -> Record:
        """Erase a version's content, path, size and SHA-256; its bytes are gone before this returns.

        Raises:
            NotFound: no such store or version.
            InvalidInput: it is the head of a live memory.
        """
        row, work = persist(lambda: self._redact(address, version_id, actor))
        if work is not None:
            erase(self.backing, work)
        return version_view(address, row, None)

    def _redact(self, address: StoreAddress, version_id: str, actor: Record) -> tuple[Item, Item | None]:
        row = self._find(address, version_id)
        if "redacted_at" in row:
            # A request before this one may have failed between hiding the content and erasing it.
            return row, self.backing.table.get((row["erasure"], "job"))
        head = self.backing.table.get(address.head_key(row["memory_id"]))
        if head is not None and head["version"] == version_id:
            message = "This is the head of a live memory: update or delete the memory first."
            raise InvalidInput.at("memory_version_id", message=message)
        now = self.backing.clock.now_ms()
        work = erasure(address, row, now, actor=actor)
        put = {"redacted_at": now, "redacted_by": actor, "erasure": work["pk"]}
        update = Update(address.version_key(version_id), put, drop=CONTENT, when=REDACTABLE)
        try:
            self.backing.table.transact(update, Put(work))
        except TransactionFailed:
            raise LostRace(pause=False) from None
        self.backing.note(address.scope, bytes=-row.get("size", 0))
        return {name: value for name, value in row.items() if name not in CONTENT} | put, work

    def _find(self, address: StoreAddress, version_id: str) -> Item:
        key = address.version_key(version_id if has_form(version_id, VERSION) else "none")
        found = self.backing.table.batch_get([address.key, key])
        known_store(found.get(address.key))
        if key not in found:
            raise NotFound("There is no such memory version.")
        return found[key]

    def _read(self, address: StoreAddress, wanted: VersionList, after: str | None) -> tuple[list[Item], str | None]:
        """Return one row more than a page has, or fewer with the id that was reached when time was up."""
        query = _query(address, wanted, after)
        rows: list[Item] = []
        if query is None:
            return rows, None
        started = self.monotonic()
        for page in self.backing.table.pages(query):
            rows += [row for row in page.items if row["sk"] != after and _lets_through(wanted, row)]
            if len(rows) > wanted.limit:
                return rows[: wanted.limit + 1], None
            if page.last is not None and self.monotonic() - started > self.seconds:
                return rows, str(page.items[-1]["sk"])
        return rows, None

    def _texts(self, rows: list[Item]) -> dict[str, str | None]:
        """Return the texts of rows by version id; None for one that was redacted since it was read."""

        def text(row: Item) -> str | None:
            try:
                return text_of(self.backing, row["object"])
            except ObjectMissing:
                return None

        having = [row for row in rows if "object" in row]
        return {row["sk"]: found for row, found in zip(having, each(text, having), strict=True)}

    def _view(self, address: StoreAddress, row: Item, texts: dict[str, str | None]) -> Record:
        text = texts.get(row["sk"])
        if text is None and row["sk"] in texts:
            fresh = self.backing.table.get(address.version_key(row["sk"]))
            row = fresh or {name: value for name, value in row.items() if name not in CONTENT}
        return version_view(address, row, text)


def _query(address: StoreAddress, wanted: VersionList, after: str | None) -> Query | None:
    """Return the narrowest range that holds what is wanted, read backwards, or None where nothing can match."""
    bounds = id_bounds(VERSION, wanted.created, before=after)
    if bounds is None or not _can_match(wanted):
        return None
    order, prefix = "sk", ""
    if wanted.memory_id is not None:
        order, prefix = "l1", f"{wanted.memory_id}#"
    elif wanted.actors:
        ((kind, name),) = set(wanted.actors)
        order, prefix = "l3", actor_index(actor_of(kind, name))
    between = prefix + bounds[0], prefix + bounds[1]
    size = _READ_ON if _reads_on(wanted) else wanted.limit + 2
    return Query(address.versions, order, between=between, size=size, newest_first=True)


def _can_match(wanted: VersionList) -> bool:
    """Tell whether a version can have such a memory and author: it has one of each, with ids of bounded length."""
    named = wanted.memory_id is None or has_form(wanted.memory_id, MEMORY)
    return named and len(set(wanted.actors)) < 2 and all(len(name.encode()) <= ID_BYTES for _, name in wanted.actors)


def _reads_on(wanted: VersionList) -> bool:
    return wanted.operation is not None or (wanted.memory_id is not None and bool(wanted.actors))


def _lets_through(wanted: VersionList, row: Item) -> bool:
    return (
        wanted.memory_id in (None, row["memory_id"])
        and wanted.operation in (None, row["operation"])
        and all(row["created_by"] == actor_of(kind, name) for kind, name in wanted.actors)
    )
