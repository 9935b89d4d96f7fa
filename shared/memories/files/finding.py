"""Which files there are: of their user's current generation, and no upload that was not completed in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.kernel.errors import NotFound
from shared.memories.records import file_key, generations_of, has_form
from shared.memories.sight import is_visible

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing


def is_there(row: Item, generations: Item | None, now: int) -> bool:
    """Tell whether a file's row counts at a moment (ms): what was forgotten, or is past its time, does not."""
    return is_visible(row, generations) and ("expires_at" not in row or bool(row["expires_at"] > now))


def seen_file(backing: Backing, scope: Scope, file_id: str, *, user_id: str | None = None) -> tuple[Item, Item | None]:
    """Return a file's row, and the generations that it was held against.

    Raises:
        NotFound: there is none, or it was deleted, or it is another project's, or not of the user that is named.
    """
    if has_form(file_id):
        key, generations_key = file_key(scope, file_id), generations_of(scope, file_id)
        found = backing.table.batch_get([key, generations_key])
        generations = found.get(generations_key)
        row = found.get(key)
        named = row is not None and user_id in (None, row["user_id"])
        if row is not None and named and is_there(row, generations, backing.clock.now_ms()):
            return row, generations
    raise unknown_file()


def unknown_file() -> NotFound:
    """Return the error for a file that is not there, or not for this caller."""
    return NotFound("There is no such file.")
