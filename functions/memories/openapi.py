"""Memories, described (seed; contract "memories")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.memories import file_openapi, reading_schemas
from functions.memories.add_routes import ROOT
from functions.memories.add_schemas import SCHEMAS, TEXT
from functions.memories.describing import EVERY_ERROR, REPORT, TAG, told
from functions.memories.reading_openapi import reading
from shared.http.openapi import Description, parameter, typed

if TYPE_CHECKING:
    from shared.http.openapi import Json

_IDEMPOTENCY = parameter(
    "header",
    "Idempotency-Key",
    typed("string", maxLength=255),
    "The same key answers with the same task for 24 hours; `metadata.idempotency_key` does as well",
)


def _adding() -> dict[str, dict[str, Json]]:
    return {
        f"{ROOT}/add": {
            "post": told(
                "add_memories",
                "Add a conversation or code, with images and documents, to be learnt from",
                _IDEMPOTENCY,
                body="AddRequest",
                errors=(*EVERY_ERROR, 404, 409, 413, 415),
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


_PATHS = {**_adding(), **reading(), **file_openapi.filing()}
_SCHEMAS = {**SCHEMAS, **reading_schemas.SCHEMAS, **file_openapi.SCHEMAS}

DESCRIPTION = Description(TAG, _PATHS, _SCHEMAS, REPORT)
