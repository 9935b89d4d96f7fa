"""How files are shown (contract, "Files")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.kernel.clock import rfc3339
from shared.memories.files.rows import document_name
from shared.memories.records import UserAddress, document_key
from shared.memories.sight import read_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.kernel.scope import Scope

    Record = dict[str, Any]


def file_id_of(row: Item) -> str:
    """Return the id of a row's file."""
    sk: str = row["sk"]
    return sk.removeprefix("u#")


def document_keys_of(scope: Scope, row: Item) -> list[Key]:
    """Return the keys of the documents that a file can be: the one of its name, and the one of an image."""
    address, file_id = UserAddress(scope, row["user_id"]), file_id_of(row)
    names = [file_id] if row["filename"] is None else [document_name(row["filename"]), file_id]
    return [document_key(scope, address.document_id(name)) for name in names]


def file_view(row: Item, document_id: str | None = None) -> Record:
    """Return a file as a caller sees it."""
    return {
        "id": file_id_of(row),
        "user_id": row["user_id"],
        "filename": row["filename"],
        "size": row["size"],
        "media_type": row["media_type"],
        "sha256": row["sha256"],
        "status": row["status"],
        "created_at": rfc3339(row["created_at"]),
        "document_id": document_id,
    }


def file_views(table: Table, scope: Scope, rows: Sequence[Item]) -> list[Record]:
    """Return files as a caller sees them, each with the document that was made of it: one round of reads.

    A document that another file of the same name has taken over is that file's.
    """
    keys = [document_keys_of(scope, row) if row["status"] == "ready" else [] for row in rows]
    found = read_all(table, [key for of_one in keys for key in of_one])
    return [
        file_view(row, _document_among(row, [found.get(k) for k in of])) for row, of in zip(rows, keys, strict=True)
    ]


def _document_among(row: Item, documents: Sequence[Item | None]) -> str | None:
    for document in documents:
        if document and document["file"] == file_id_of(row) and document["generation"] == row["generation"]:
            sk: str = document["sk"]
            return sk.removeprefix("d#")
    return None
