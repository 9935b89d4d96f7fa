"""What can be seen: memories whose record is there, of the user's current generation (design §1, 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.parallel import each
from shared.aws.table import BATCH
from shared.kernel.errors import NotFound
from shared.memories.records import generation_name, generations_of, has_form, memory_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.kernel.scope import Scope

LOOKS = 3
"""How often what changes between two reads of it is looked for anew."""


def read_all(table: Table, keys: Sequence[Key]) -> dict[Key, Item]:
    """Return the items that exist, of any number of keys: a hundred a read, all at the same time."""
    unique = list(dict.fromkeys(keys))
    batches = each(table.batch_get, [unique[start : start + BATCH] for start in range(0, len(unique), BATCH)])
    return {key: item for batch in batches for key, item in batch.items()}


def generation_in(generations: Item | None, user: str) -> int:
    """Return a user's generation: how often everything of theirs was forgotten."""
    generation: int = (generations or {}).get(generation_name(user), 0)
    return generation


def is_visible(row: Item, generations: Item | None) -> bool:
    """Tell whether a row is of its user's current generation."""
    return bool(row["generation"] == generation_in(generations, row["user"]))


def seen(table: Table, scope: Scope, memory_id: str) -> tuple[Item, Item | None]:
    """Return a memory's row, and the generations that it was held against.

    Raises:
        NotFound: there is none, or it was forgotten.
    """
    if has_form(memory_id):
        key, generations_key = memory_key(scope, memory_id), generations_of(scope, memory_id)
        found = table.batch_get([key, generations_key])
        generations = found.get(generations_key)
        if key in found and is_visible(found[key], generations):
            return found[key], generations
    raise unknown()


def unknown() -> NotFound:
    """Return the error for a memory that is not there, or not for this caller."""
    return NotFound("There is no such memory.")
