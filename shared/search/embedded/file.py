"""One owner's file: SQLite with the passages' vectors, hashed terms and what they are filtered by. No text is in it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.kernel.errors import Unavailable
from shared.search.embedded.rows import name, spelt

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from shared.search.embedded.rows import Row
    from shared.search.port import Keyword, State, Within

    Added = tuple[int, str, int, str | None, int, bytes, bytes]

_WAIT_S: Final = 15.0
"""How long a writer waits for another process's."""

_SCHEMA: Final = """
PRAGMA synchronous = OFF;
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE passages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, memory BLOB NOT NULL, revision INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  generation INTEGER NOT NULL, created_at INTEGER NOT NULL, event_at INTEGER, document BLOB,
  asks INTEGER NOT NULL, vector BLOB NOT NULL, terms BLOB NOT NULL,
  UNIQUE (memory, revision, ordinal)
);
CREATE TABLE labels (
  field TEXT NOT NULL, value BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (field, value, seq)
) WITHOUT ROWID;
CREATE INDEX labels_by_seq ON labels (seq);
CREATE TABLE removals (change INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (change, seq)) WITHOUT ROWID;
CREATE TABLE changes (change INTEGER NOT NULL);
INSERT INTO changes VALUES (0);
COMMIT;
"""

_MOMENTS: Final = {"created_at": "created_at", "event_at": "event_at"}
_BOUNDS: Final = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def make(path: Path) -> None:
    """Make an owner's file, where there is none: whole or not at all, whoever does the same meanwhile.

    Raises:
        Unavailable: it can't be made.
    """
    with _translated():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as scratch:
            made = Path(scratch) / path.name
            with closing(sqlite3.connect(made)) as db:
                db.executescript(_SCHEMA)
            _sync(made)
            with suppress(FileExistsError):
                os.link(made, path)
            _sync(path.parent)
            _sync(path.parent.parent)


class OwnerFile:
    """What is durable of one owner's index. Not for two threads at once: who holds it, locks it."""

    def __init__(self, path: Path) -> None:
        """Open a file that was made.

        Raises:
            Unavailable: it can't be opened.
        """
        with _translated():
            there = f"{path.absolute().as_uri()}?mode=rw"
            self._db = sqlite3.connect(there, _WAIT_S, isolation_level=None, check_same_thread=False, uri=True)
            # What `put` returned is there after a power cut too, not only after the process's death.
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def add(self, rows: Iterable[Row]) -> None:
        """Store passages in one transaction; those that are there already stay as they are."""
        with _translated(), self._writing():
            for row in rows:
                self._add(row)

    def remove(self, states: Collection[State]) -> None:
        """Remove all passages of these states."""
        with _translated(), self._writing() as change:
            for memory, revision in states:
                of_state = "SELECT seq FROM passages WHERE memory = ? AND revision = ?"
                self._remove(change, of_state, (name(memory), revision))

    def clear(self, before_generation: int) -> int:
        """Remove the passages of earlier generations and return their number."""
        with _translated(), self._writing() as change:
            return self._remove(change, "SELECT seq FROM passages WHERE generation < ?", (before_generation,))

    def holds(self, state: State) -> bool:
        """Tell whether a passage of this state is there."""
        asked = "SELECT 1 FROM passages WHERE memory = ? AND revision = ? LIMIT 1"
        with _translated():
            return self._db.execute(asked, (name(state[0]), state[1])).fetchone() is not None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of the file, whoever writes meanwhile."""
        with _translated():
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                self._db.execute("ROLLBACK")

    def change(self) -> int:
        """Return the number of the last change."""
        (change,) = self._db.execute("SELECT change FROM changes").fetchone()
        return int(change)

    def added_after(self, seq: int) -> list[Added]:
        """Return what came after a passage: seq, memory, revision, document, asks, vector, terms; in order."""
        asked = "SELECT seq, memory, revision, document, asks, vector, terms FROM passages WHERE seq > ? ORDER BY seq"
        return [
            (at, spelt(memory), revision, None if document is None else spelt(document), *rest)
            for at, memory, revision, document, *rest in self._db.execute(asked, (seq,))
        ]

    def removed_after(self, change: int) -> list[int]:
        """Return the passages that were removed after a change."""
        return [seq for (seq,) in self._db.execute("SELECT seq FROM removals WHERE change > ?", (change,))]

    def labelled(self, field: Keyword, values: Collection[str]) -> list[int]:
        """Return the passages that have one of these values."""
        asked = "SELECT seq FROM labels WHERE field = ? AND value = ?"
        return [seq for value in values for (seq,) in self._db.execute(asked, (field, name(value)))]

    def within(self, bounds: Within) -> list[int]:
        """Return the passages whose moment lies in these bounds."""
        column = _MOMENTS[bounds.field]
        given = {sign: getattr(bounds, bound) for bound, sign in _BOUNDS.items() if getattr(bounds, bound) is not None}
        parts = " AND ".join([f"{column} IS NOT NULL", *(f"{column} {sign} ?" for sign in given)])
        asked = f"SELECT seq FROM passages WHERE {parts}"  # noqa: S608 - columns and signs are ours
        return [seq for (seq,) in self._db.execute(asked, tuple(given.values()))]

    @contextmanager
    def _writing(self) -> Iterator[int]:
        """Write all or nothing, as the change of the number that is given."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._next_change()
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _next_change(self) -> int:
        self._db.execute("UPDATE changes SET change = change + 1")
        return self.change()

    def _add(self, row: Row) -> None:
        insert = """
            INSERT INTO passages
            (memory, revision, ordinal, generation, created_at, event_at, document, asks, vector, terms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq
        """
        place = (row.memory, row.revision, row.ordinal, row.generation)
        said = (row.created_at, row.event_at, row.document, row.asks, row.vector, row.terms)
        made = self._db.execute(insert, (*place, *said)).fetchall()
        for (seq,) in made:
            labels = [(field, value, seq) for field, value in row.labels]
            self._db.executemany("INSERT INTO labels VALUES (?, ?, ?)", labels)

    def _remove(self, change: int, which: str, having: tuple[object, ...]) -> int:
        gone = list(self._db.execute(which, having))
        self._db.executemany("DELETE FROM labels WHERE seq = ?", gone)
        self._db.executemany("DELETE FROM passages WHERE seq = ?", gone)
        self._db.executemany("INSERT INTO removals VALUES (?, ?)", [(change, seq) for (seq,) in gone])
        return len(gone)


def _sync(path: Path) -> None:
    """Wait until a file, or what a folder holds, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _translated() -> Iterator[None]:
    """Say of SQLite's and the disk's errors what a caller can do about them."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise Unavailable("The search index's file can't be used now. Try again.") from error
