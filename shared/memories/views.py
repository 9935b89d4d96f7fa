"""How memories are shown: a hit of a search, a memory by itself (seed, Search response; contract "memories")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.kernel.clock import rfc3339
from shared.kernel.ids import is_ulid, ulid_uuid
from shared.memories.rows import memory_id_of, metadata_of, moment_or_none

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.kernel.scope import Scope

    View = dict[str, Any]

OURS = (
    *("memory_type", "event_created_at", "raw_text_missing"),
    *("document_id", "filename", "revision", "chunk_index", "chunks", "page", "heading_path", "sheet"),
)
"""What is told in a memory's metadata beside the caller's own."""


def hit_view(scope: Scope, row: Item, text: str, *, scores: View, marks: View | None = None) -> View:
    """Return a hit: `scores` are its `score` and `score_details`, `marks` go into its metadata."""
    told = _told(scope, row, text)
    told["metadata"].update(marks or {})
    return {"id": told.pop("id"), "memory": told.pop("memory"), **scores, **told}


def memory_view(scope: Scope, row: Item, text: str, *, document: Item | None = None) -> View:
    """Return a memory: a hit without the scores, with its kind; `document` is what it was made of, if it was of one."""
    told = _told(scope, row, text)
    told["metadata"].update(marks_of(row, document))
    return {**told, "kind": row["kind"]}


def marks_of(row: Item, document: Item | None) -> View:
    """Return what is told of a memory's place in the document that it was made of; nothing where it was of none."""
    if document is None:
        return {}
    place, chunk = row["place"], row["kind"] == "chunk"
    told = {
        "document_id": row["document_id"],
        "filename": place["filename"],
        "revision": document["revision"],
        "chunk_index": place["index"] if chunk else None,
        "chunks": document["chunks"] if chunk else None,
        "page": place.get("page"),
        "heading_path": place.get("heading") or None,
        "sheet": place.get("sheet"),
    }
    return {name: value for name, value in told.items() if value is not None}


def etag_of(row: Item) -> str:
    """Return the entity tag of a memory: each of its revisions has another."""
    return f'"{row["revision"]:x}-{row["updated_at"]:x}"'


def own_metadata(metadata: View) -> View:
    """Return metadata without what only we tell in it, so that what was read may be sent back."""
    return {name: value for name, value in metadata.items() if name not in OURS}


def _told(scope: Scope, row: Item, text: str) -> View:
    ours = {"memory_type": row["memory_type"], "event_created_at": moment_or_none(row["event_at"])}
    return {
        "id": memory_id_of(row),
        "memory": text,
        "user_id": row["user_id"],
        "agent_id": row["agent_id"],
        "app_id": row["app_id"],
        "session_id": row["session_id"],
        "project_id": scope.project,
        "api_key_uuid": _key_uuid(row["key_id"]),
        "content_type": row["content_type"],
        "created_at": rfc3339(row["created_at"]),
        "updated_at": rfc3339(row["updated_at"]),
        "metadata": {**own_metadata(metadata_of(row)), **ours},
        "categories": row["categories"],
        "immutable": row["immutable"],
    }


def _key_uuid(key_id: str) -> str | None:
    name = key_id.rpartition("_")[2]
    return ulid_uuid(name) if is_ulid(name) else None
