"""The reading of files, as the documents function does it: bytes to pieces of chunks, images to what they show."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.documents.port import IMAGES, DocumentFailed
from shared.memories.attempts import Erased, Fenced
from shared.memories.files.documents import repeat, seen_by, standing
from shared.memories.files.jobs import FileGone
from shared.memories.files.pieces import CHUNKS, Pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from shared.aws.items import Item
    from shared.aws.writes import Put
    from shared.documents.port import Chunk, Parser
    from shared.memories.backing import Backing
    from shared.memories.files.documents import Seen
    from shared.memories.files.jobs import FileJob
    from shared.models.port import Picture, Vision

TOO_SLOW: Final = "Reading this file took longer than one file may take. Send it in parts."
NO_TEXT: Final = "Nothing is written in this file."
CAPTION: Final = 4_000
"""The characters of a caption (seed, `caption`)."""

FOLDER: Final = "lodestore-file-"
"""What the names of temporary folders begin with."""

LEFT_OVER_SECONDS: Final = 3_600
"""A temporary folder of that age is nobody's: longer than any function's time."""


@dataclass(frozen=True)
class Eyes:
    """What files are read with: the parser; the model that sees, where there is one; how an image is made ready for it.

    `prepare` raises DocumentFailed for what is no image, or none that may be decoded.
    """

    parser: Parser
    vision: Vision | None
    prepare: Callable[[Path], Picture]


class Reading:
    """The stage of jobs that reads files, and captions images."""

    begins = frozenset({"queued", "parsing"})
    status = "parsing"

    def __init__(self, backing: Backing, eyes: Eyes) -> None:
        self._backing = backing
        self._eyes = eyes

    def __call__(self, job: FileJob, late: Callable[[], bool]) -> None:
        """Read a job's file to its end; an image is captioned.

        Raises:
            DocumentFailed: nothing can be made of it.
            Erased: everything of the user was forgotten meanwhile.
            Fenced: another attempt has taken over.
            FileGone: the file was deleted.
            Unavailable: a dependency is down.
        """
        seen = seen_by(job)
        if there := _known(seen, job):
            repeat(job, there)
            return
        remove_left_over()
        with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
            if job.row["of"] == "image":
                self._caption(job, self._fetched(seen.file, Path(folder) / "image"))
            else:
                self._read(job, self._fetched(seen.file, Path(folder) / f"file.{job.row['extension']}"), late)

    def _fetched(self, file: Item, path: Path) -> Path:
        """Copy a file's bytes to this machine, a mebibyte at a time.

        Raises:
            ObjectMissing: the file was deleted since its row was read.
        """
        with path.open("wb") as kept:
            kept.writelines(self._backing.objects.stream(file["object"]))
        return path

    def _caption(self, job: FileJob, path: Path) -> None:
        if self._eyes.vision is None:
            raise DocumentFailed("not_readable_here", "Nothing in this deployment tells what an image shows.")
        asked = {"detail": job.row["detail"], "language": job.row["language"]}
        caption = self._eyes.vision.caption(self._eyes.prepare(path), **asked).strip()[:CAPTION]
        if not caption:
            raise DocumentFailed("no_text", "The model had nothing to tell of this image. Send it with a caption.")
        job.hand_over(*job.holds(), status="parsed", caption=caption)

    def _read(self, job: FileJob, path: Path, late: Callable[[], bool]) -> None:
        pieces = Pieces(self._backing, job.row)
        if job.row["chunks_total"]:
            pieces.remove()  # what an attempt before has left; it would come out in the same order
        total = 0
        with closing(self._chunks(path, job.row["extension"])) as chunks:
            for number, piece in enumerate(iter(lambda: list(islice(chunks, CHUNKS)), [])):
                if late():
                    raise DocumentFailed("too_complex", TOO_SLOW)
                total += len(piece)
                self._note(job, pieces.store(number, piece), total)
        if not total:
            raise DocumentFailed("no_text", NO_TEXT)
        job.progress(*job.holds(), status="parsed", strikes=0)

    def _note(self, job: FileJob, piece: Put, total: int) -> None:
        """Let a stored piece count, or leave nothing of it: what its user has forgotten is not there for two nights.

        Begun again a file begins anew: that is no progress which would let it be tried for ever.
        """
        try:
            job.progress(*job.holds(), piece, chunks_total=total, strikes=job.row["strikes"])
        except (Erased, Fenced, FileGone):
            self._backing.objects.discard(piece.item["object"])
            raise

    def _chunks(self, path: Path, extension: str) -> Generator[Chunk]:
        if extension in IMAGES and self._eyes.vision is not None:
            path, extension = self._transcribed(path), "md"
        yield from self._eyes.parser.parse(path, extension)

    def _transcribed(self, path: Path) -> Path:
        """Write what is written in an image beside it, as Markdown."""
        assert self._eyes.vision is not None
        text = self._eyes.vision.transcribe(self._eyes.prepare(path))
        if not text.strip():
            raise DocumentFailed("no_text", NO_TEXT)
        written = path.with_suffix(".md")
        written.write_text(text, encoding="utf-8")
        return written


def remove_left_over() -> None:
    """Remove the files that readers have left which were killed: their disk outlives them."""
    oldest = time.time() - LEFT_OVER_SECONDS
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        with suppress(OSError):  # another's clearing up
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def _known(seen: Seen, job: FileJob) -> Item | None:
    """Return the document where there is nothing to read: the file says the same, or the image was described before."""
    if job.row["of"] == "file":
        return standing(seen.document, job.task, job.row)
    same = seen.document is not None and seen.document["file"] == job.row["file"]
    return seen.document if same else None
