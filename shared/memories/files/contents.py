"""The bytes of files, as they came: whole, in ranges, or by a URL that is good for minutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shared.aws.errors import ObjectMissing
from shared.kernel.disposition import attachment_in_url
from shared.kernel.errors import Conflict, Unavailable
from shared.memories.files.finding import seen_file
from shared.memories.sight import LOOKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing

    Span = tuple[int, int]

URL_SECONDS: Final = 5 * 60


@dataclass(frozen=True)
class Contents:
    """Reads files' bytes."""

    backing: Backing

    def find(self, scope: Scope, file_id: str, user_id: str | None = None) -> Item:
        """Return the row of a file whose bytes are there.

        Raises:
            NotFound: there is no such file, or not of the user that is named.
            Conflict: its upload is not completed.
        """
        row, _ = seen_file(self.backing, scope, file_id, user_id=user_id)
        if row["status"] != "ready":
            raise Conflict("The upload of this file is not completed: PUT its bytes, then POST …/complete.")
        return row

    def read(self, row: Item, span: Span | None, again: Callable[[], Item]) -> bytes:
        """Return a file's bytes, or those from the first to the last position given; `again` finds its row anew.

        Raises:
            NotFound: it was deleted since its row was read.
        """
        for _ in range(LOOKS):
            try:
                return self.backing.objects.get(row["object"], span)
            except ObjectMissing:
                row = again()
        raise Unavailable

    def url(self, row: Item) -> str:
        """Return a presigned URL that downloads a file under its name, or its beginning, for five minutes."""
        name = attachment_in_url(row["filename"])
        return self.backing.objects.presign_get(
            row["object"], seconds=URL_SECONDS, content_type=row["media_type"], disposition=name
        )


def etag_of(row: Item) -> str:
    """Return the ETag of a file's bytes; they never change."""
    return f'"{row["sha256"][:32]}"'
