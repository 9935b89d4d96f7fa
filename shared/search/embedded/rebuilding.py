"""A new folder beside the old one, for when nobody else works in either."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from shared.search.embedded.index import EmbeddedIndex
from shared.search.port import IndexMismatch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from shared.search.port import Passage


class EmbeddedRebuild:
    """The rebuild of an embedded index for one embedder; whoever runs it keeps others out of the folder."""

    def __init__(self, folder: Path, embedder: str, dimension: int) -> None:
        self._folder = folder
        self._new = folder.with_name(f"{folder.name}.new")
        self._old = folder.with_name(f"{folder.name}.old")
        self._index = EmbeddedIndex(self._new, embedder, dimension)

    def begin(self) -> str | None:
        """Make the new folder, or go on with the one that was begun: then return the last mark that was noted."""
        try:
            self._index.ensure()
        except IndexMismatch:  # begun for another embedder
            shutil.rmtree(self._new)
            self._index.ensure()
        return self._mark.read_text("utf-8") if self._mark.exists() else None

    def put(self, passages: Sequence[Passage]) -> None:
        """Store passages in the new folder."""
        self._index.put(passages)

    def discard(self, passages: Sequence[Passage]) -> None:
        """Take back passages that were put."""
        for passage in passages:
            self._index.remove(passage.owner, [(passage.memory_id, passage.revision)])

    def note(self, mark: str) -> None:
        """Keep how far the rebuild is."""
        unfinished = self._mark.with_suffix(".part")
        unfinished.write_text(mark, "utf-8")
        unfinished.replace(self._mark)

    def finish(self) -> None:
        """Let the new folder take the place of the old one."""
        self._index.close()
        self._mark.unlink(missing_ok=True)
        if self._folder.exists():
            shutil.rmtree(self._old, ignore_errors=True)
            self._folder.rename(self._old)
        self._new.rename(self._folder)
        shutil.rmtree(self._old, ignore_errors=True)

    @property
    def _mark(self) -> Path:
        return self._new / "mark"
