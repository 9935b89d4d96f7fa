"""The shapes of adding (seed, Add; contract "memories")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.memories.bodies import (
    CONTENT_TYPES,
    GROUP_CHARACTERS,
    GROUP_PARTS,
    INSTRUCTIONS_CHARACTERS,
    LANGUAGES,
    LONGEST_WAIT_SECONDS,
    MODES,
)
from functions.memories.fields import FIRST_MOMENT, LAST_MOMENT
from functions.memories.filenames import FILE_NAME_CHARACTERS
from functions.memories.messages import ROLES
from functions.memories.parts import CAPTION_CHARACTERS, DETAILS
from shared.documents.port import EXTENSIONS
from shared.http.openapi import array, record, ref, typed

if TYPE_CHECKING:
    from shared.http.openapi import Json

TEXT, TEXT_OR_NULL = typed("string"), typed("string", "null")
TIME, TIME_OR_NULL = typed("string", format="date-time"), typed("string", "null", format="date-time")
UUID = typed("string", format="uuid")
COUNT = typed("integer", minimum=0)
META = record({"request_id": UUID, "timestamp": TIME})
USER_ID = typed("string", minLength=1, description="The user whose memories these are: 1 to 255 characters, trimmed")
SOURCE_ID = typed("string", "null", description="At most 255 characters")
CONTEXT = array(
    typed("object", additionalProperties=True),
    description="What was said before, as `{role, content}`: the last 50 entries, 10,000 characters, are kept",
)
_MS = [{"const": -1}, {"minimum": FIRST_MOMENT, "maximum": LAST_MOMENT}]


def envelope(data: Json) -> Json:
    """Return the schema of a successful answer."""
    return record({"success": typed("boolean", const=True), "data": data, "meta": META})


def _moment(*kinds: str, **rules: Any) -> Json:
    told = "13 digits of Unix milliseconds, or -1 where it is not known"
    return {
        **typed(*kinds, **rules),
        "anyOf": [*_MS, *([{"type": "null"}] if "null" in kinds else [])],
        "description": told,
    }


def _either(*ways: list[str]) -> Json:
    """Return the rules for an object that has the fields of exactly one of two ways."""
    return {"anyOf": [{"required": way} for way in ways], "not": {"required": [way[0] for way in ways]}}


_TEXT_PART = record({"type": typed("string", enum=["text", "input_text"]), "text": typed("string", minLength=1)})
_IMAGE_PART = record(
    {"type": typed("string", const="input_image")},
    {
        "image_url": typed("string", description="`data:image/png|jpeg|webp|gif;base64,…`: the bytes are of that kind"),
        "file_id": {**UUID, "description": "An upload of this user, in the place of `image_url`"},
        "detail": typed("string", enum=list(DETAILS), default="auto"),
        "caption": typed(
            "string",
            "null",
            maxLength=CAPTION_CHARACTERS,
            description="What the image shows; needed where no model describes images",
        ),
    },
    **_either(["image_url"], ["file_id"]),
)
_FILE = record(
    {},
    {
        "file_id": {**UUID, "description": "A file of this user"},
        "file_data": typed("string", description="base64, with or without `data:…;base64,` before it"),
        "filename": typed(
            "string",
            maxLength=FILE_NAME_CHARACTERS,
            description=f"No folders; its extension decides how it is read: {', '.join(sorted(EXTENSIONS))}",
        ),
    },
    **_either(["file_id"], ["file_data", "filename"]),
)
_FILE_PART = record({"type": typed("string", const="file"), "file": _FILE})
_PARTS = [_TEXT_PART, _IMAGE_PART, _FILE_PART]

_REASON = {"anyOf": [record({"code": TEXT, "message": TEXT}), {"type": "null"}]}
_ATTACHED: Json = {
    "parser_id": {**UUID, "description": "The document: what `document_ids` of a search takes"},
    "document_id": UUID,
    "file_id": UUID,
    "status": typed("string", enum=["processing", "success", "failed"]),
    "revision": typed("integer", "null", minimum=1),
    "chunks_done": COUNT,
    "chunks_total": typed("integer", "null", minimum=0),
    "error": _REASON,
}
_OF_AN_IMAGE: Json = {"parser_id": {**UUID, "description": "No document to search in: what was said finds it"}}
_FILES: dict[str, Json] = {
    "files": array(record({**_ATTACHED, "file_index": COUNT})),
    "images": array(record({**_ATTACHED, **_OF_AN_IMAGE, "image_index": COUNT})),
}

SCHEMAS: dict[str, Json] = {
    "AddMessage": record(
        {
            "role": typed("string", enum=list(ROLES)),
            "content": {"anyOf": [typed("string", minLength=1), array({"anyOf": _PARTS}, minItems=1)]},
            "timestamp": _moment("integer"),
        },
        {"sender_id": TEXT_OR_NULL},
    ),
    "AddChunk": record(
        {
            "group_id": typed("string", minLength=1, description=f"At most {GROUP_CHARACTERS} characters, trimmed"),
            "index": typed("integer", minimum=0, description="Less than `count`"),
            "count": typed("integer", minimum=2, maximum=GROUP_PARTS),
        }
    ),
    "AddRequest": record(
        {"user_id": USER_ID, "messages": array(ref("AddMessage"), minItems=1)},
        {
            "async_mode": typed("boolean", default=True, description="false is refused in production"),
            "wait": typed(
                "integer",
                minimum=0,
                maximum=LONGEST_WAIT_SECONDS,
                default=0,
                description="Seconds to wait for the end: then 200 with the events",
            ),
            "mode": typed("string", enum=list(MODES), default="default"),
            "content_type": typed("string", enum=list(CONTENT_TYPES), default="auto"),
            "memory_output_language": typed("string", enum=list(LANGUAGES)),
            "agent_id": SOURCE_ID,
            "app_id": SOURCE_ID,
            "session_id": SOURCE_ID,
            "metadata": typed(
                "object",
                "null",
                additionalProperties=True,
                description='`source` is "memorax-code" with `content_type` code; `idempotency_key` names the request',
            ),
            "timestamp": _moment("integer", "null"),
            "add_only": typed("boolean", "null"),
            "code_extraction_instructions": typed("string", "null", maxLength=INSTRUCTIONS_CHARACTERS),
            "chunk": {"anyOf": [ref("AddChunk"), {"type": "null"}]},
            "window_context": CONTEXT,
        },
    ),
    "Balance": record(
        {
            "product_code": typed("string", const="memory_api"),
            "feature_code": typed("string", enum=["memory_write", "memory_search"]),
            "spec_key": typed("string", const="calls"),
            "quota_unit": typed("string", const="times"),
            "quota_limit": COUNT,
            "reserved": COUNT,
            "consumed": COUNT,
            "remaining": COUNT,
        }
    ),
    "MemoryEvent": record(
        {
            "id": UUID,
            "event": typed("string", enum=["ADD", "UPDATE", "DELETE"]),
            "data": record(
                {"memory": typed("string", description="Of a document, its filename")},
                {"document_id": UUID, "revision": typed("integer", minimum=1)},
            ),
        }
    ),
    "AddAccepted": envelope(
        record(
            {
                "task_id": UUID,
                "status": typed("string", const="accepted"),
                "data": {"type": "null"},
                "balances": array(ref("Balance")),
            }
        )
    ),
    "AddCompleted": envelope(
        record(
            {
                "task_id": UUID,
                "status": typed("string", const="completed"),
                "data": array(ref("MemoryEvent")),
                "balances": array(ref("Balance")),
            },
            _FILES,
        )
    ),
    "AddStatus": record(
        {
            "task_id": UUID,
            "status": typed("string", enum=["processing", "success", "failed"]),
            "phase": typed(
                "string", enum=["queued", "reading", "extracting", "deciding", "embedding", "indexing", "done"]
            ),
            "memory": {"anyOf": [record({"total": COUNT}), {"type": "null"}]},
            "error": _REASON,
        },
        {
            "kind": typed("string", enum=["memory_add", "document_add"]),
            "attempts": COUNT,
            "received_at": TIME,
            "created_at": TIME,
            "updated_at": TIME,
            "completed_at": TIME_OR_NULL,
            "parser_record_id": UUID,
            "parser_task_id": UUID,
            "document_type": typed("string", description="The extension of the files, or `mixed`"),
            **_FILES,
        },
    ),
    "FailureReport": record(
        {
            "success": typed("boolean", const=False),
            "error": record(
                {"code": TEXT, "message": TEXT},
                {"hint": TEXT, "details": {"description": "Of broken rules: a list of `{field, message, loc, type}`"}},
            ),
            "meta": META,
        }
    ),
}
