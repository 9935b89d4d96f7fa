"""The shapes of project memory, as its seed document names them, and those that we add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.http.openapi import array, record, ref, typed

if TYPE_CHECKING:
    from shared.http.openapi import Json

_TEXT, _TEXT_OR_NULL = typed("string"), typed("string", "null")
_INTEGER, _INTEGER_OR_NULL = typed("integer"), typed("integer", "null")
_OBJECT = typed("object")

_ARTIFACT_FIELDS = {"name": _TEXT, "content_type": _TEXT, "size": _INTEGER}
_TIMES = {"created_at": _TEXT_OR_NULL, "updated_at": _TEXT_OR_NULL}
_TASK_FIELDS = {
    "latest_turn": _INTEGER_OR_NULL,
    "turn_count": _INTEGER_OR_NULL,
    "updated_at": _TEXT_OR_NULL,
    "retain_until": _TEXT_OR_NULL,
}
_MOMENT = typed("string", "number", "null", description="ISO 8601 or epoch")

SCHEMAS: dict[str, Json] = {
    "TurnMeta": {
        "type": "object",
        "description": "Run metadata for one turn. Every field is optional; unknown keys are kept.",
        "additionalProperties": True,
        "properties": {
            "agent_id": _TEXT_OR_NULL,
            "model": _TEXT_OR_NULL,
            "job_id": _TEXT_OR_NULL,
            "sandbox_id": _TEXT_OR_NULL,
            "commit": _TEXT_OR_NULL,
            "exit_code": _INTEGER_OR_NULL,
            "started_at": _MOMENT,
            "ended_at": _MOMENT,
            "tokens": typed("integer", "object", "null"),
            "cost": typed("number", "object", "null"),
            "claude_session_id": _TEXT_OR_NULL,
        },
    },
    "PutTurnRequest": record(
        {},
        {
            "meta": ref("TurnMeta"),
            "summary_md": typed("string", default="", description="Markdown summary of the turn (max 1 MiB)"),
        },
    ),
    "MemoryArtifact": record(_ARTIFACT_FIELDS, {"updated_at": _TEXT_OR_NULL}),
    "ArtifactRecord": record({**_ARTIFACT_FIELDS, "task_id": _TEXT, "turn": _INTEGER}, {"updated_at": _TEXT_OR_NULL}),
    "TurnRecord": record(
        {
            "task_id": _TEXT,
            "turn": _INTEGER,
            "meta": _OBJECT,
            "summary_md": _TEXT,
            "artifacts": array(ref("MemoryArtifact")),
        },
        {**_TIMES, "retain_until": _TEXT_OR_NULL},
    ),
    "TaskSummary": record({"task_id": _TEXT}, _TASK_FIELDS),
    "TaskList": record(
        {"tasks": array(ref("TaskSummary")), "total": _INTEGER},
        {
            "next_cursor": typed(
                "string", "null", description="Pass back as ?cursor= for the next page; null at the end."
            )
        },
    ),
    "TaskTurn": record(
        {
            "turn": _INTEGER,
            "meta": _OBJECT,
            "summary_md": typed("string", description="Its first 2,000 characters"),
            "summary_truncated": typed("boolean"),
            "artifacts": array(ref("MemoryArtifact")),
            "created_at": _TEXT,
            "updated_at": _TEXT,
        }
    ),
    "TaskIndex": record(
        {
            "task_id": _TEXT,
            "owner": typed("string", description="The principal of the key that first wrote to the task"),
            "created_at": _TEXT,
            **_TASK_FIELDS,
            "turns": array(ref("TaskTurn")),
            "next_cursor": _TEXT_OR_NULL,
        }
    ),
    "UploadRequest": record(
        {"size": typed("integer", minimum=0, maximum=50 << 20)},
        {
            "content_type": typed("string", "null", minLength=1, maxLength=255, pattern=r"^[\x20-\x7e]+$"),
            "sha256": typed("string", "null", pattern="^[0-9a-f]{64}$"),
        },
    ),
    "UploadTicket": record(
        {
            "upload_id": _TEXT,
            "method": typed("string", const="PUT"),
            "url": typed("string", format="uri"),
            "headers": typed("object", additionalProperties=_TEXT, description="To be sent as given"),
            "expires_at": _TEXT,
        }
    ),
    "CompleteRequest": record({"upload_id": typed("string", maxLength=64)}),
    "ErrorDetail": record({"detail": _TEXT}),
    "ValidationError": record(
        {"loc": array(typed("string", "integer")), "msg": _TEXT, "type": _TEXT}, {"input": {}, "ctx": _OBJECT}
    ),
    "HTTPValidationError": record({}, {"detail": array(ref("ValidationError"))}),
}
