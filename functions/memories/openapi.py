"""Memories, described (seed; contract "memories")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.memories.add_routes import ROOT
from functions.memories.add_schemas import SCHEMAS, TEXT
from shared.http.openapi import Description, ErrorStyle, json_body, ok, operation, parameter, ref, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.http.openapi import Json

TAG = "Memories"
REPORT = ErrorStyle("Report", "FailureReport")
"""`shared.http.dialects.report`, described."""

EVERY_ERROR = (401, 403, 405, 422, 429, 503)
_IDEMPOTENCY = parameter(
    "header",
    "Idempotency-Key",
    typed("string", maxLength=255),
    "The same key answers with the same task for 24 hours; `metadata.idempotency_key` does as well",
)


def told(
    name: str, summary: str, *parameters: Json, errors: Iterable[int], answers: dict[str, str], body: str | None = None
) -> Json:
    """Return the description of an operation; `answers` has the schema of each status, `body` the body's."""
    responses = {status: ok(schema) for status, schema in answers.items()} | REPORT.refer(errors)
    sent = None if body is None else json_body(ref(body))
    return operation((name, summary), *parameters, tag=TAG, body=sent, responses=responses)


def _adding() -> dict[str, dict[str, Json]]:
    return {
        f"{ROOT}/add": {
            "post": told(
                "add_memories",
                "Add a conversation or code, to be learnt from",
                _IDEMPOTENCY,
                body="AddRequest",
                errors=(*EVERY_ERROR, 409, 413, 415),
                answers={"202": "AddAccepted", "200": "AddCompleted"},
            )
        },
        f"{ROOT}/add/status/{{task_id}}": {
            "get": told(
                "get_add_status",
                "How an add stands; for 24 hours after its end",
                parameter("path", "task_id", TEXT),
                errors=(401, 403, 404, 405, 422, 429, 503),
                answers={"200": "AddStatus"},
            )
        },
    }


DESCRIPTION = Description(TAG, _adding(), SCHEMAS, REPORT)
