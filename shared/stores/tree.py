"""The tree of paths: what a change makes of the places that it touches, as conditional writes.

A directory exists while something lies in it, and then its parents do too. So a new file touches only the nearest
directory that exists and those that it brings into being; a file that goes touches its directory, and those above
only where they become empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.writes import ABSENT, Delete, Put, Update
from shared.stores.records import ancestors, directory_row, file_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.stores.records import StoreAddress


@dataclass(frozen=True)
class File:
    """A path that is a file."""

    memory_id: str


@dataclass(frozen=True)
class Directory:
    """A path that is a directory of so many places."""

    children: int


Place = File | Directory | None

_UNSEEN = Directory(1 << 40)
"""A directory that was not looked at: taken to hold more than one place, which its write then makes sure of."""


class Blocked(Exception):
    """The path is taken: by a file at `path`, or (`memory_id` None) by what lies below the directory there."""

    def __init__(self, path: str, memory_id: str | None) -> None:
        super().__init__("blocked")
        self.path = path
        self.memory_id = memory_id


class Tree:
    """The places of one change; `seen` are the rows of the paths that were looked at, None where there is none."""

    def __init__(self, address: StoreAddress, seen: Mapping[str, Item | None]) -> None:
        self._address = address
        self._before = {path: _place(row) for path, row in seen.items()}
        self._now: dict[str, Place] = {}

    def remove(self, path: str, memory_id: str) -> None:
        """Take a file away, with the directories that it leaves empty."""
        self._before[path] = File(memory_id)
        self._now[path] = None
        for directory in ancestors(path):
            children = self._directory(directory).children - 1
            self._now[directory] = Directory(children) if children else None
            if children:
                return

    def add(self, path: str, memory_id: str) -> None:
        """Put a file at a path, with the directories that it needs.

        Raises:
            Blocked: something else is there, above, or below.
        """
        for place in (*reversed(ancestors(path)), path):
            there = self._at(place)
            if isinstance(there, File):
                raise Blocked(place, there.memory_id)
        if self._at(path) is not None:
            raise Blocked(path, None)
        self._now[path] = File(memory_id)
        for directory in ancestors(path):
            there = self._at(directory)
            if isinstance(there, Directory):
                self._now[directory] = Directory(there.children + 1)
                return
            self._now[directory] = Directory(1)

    def writes(self) -> Iterator[Write]:
        """Yield the writes, each with the condition that makes it right."""
        for path, after in self._now.items():
            before = self._before.get(path, _UNSEEN)
            if before != after:
                yield self._write(path, before, after)

    def _write(self, path: str, before: Place, after: Place) -> Write:
        if isinstance(before, Directory) and isinstance(after, Directory):
            return self._count(path, after.children - before.children)
        when, values = _as_before(before)
        if after is None:
            return Delete(self._address.place_key(path), when, values)
        row = (
            file_row(self._address, path, after.memory_id)
            if isinstance(after, File)
            else directory_row(self._address, path, after.children)
        )
        return Put(row, when, values)

    def _count(self, path: str, change: int) -> Update:
        # Others may come and go in it meanwhile: it need only be there, and not become empty.
        when, values = ("#children > :gone", {"gone": -change}) if change < 0 else ("attribute_exists(#children)", {})
        return Update(self._address.place_key(path), add={"children": change}, when=when, values=values)

    def _at(self, path: str) -> Place:
        return self._now[path] if path in self._now else self._before.get(path, _UNSEEN)

    def _directory(self, path: str) -> Directory:
        there = self._at(path)
        return there if isinstance(there, Directory) else _UNSEEN


def _place(row: Item | None) -> Place:
    if row is None:
        return None
    return File(row["memory_id"]) if row["kind"] == "file" else Directory(row["children"])


def _as_before(before: Place) -> tuple[str, dict[str, int | str]]:
    match before:
        case None:
            return ABSENT, {}
        case File(memory_id):
            return "#memory_id = :memory", {"memory": memory_id}
        case Directory(children):
            return "#children = :children", {"children": children}
