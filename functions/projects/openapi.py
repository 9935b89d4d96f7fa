"""Project memory, described: the seed document's operations and shapes, and what we add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.projects.schemas import SCHEMAS
from shared.http.openapi import (
    Description,
    ErrorStyle,
    answer,
    json_body,
    ok,
    operation,
    parameter,
    ref,
    typed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.http.openapi import Json

ROOT = "/sandbox/memory/v1"
ERRORS = ErrorStyle("Detail", "ErrorDetail", {422: "HTTPValidationError"})
TAG = "Project memory"
_EVERY_ERROR = (401, 403, 405, 422, 429, 503)
_BELOW_A_PATH = (*_EVERY_ERROR, 404)
_WRITE_ERRORS = (*_BELOW_A_PATH, 409)
_ARTIFACT_HEADERS = (
    "ETag",
    "Accept-Ranges",
    "Last-Modified",
    "Content-Disposition",
    "X-Content-Type-Options",
)

_TEXT = typed("string")
_BYTES: Json = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_ANY_BYTES: Json = {"*/*": {"schema": {"type": "string", "format": "binary"}}}

_TASK = parameter(
    "path",
    "task_id",
    typed("string", pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"),
    "Task id: [A-Za-z0-9][A-Za-z0-9._-]{0,127}",
)
_TURN = parameter(
    "path", "turn", typed("integer", minimum=0, maximum=9999), "Turn number (stored zero-padded, 0000-9999)"
)
_NAME = parameter(
    "path",
    "name",
    typed("string", pattern=r"^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$"),
    "Artifact name: [A-Za-z0-9._-]{1,128}, but not `.` or `..`",
)
_LIMIT = parameter("query", "limit", typed("integer", minimum=1, maximum=200, default=50))
_TURNS_LIMIT = parameter("query", "limit", typed("integer", minimum=1, maximum=200, default=200), "Turns a page")
_CURSOR = parameter("query", "cursor", _TEXT, "The `next_cursor` of the page before")
_IF_MATCH = parameter("header", "If-Match", _TEXT, "Do it only if this is the ETag of what is there")
_IF_NONE_MATCH = parameter("header", "If-None-Match", _TEXT, "`*`: only if nothing is there")
_IF_CHANGED = parameter("header", "If-None-Match", _TEXT, "304 if this is still its ETag")
_RANGE = parameter("header", "Range", _TEXT, "`bytes=0-99`: one range of bytes")
_IF_RANGE = parameter("header", "If-Range", _TEXT, "Heed `Range` only if this is still its ETag")


def _operation(
    name: str,
    summary: str,
    *parameters: Json,
    errors: Iterable[int],
    body: Json | None = None,
    **answers: Json,
) -> Json:
    responses = {status.lstrip("_"): told for status, told in answers.items()} | ERRORS.refer(errors)
    return operation((name, summary), *parameters, tag=TAG, body=body, responses=responses)


_UNCHANGED = answer("It has not changed", headers=("ETag",))
_TURN_PATH = f"{ROOT}/tasks/{{task_id}}/turns/{{turn}}"
_ARTIFACT_PATH = f"{_TURN_PATH}/artifacts/{{name}}"
_PUT_ERRORS = (*_WRITE_ERRORS, 412, 413, 415)


def _tasks() -> dict[str, dict[str, Json]]:
    markdown: dict[str, Any] = {"text/markdown": {"schema": _TEXT}}
    return {
        f"{ROOT}/project.md": {
            "get": _operation(
                "read_digest",
                "Project digest: one section per task with its latest summary",
                _IF_CHANGED,
                errors=_EVERY_ERROR,
                _200=answer("Successful Response", markdown, headers=("ETag",)),
                _304=_UNCHANGED,
            )
        },
        f"{ROOT}/tasks": {
            "get": _operation(
                "list_tasks",
                "List tasks in project memory (most recently updated first)",
                _LIMIT,
                _CURSOR,
                errors=_EVERY_ERROR,
                _200=ok("TaskList"),
            )
        },
        f"{ROOT}/tasks/{{task_id}}": {
            "get": _operation(
                "read_task",
                "Task index: turns, meta, artifact names",
                _TASK,
                _TURNS_LIMIT,
                _CURSOR,
                errors=_BELOW_A_PATH,
                _200=ok("TaskIndex"),
            ),
            "delete": _operation(
                "delete_task",
                "Delete a task's memory (owner, or project_admin and above)",
                _TASK,
                errors=_WRITE_ERRORS,
                _204=answer("Gone from every answer"),
            ),
        },
    }


def _turns() -> dict[str, dict[str, Json]]:
    where, body = (_TASK, _TURN), json_body(ref("PutTurnRequest"))
    return {
        _TURN_PATH: {
            "get": _operation(
                "read_turn",
                "One turn: meta, summary, artifact list",
                *where,
                _IF_CHANGED,
                errors=_BELOW_A_PATH,
                _200=ok("TurnRecord", "ETag"),
                _304=_UNCHANGED,
            ),
            "put": _operation(
                "put_turn",
                "Upsert one turn's meta + summary; refreshes the task index and project.md",
                *where,
                _IF_MATCH,
                _IF_NONE_MATCH,
                body=body,
                errors=_PUT_ERRORS,
                _200=ok("TurnRecord", "ETag"),
            ),
            "patch": _operation(
                "patch_turn",
                "Change only what is given: meta key by key, the summary as a whole",
                *where,
                _IF_MATCH,
                _IF_NONE_MATCH,
                body=body,
                errors=_PUT_ERRORS,
                _200=ok("TurnRecord", "ETag"),
            ),
        }
    }


def _artifacts() -> dict[str, dict[str, Json]]:
    where = (_TASK, _TURN, _NAME)
    return {
        _ARTIFACT_PATH: {
            "get": _operation(
                "read_artifact",
                "Download a turn artifact (stored Content-Type)",
                *where,
                _IF_CHANGED,
                _RANGE,
                _IF_RANGE,
                errors=(*_BELOW_A_PATH, 416),
                _200=answer("Its bytes", _ANY_BYTES, headers=_ARTIFACT_HEADERS),
                _206=answer("A range of them", _ANY_BYTES, headers=(*_ARTIFACT_HEADERS, "Content-Range")),
                _302=answer("They are too many to go through the gateway", headers=("ETag", "Location")),
                _304=_UNCHANGED,
            ),
            "head": _operation(
                "describe_artifact",
                "What GET would answer, without the bytes",
                *where,
                _IF_CHANGED,
                errors=_BELOW_A_PATH,
                _200=answer("It exists", headers=_ARTIFACT_HEADERS),
                _304=_UNCHANGED,
            ),
            "put": _operation(
                "put_artifact",
                "Store a turn artifact (raw body, Content-Type kept, max 50 MiB)",
                *where,
                _IF_MATCH,
                _IF_NONE_MATCH,
                body={"required": True, "content": _BYTES},
                errors=(*_WRITE_ERRORS, 412, 413),
                _200=ok("ArtifactRecord", "ETag"),
            ),
        }
    }


def _uploads() -> dict[str, dict[str, Json]]:
    where = (_TASK, _TURN, _NAME)
    return {
        f"{_ARTIFACT_PATH}/upload": {
            "post": _operation(
                "start_upload",
                "Get a URL to PUT an artifact's bytes to, for what is too large to go through the gateway",
                *where,
                body=json_body(ref("UploadRequest")),
                errors=(*_BELOW_A_PATH, 413, 415),
                _200=ok("UploadTicket"),
            )
        },
        f"{_ARTIFACT_PATH}/complete": {
            "post": _operation(
                "complete_upload",
                "Check the bytes that were put, and make them the artifact",
                *where,
                _IF_MATCH,
                _IF_NONE_MATCH,
                body=json_body(ref("CompleteRequest")),
                errors=_PUT_ERRORS,
                _200=ok("ArtifactRecord", "ETag"),
            )
        },
    }


DESCRIPTION = Description(TAG, {**_tasks(), **_turns(), **_artifacts(), **_uploads()}, SCHEMAS, ERRORS)
