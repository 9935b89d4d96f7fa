"""Words in which memories are described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.http.openapi import ErrorStyle, json_body, ok, operation, ref

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.http.openapi import Json

TAG = "Memories"
REPORT = ErrorStyle("Report", "FailureReport")
"""`shared.http.dialects.report`, described."""

EVERY_ERROR = (401, 403, 405, 422, 429, 503)


def told(
    name: str, summary: str, *parameters: Json, errors: Iterable[int], answers: dict[str, str], body: str | None = None
) -> Json:
    """Return the description of an operation; `answers` has the schema of each status, `body` the body's."""
    responses = {status: ok(schema) for status, schema in answers.items()} | REPORT.refer(errors)
    sent = None if body is None else json_body(ref(body))
    return operation((name, summary), *parameters, tag=TAG, body=sent, responses=responses)
