"""What a folder of files was made for: said in a small file, compared at every start."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from shared.kernel.errors import Unavailable
from shared.search.port import REINDEX, IndexMismatch

MAPPING: Final = 2
"""The version of what is in the files, of the analysis included; an index of another one is made anew."""

_NAME: Final = "index.json"


class Folder:
    """A folder that is for one embedder, one length of vectors and one mapping."""

    def __init__(self, path: Path, embedder: str, dimension: int) -> None:
        self._path = path
        self._wanted = {"embedder": embedder, "dimension": dimension, "mapping": MAPPING}

    def ensure(self) -> None:
        """Make it where there is none.

        Raises:
            IndexMismatch: it was made for something else.
            Unavailable: it can't be read or made.
        """
        try:
            if not self._path.exists() and self._replaced.exists():
                raise IndexMismatch(f"A rebuild of the search index in {self._path} did not end. {REINDEX}")
            self._make()
            told = json.loads((self._path / _NAME).read_text())
        except (OSError, ValueError) as error:
            raise Unavailable(f"The search index's folder {self._path} can't be used.") from error
        if told != self._wanted:
            raise IndexMismatch(self._difference(told))

    @property
    def _replaced(self) -> Path:
        """Where a rebuild moves the folder to, before its own takes the place."""
        return self._path.with_name(f"{self._path.name}.old")

    def _make(self) -> None:
        """Write what it is for, whole or not at all, where nobody else has."""
        self._path.mkdir(parents=True, exist_ok=True)
        if (self._path / _NAME).exists():
            return
        with tempfile.TemporaryDirectory(dir=self._path, prefix="new-") as scratch:
            made = Path(scratch) / _NAME
            made.write_text(json.dumps(self._wanted))
            with suppress(FileExistsError):
                os.link(made, self._path / _NAME)

    def _difference(self, told: object) -> str:
        return (
            f"The search index in {self._path} was made for {json.dumps(told)}, and it is to be for "
            f"{json.dumps(self._wanted)}. {REINDEX}"
        )
