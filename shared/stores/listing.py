"""The list of memories: by path or time, under a prefix, with directories rolled up.

A list reads as many rows as it returns, times a small constant: files in path order come from one index, and a list
of n levels from n + 1 ranges, one of the files of each level and one of the directories of the last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each, together
from shared.aws.table import Query
from shared.kernel.errors import Unavailable
from shared.stores.memories import text_of
from shared.stores.pages import Page, page_of, position_of
from shared.stores.records import (
    MEMORY,
    PATH_BYTES,
    SEGMENTS,
    by_level,
    has_form,
    level_of,
    memory_view,
    prefix_view,
)
from shared.stores.sight import LOOKS, known_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.aws.items import Item
    from shared.stores.backing import Backing
    from shared.stores.records import StoreAddress

    Entry = tuple[str, Item | None]
    """A position and the memory there; None for a directory, whose position is its path."""

_PAGE = 500
_IDS = f"{MEMORY}_", f"{MEMORY}_~"
_TIMES = "0", ":"
_SHOWN = ("sk", "l1", "l2", "version", "size", "sha256", "content", "created_at", "updated_at")
_CHANGE = re.compile(f"[0-9]{{15}}#{MEMORY}_[0-9A-Z]{{26}}")


@dataclass(frozen=True)
class MemoryList:
    """Which memories to list: under `prefix` (raw), `depth` levels of it (0: all), ordered, after the token `page`.

    `order_by` is `path`, `created_at` or `updated_at`; `dialect` binds tokens to the rules that they were made under.
    """

    limit: int
    prefix: str = "/"
    depth: int = 0
    order_by: str = "path"
    descending: bool = False
    page: str | None = None
    full: bool = False
    dialect: str = ""

    @property
    def binding(self) -> tuple[str, ...]:
        """What binds a token to the list."""
        return self.dialect, self.prefix, str(self.depth), self.order_by, str(self.descending)

    @property
    def can_match(self) -> bool:
        """Tell whether any path can begin so."""
        return self.prefix.startswith("/") and len(self.prefix.encode()) <= PATH_BYTES


class MemoryLists:
    """Lists of memories."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def page(self, address: StoreAddress, wanted: MemoryList) -> Page:
        """Return one page of memories and rolled-up directories; never an empty one with a token.

        Raises:
            NotFound: no such store.
            InvalidInput: a token of another list.
        """
        binding = ("memories", *address.key, *wanted.binding)
        after = position_of(wanted.page, binding, partial(_fits, wanted))
        for _ in range(LOOKS):
            store, entries = together(
                lambda: self._backing.table.get(address.key), lambda: self._entries(address, wanted, after)
            )
            known_store(store)
            try:
                texts = self._texts(entries[: wanted.limit]) if wanted.full else {}
            except ObjectMissing:
                continue  # a memory was replaced, and its version erased, between the two reads: look again
            return page_of([(at, _view(address, at, head, texts=texts)) for at, head in entries], wanted.limit, binding)
        raise Unavailable

    def _entries(self, address: StoreAddress, wanted: MemoryList, after: str | None) -> list[Entry]:
        if not wanted.can_match:
            return []
        source = {"path": self._by_path, "created_at": self._by_creation, "updated_at": self._by_change}
        found = source[wanted.order_by](address, wanted, after)
        return list(islice((entry for entry in found if entry[0] != after), wanted.limit + 1))

    def _by_path(self, address: StoreAddress, wanted: MemoryList, after: str | None) -> Iterator[Entry]:
        ranges = _Ranges(address, wanted, after).all()
        # Each range is read at once, and on only where a mebibyte did not hold what one page needs.
        found = each(lambda query: list(islice(self._backing.table.every(query), wanted.limit + 2)), ranges)
        streams = (map(_entry, rows) for rows in found)
        return merge(*streams, key=lambda entry: entry[0], reverse=wanted.descending)

    def _by_creation(self, address: StoreAddress, wanted: MemoryList, after: str | None) -> Iterator[Entry]:
        query = _ordered(address.heads, "sk", _IDS, wanted=wanted, after=after)
        for head in self._backing.table.every(query):
            if head["l1"].startswith(wanted.prefix):
                yield head["sk"], head

    def _by_change(self, address: StoreAddress, wanted: MemoryList, after: str | None) -> Iterator[Entry]:
        # The index holds keys alone; what is asked for besides, DynamoDB fetches in the same call.
        query = replace(_ordered(address.heads, "l2", _TIMES, wanted=wanted, after=after), only=_SHOWN)
        for head in self._backing.table.every(query):
            if head["l1"].startswith(wanted.prefix):
                yield head["l2"], head

    def _texts(self, entries: list[Entry]) -> dict[str, str]:
        heads = [head for _, head in entries if head is not None]
        read = partial(text_of, self._backing)
        texts = each(read, [head["content"] for head in heads])
        return {head["sk"]: text for head, text in zip(heads, texts, strict=True)}


class _Ranges:
    """The ranges of a list by path: between its prefix and all that begins so, or from where the last page ended."""

    def __init__(self, address: StoreAddress, wanted: MemoryList, after: str | None) -> None:
        self._address, self._wanted = address, wanted
        self._low, self._high = wanted.prefix, ceiling(wanted.prefix)
        if after is not None:
            self._low, self._high = (self._low, after) if wanted.descending else (after, self._high)

    def all(self) -> list[Query]:
        """Return the ranges whose union is the list."""
        prefix = self._wanted.prefix
        first = level_of(prefix[: prefix.rindex("/")]) + 1
        last = first + self._wanted.depth - 1
        if self._wanted.depth == 0 or last >= SEGMENTS:
            return [self._query(self._address.heads, "l1", lambda path: path)]
        files = [self._query(self._address.heads, "l3", partial(_at, level)) for level in range(first, last + 1)]
        return [*files, self._query(self._address.places, "l2", partial(_at, last))]

    def _query(self, pk: str, order: str, key: Callable[[str], str]) -> Query:
        wanted = self._wanted
        between = key(self._low), key(self._high)
        return Query(pk, order, between=between, size=wanted.limit + 2, newest_first=wanted.descending)


def ceiling(prefix: str) -> str:
    """Return the last string of at most 1,024 bytes that begins with `prefix`."""
    fours, rest = divmod(PATH_BYTES - len(prefix.encode()), 4)
    return prefix + "\U0010ffff" * fours + ("", "\x7f", "\u07ff", "\uffff")[rest]


def _at(level: int, path: str) -> str:
    return by_level(path, level)


def _entry(row: Item) -> Entry:
    return (row["l1"], row) if "l1" in row else (f"{row['sk']}/", None)


def _ordered(pk: str, order: str, ends: tuple[str, str], *, wanted: MemoryList, after: str | None) -> Query:
    low, high = ends
    if after is not None:
        low, high = (low, after) if wanted.descending else (after, high)
    size = wanted.limit + 2 if wanted.prefix == "/" else _PAGE
    return Query(pk, order, between=(low, high), size=size, newest_first=wanted.descending)


def _fits(wanted: MemoryList, position: str) -> bool:
    """Tell whether a position can be of the list: a forged one may not make a range of nonsense."""
    if wanted.order_by == "path":
        return position.startswith(wanted.prefix) and len(position.encode()) <= PATH_BYTES
    if wanted.order_by == "created_at":
        return has_form(position, MEMORY)
    return _CHANGE.fullmatch(position) is not None


def _view(address: StoreAddress, position: str, head: Item | None, *, texts: dict[str, str]) -> dict[str, Any]:
    return prefix_view(position) if head is None else memory_view(address, head, texts.get(head["sk"]))
