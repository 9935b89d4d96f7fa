"""The shapes of memory stores (contract "memory stores", §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.http.openapi import ENVELOPE_SCHEMAS, array, record, ref, typed
from shared.stores.models import (
    DESCRIPTION_CHARACTERS,
    METADATA_KEY_CHARACTERS,
    METADATA_PAIRS,
    METADATA_VALUE_CHARACTERS,
    NAME_CHARACTERS,
)
from shared.stores.records import ACTOR_IDS

if TYPE_CHECKING:
    from shared.http.openapi import Json

TEXT, TEXT_OR_NULL = typed("string"), typed("string", "null")
TIME, TIME_OR_NULL = typed("string", format="date-time"), typed("string", "null", format="date-time")
HASH = "^[0-9a-f]{64}$"

_NAME_RULES = {"minLength": 1, "maxLength": NAME_CHARACTERS, "pattern": r"^[^\x00-\x1f\x7f-\x9f]+$"}
_METADATA_KEYS = {
    "maxProperties": METADATA_PAIRS,
    "propertyNames": {"minLength": 1, "maxLength": METADATA_KEY_CHARACTERS},
}
_VALUE_RULES = {"maxLength": METADATA_VALUE_CHARACTERS}
_PATH = {
    "pattern": r"^(/(?!\.{1,2}(/|$))[^/\x00-\x1f\x7f-\x9f]+){1,20}$",
    "description": "At most 1,024 bytes of UTF-8 in NFC, 1 to 20 segments, none of them `.` or `..`, "
    "no control or format characters",
}
_CONTENT = {"description": "At most 102,400 bytes of UTF-8, kept as they are"}

_ACTORS = [
    record({"type": typed("string", const=kind), field: TEXT}, additionalProperties=False)
    for kind, field in ACTOR_IDS.items()
]
_ACTOR_OR_NULL: Json = {"anyOf": [ref("Actor"), {"type": "null"}]}


def _metadata(*kinds: str) -> Json:
    """Return the schema of metadata whose values are of these types; null as a whole is as if left out."""
    return typed("object", "null", additionalProperties=typed(*kinds, **_VALUE_RULES), **_METADATA_KEYS)


SCHEMAS: dict[str, Json] = {
    "MemoryStore": record(
        {
            "id": TEXT,
            "type": typed("string", const="memory_store"),
            "name": TEXT,
            "description": TEXT,
            "metadata": typed("object", additionalProperties=TEXT),
            "created_at": TIME,
            "updated_at": TIME,
            "archived_at": TIME_OR_NULL,
        }
    ),
    "NewMemoryStore": record(
        {"name": typed("string", **_NAME_RULES)},
        {
            "description": typed("string", "null", maxLength=DESCRIPTION_CHARACTERS),
            "metadata": _metadata("string"),
        },
        additionalProperties=False,
    ),
    "MemoryStoreChange": record(
        {},
        {
            "name": typed("string", "null", **_NAME_RULES),
            "description": typed("string", "null", maxLength=DESCRIPTION_CHARACTERS),
            "metadata": _metadata("string", "null"),
        },
        additionalProperties=False,
        description="What is left out or null stays; in `metadata` null removes a key",
    ),
    "MemoryStoreList": record({"data": array(ref("MemoryStore")), "next_page": TEXT_OR_NULL}),
    "MemoryStoreDeleted": record({"id": TEXT, "type": typed("string", const="memory_store_deleted")}),
    "Memory": record(
        {
            "id": TEXT,
            "type": typed("string", const="memory"),
            "memory_store_id": TEXT,
            "path": TEXT,
            "content": typed("string", "null", description="null under `view=basic`"),
            "content_size_bytes": typed("integer"),
            "content_sha256": typed("string", pattern=HASH),
            "memory_version_id": TEXT,
            "created_at": TIME,
            "updated_at": TIME,
        }
    ),
    "MemoryPrefix": record(
        {"type": typed("string", const="memory_prefix"), "path": typed("string", pattern="^/.*/$")},
        additionalProperties=False,
        description="A directory whose memories lie deeper than `depth`",
    ),
    "NewMemory": record(
        {"path": typed("string", **_PATH), "content": typed("string", **_CONTENT)}, additionalProperties=False
    ),
    "MemoryChange": record(
        {},
        {
            "path": typed("string", "null", **_PATH),
            "content": typed("string", "null", **_CONTENT),
            "precondition": {"anyOf": [ref("ContentPrecondition"), {"type": "null"}]},
        },
        additionalProperties=False,
    ),
    "ContentPrecondition": record(
        {"type": typed("string", const="content_sha256"), "content_sha256": typed("string", pattern=HASH)},
        additionalProperties=False,
        description="The SHA-256 that the stored content must have",
    ),
    "MemoryList": record({"data": array({"anyOf": [ref("Memory"), ref("MemoryPrefix")]}), "next_page": TEXT_OR_NULL}),
    "MemoryDeleted": record({"id": TEXT, "type": typed("string", const="memory_deleted")}),
    "Actor": {"anyOf": _ACTORS},
    "MemoryVersion": record(
        {
            "id": TEXT,
            "type": typed("string", const="memory_version"),
            "memory_id": TEXT,
            "memory_store_id": TEXT,
            "operation": typed("string", enum=["created", "modified", "deleted"]),
            "path": typed("string", "null", description="null only when redacted"),
            "content": TEXT_OR_NULL,
            "content_size_bytes": typed("integer", "null"),
            "content_sha256": TEXT_OR_NULL,
            "created_at": TIME,
            "created_by": _ACTOR_OR_NULL,
            "redacted_at": TIME_OR_NULL,
            "redacted_by": _ACTOR_OR_NULL,
        }
    ),
    "MemoryVersionList": record({"data": array(ref("MemoryVersion")), "next_page": TEXT_OR_NULL}),
    "Nothing": typed("object", maxProperties=0),
    "MemoryPathConflict": record(
        {
            "type": typed("string", const="memory_path_conflict_error"),
            "message": TEXT,
            "conflicting_path": typed("string", description="The path itself, or one above or below it"),
            "conflicting_memory_id": typed("string", description="The memory there"),
        }
    ),
    "MemoryPreconditionFailed": record(
        {"type": typed("string", const="memory_precondition_failed_error"), "message": TEXT}
    ),
    "OtherConflict": record({"type": typed("string", const="conflict_error"), "message": TEXT}),
    "MemoryStoreConflict": record(
        {
            "type": typed("string", const="error"),
            "error": {"anyOf": [ref("MemoryPathConflict"), ref("MemoryPreconditionFailed"), ref("OtherConflict")]},
            "request_id": TEXT,
        }
    ),
    **ENVELOPE_SCHEMAS,
}
