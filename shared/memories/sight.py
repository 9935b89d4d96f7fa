"""What can be seen: memories whose record is there, of the user's current generation (design §1, 3).

What was made of a file is seen while its document is there and names the reading that it came from (decision 17).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.parallel import each
from shared.aws.table import BATCH
from shared.kernel.errors import NotFound
from shared.memories.past import scope_in
from shared.memories.records import document_key, generation_name, generations_of, has_form, memory_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


def is_visible(row: Item, generations: Item | None, document: Item | None = None) -> bool:
    """Tell whether a row is of its user's current generation; of a file's, whether `document` names its reading."""
    if row["generation"] != generation_in(generations, row["user"]):
        return False
    return "token" not in row or (document is not None and _names(document, row))


def key_of_document(row: Item) -> Key | None:
    """Return the key of the document that a memory was made of; None where it was made of none."""
    return document_key(scope_in(row["pk"]), row["document_id"]) if "token" in row else None


def documents_of(table: Table, rows: Iterable[Item]) -> dict[Key, Item]:
    """Return the documents that memories were made of; nothing is read where there are none."""
    keys = [key for row in rows if (key := key_of_document(row))]
    return read_all(table, keys) if keys else {}


def document_of(row: Item, documents: Mapping[Key, Item]) -> Item | None:
    """Return the document of a memory, among those that were read."""
    key = key_of_document(row)
    return documents.get(key) if key else None


def seen(table: Table, scope: Scope, memory_id: str) -> tuple[Item, Item | None]:
    """Return a memory's row, and the document that it was made of, if there is one.

    Raises:
        NotFound: there is none, or it was forgotten.
    """
    if has_form(memory_id):
        key, generations_key = memory_key(scope, memory_id), generations_of(scope, memory_id)
        found = table.batch_get([key, generations_key])
        if row := found.get(key):
            document = document_of(row, documents_of(table, [row]))
            if is_visible(row, found.get(generations_key), document):
                return row, document
    raise unknown()


def unknown() -> NotFound:
    """Return the error for a memory that is not there, or not for this caller."""
    return NotFound("There is no such memory.")


def _names(document: Item, row: Item) -> bool:
    return bool(document["token"] == row["token"] and document["generation"] == row["generation"])
