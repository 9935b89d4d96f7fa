"""The rows of files, of documents, and of what an add has to do for each file.

A **file** is bytes of one user, uploaded or sent in an add: `user`, `user_id`, `generation`; `filename`, `extension`
(both None of an image that was sent in an add), `media_type`, `size`, `sha256` (of a pending one what was announced, or
None), `status` (`pending`, `ready`), `object`, `created_at` (ms), `l1`; of a pending one `expires_at`, `due`, `kind`;
of one that came in an add `sent_by` (the task that sent its bytes last) and, where that was not the first, `kept`.

A **document** says which reading counts of files of one name, or of one image: `user`, `user_id`, `generation`, `of`
(`file`, `image`), `file`, `filename`, `digest` (of the bytes; of an image, and of its caption), `revision` (from 1),
`token` (its current reading), `chunks`, `task`, `positions`, `received_at` and `sent_by` (when its bytes were added
last, and by which task), `created_at`, `updated_at`, `l2`.

A **chunk** is a memory of kind `chunk` (of an image: `raw`) that every mode finds, with `document_id`, `token` and
`place` (`{index, heading, page, sheet}`). It can be seen while its document is there with the same `token`.

A **file job** is what one task does for one attachment: `of`, `n` (among all), `index` (among those of its kind),
`file`, `document`, `token`, `filename`, `extension`, `digest`, `size`, `caption`, `detail`, `positions`; its `status`
goes `queued`, `parsing`, `parsed`, `indexing` and ends `success` or `failed` (with `error`); `chunks_done`,
`chunks_total`, `revision`, `tries`, `fence` (the attempt that may write), `updated_at`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.memories.records import UserAddress

UPLOAD = "memory_upload"
"""The sweeper's kind of an upload that was not completed."""

ENDED = frozenset({"success", "failed"})
"""The states of a file job that are its last."""


@dataclass(frozen=True)
class Attachment:
    """A file or an image of an add: bytes that came with it, or the id of a file that is there.

    `n` counts all attachments of a request from 0, `index` those of its kind; `position` is its message's place.
    Of `content` and `file_id` one is given; `filename` with a file's `content`, with an image's `media_type`, and the
    pixels of a frame and the number of frames that its headers announce.
    """

    of: Literal["file", "image"]
    n: int
    index: int
    position: int
    content: bytes | None = field(default=None, repr=False)
    file_id: str | None = None
    filename: str | None = None
    media_type: str | None = None
    pixels: int | None = None
    frames: int | None = None
    detail: str = "auto"
    caption: str | None = None


def by_arrival(user: str, created_at: int, file_id: str) -> str:
    """Return a file's place (`l1`) among its user's; no memory's begins like it."""
    return f"{user}~{created_at:015d}#{file_id}"


def extension_of(filename: str) -> str:
    """Return the extension of a filename that has one, in small letters."""
    return filename.rpartition(".")[2].lower()


def document_name(filename: str) -> str:
    """Return the name that tells a user's documents apart: as it was written, composed."""
    return unicodedata.normalize("NFC", filename)


def document_of(address: UserAddress, job: Item) -> str:
    """Return the id of the document that a file job makes: of its name, or of the image."""
    return address.document_id(document_name(job["filename"]) if job["of"] == "file" else job["file"])
