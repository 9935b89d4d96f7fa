"""What was acknowledged, on disk: the resulting state, not the calls that led to it.

One SQLite database (`state.db`) has a row for each table item, object and queue message; objects' bytes are files
beside it (`objects/`). Bytes are in their file before the row that names them, rows are committed before the call is
answered, and a file is removed only after its row: a kill at any moment leaves at most files without a row, which the
next start removes. SQLite runs in WAL mode with synchronous=NORMAL: a commit survives the death of the process, as it
is in the kernel by then; only a power cut can take the last moments.

Without a folder the same state is kept in memory, for tests.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
  table_name TEXT NOT NULL, key TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (table_name, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
  bucket TEXT NOT NULL, name TEXT NOT NULL, blob TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (bucket, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
  queue TEXT NOT NULL, id TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (queue, id)
);
"""


class JournalUnreadable(Exception):
    """The database on disk was written by another version."""


class Blobs(Protocol):
    """Bytes under names that are never reused."""

    def write(self, data: bytes) -> str:
        """Keep `data` and return its name."""

    def read(self, name: str) -> bytes:
        """Return the bytes."""

    def remove(self, names: Iterable[str]) -> None:
        """Forget what is under `names`."""

    def remove_all_but(self, names: set[str]) -> int:
        """Forget what has another name, and return how many that were."""


class MemoryBlobs:
    """Bytes in memory."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def write(self, data: bytes) -> str:
        """Keep `data` and return its name."""
        name = uuid.uuid4().hex
        self._kept[name] = data
        return name

    def read(self, name: str) -> bytes:
        """Return the bytes."""
        return self._kept[name]

    def remove(self, names: Iterable[str]) -> None:
        """Forget what is under `names`."""
        for name in names:
            self._kept.pop(name, None)

    def remove_all_but(self, names: set[str]) -> int:
        """Forget what has another name, and return how many that were."""
        orphans = set(self._kept) - names
        self.remove(orphans)
        return len(orphans)


class FileBlobs:
    """Bytes in one file each, opened only while they are read or written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for number in range(256):
            (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def write(self, data: bytes) -> str:
        """Keep `data` in a file that is whole as soon as it has its name."""
        name = uuid.uuid4().hex
        path = self._path(name)
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(data)
        unfinished.rename(path)
        return name

    def read(self, name: str) -> bytes:
        """Return the bytes."""
        return self._path(name).read_bytes()

    def remove(self, names: Iterable[str]) -> None:
        """Remove the files."""
        for name in names:
            self._path(name).unlink(missing_ok=True)

    def remove_all_but(self, names: set[str]) -> int:
        """Remove the files that have another name, unfinished ones too, and return how many that were."""
        orphans = [
            entry.path
            for folder in os.scandir(self._folder)
            if folder.is_dir()
            for entry in os.scandir(folder.path)
            if entry.name not in names
        ]
        for path in orphans:
            os.unlink(path)  # noqa: PTH108 - a hundred thousand Path objects are a second
        return len(orphans)


class Journal:
    """The rows. Safe for threads; each `changes()` is one transaction."""

    def __init__(self, folder: Path | None = None) -> None:
        self._lock = threading.RLock()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.blobs: Blobs = MemoryBlobs() if folder is None else FileBlobs(folder / "objects")
        name = ":memory:" if folder is None else str(folder / "state.db")
        self._db = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
        self._prepare(name)

    def _prepare(self, name: str) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version not in {0, SCHEMA_VERSION}:
            raise JournalUnreadable(f"{name} has version {version}; this Lodestore reads version {SCHEMA_VERSION}")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(SCHEMA)
        self._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def close(self) -> None:
        """Close the database; everything in it is committed already."""
        with self._lock:
            self._db.close()

    @contextmanager
    def changes(self) -> Iterator[sqlite3.Connection]:
        """Commit what happens inside together, or nothing of it."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def save_items(self, table: str, items: Iterable[tuple[str, str | None]]) -> None:
        """Store items by key, as JSON; None removes."""
        with self.changes() as db:
            for key, item in items:
                if item is None:
                    db.execute("DELETE FROM items WHERE table_name = ? AND key = ?", (table, key))
                else:
                    db.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", (table, key, item))

    def items(self, table: str) -> list[Any]:
        """Return the JSON of every item of `table`, one in a tuple each."""
        return self.rows("SELECT item FROM items WHERE table_name = ?", table)

    def remove_orphans(self) -> int:
        """Remove bytes that no object has, and return how many there were."""
        return self.blobs.remove_all_but({blob for (blob,) in self.rows("SELECT blob FROM objects")})
