"""The owners whose files this process has open, and their columns: as many as there is room for."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from shared.search.embedded.columns import Columns
from shared.search.embedded.file import OwnerFile, make
from shared.search.embedded.rows import name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN_FILES: Final = 128
ROOM: Final = 512 * 1024 * 1024
"""Bytes of columns that may stay in this process."""


class Owner:
    """An open file with the columns that follow it; one thread at a time has it."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.lock = Lock()
        self.closed = False
        self.file = OwnerFile(path)
        self._dimension = dimension
        self.columns = Columns(dimension)
        self.size = 0

    @contextmanager
    def reading(self) -> Iterator[Columns]:
        """Give the columns as the file is now, and stay there."""
        with self.file.reading():
            if self.columns.worn:
                self.columns = Columns(self._dimension)
            self.columns.follow(self.file)
            self.size = self.columns.size
            yield self.columns

    def close(self) -> None:
        """Let go of the file."""
        self.closed = True
        self.file.close()


class Owners:
    """Opens owners' files, and closes those that were not used for longest."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        self._lock = Lock()
        self._open: OrderedDict[Path, Owner] = OrderedDict()

    @contextmanager
    def holding(self, owner: str) -> Iterator[Owner | None]:
        """Give an owner to this thread alone; None where nothing was ever stored.

        Raises:
            Unavailable: the file can't be opened.
        """
        path = self._path(owner)
        if not path.exists():
            yield None
            return
        with self._held(path) as held:
            yield held

    @contextmanager
    def made(self, owner: str) -> Iterator[Owner]:
        """Give an owner to this thread alone, made where nothing was ever stored.

        Raises:
            Unavailable: the file can't be made or opened.
        """
        path = self._path(owner)
        if not path.exists():
            make(path)
        with self._held(path) as held:
            yield held

    @contextmanager
    def _held(self, path: Path) -> Iterator[Owner]:
        held = self._take(path)
        try:
            yield held
        finally:
            held.lock.release()
            self._make_room()

    def close(self) -> None:
        """Close every file."""
        with self._lock:
            opened = list(self._open.values())
            self._open.clear()
        for owner in opened:
            with owner.lock:
                owner.close()

    def _path(self, owner: str) -> Path:
        """Return an owner's file: of a hash, so that no character of an owner means anything to a file system."""
        digest = hashlib.sha256(name(owner)).hexdigest()
        return self._folder / digest[:2] / f"{digest}.sqlite"

    def _take(self, path: Path) -> Owner:
        while True:
            with self._lock:
                owner = self._open.get(path) or Owner(path, self._dimension)
                self._open[path] = owner
                self._open.move_to_end(path)
            owner.lock.acquire()
            if not owner.closed:
                return owner
            owner.lock.release()

    def _make_room(self) -> None:
        """Close the owners that were not used for longest, but none that a thread has, and not the last one."""
        with self._lock:
            size = sum(owner.size for owner in self._open.values())
            for path, owner in list(self._open.items())[:-1]:
                if len(self._open) <= OPEN_FILES and size <= ROOM:
                    return
                if owner.lock.acquire(blocking=False):
                    del self._open[path]
                    size -= owner.size
                    owner.close()
                    owner.lock.release()
