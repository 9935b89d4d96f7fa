"""Routes of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.projects.paths import TURN, address_of, caller_of
from shared.http.answers import empty_answer, json_answer
from shared.http.routing import new_router, request_of
from shared.kernel.preconditions import Preconditions
from shared.projects.content import Content
from shared.projects.models import META_BYTES, SUMMARY_BYTES, checked_meta, checked_summary, turn_body

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.http.request import Request
    from shared.projects.turns import Turns

BODY_BYTES = 6 * (SUMMARY_BYTES + META_BYTES) + 4096
"""JSON may write every character of both as an escape of six."""


def turn_routes(turns: Turns) -> Router:
    """Return the routes that read, put and patch one turn."""
    router = new_router()

    @router.get(TURN)
    def read_turn(task_id: str, turn: str) -> Response[Any]:
        request = request_of(router)
        record, etag = turns.read(address_of(request, task_id, turn))
        if Preconditions.of(request.headers).not_modified(etag):
            return empty_answer(304, ETag=etag)
        return json_answer(record, ETag=etag)

    @router.put(TURN)
    def put_turn(task_id: str, turn: str) -> Response[Any]:
        request = request_of(router)
        address = address_of(request, task_id, turn)
        content = _content(_body(request), Content({}, ""))
        principal = caller_of(request).principal
        record, etag = turns.put(address, principal, content, preconditions=Preconditions.of(request.headers))
        return json_answer(record, ETag=etag)

    @router.patch(TURN)
    def patch_turn(task_id: str, turn: str) -> Response[Any]:
        request = request_of(router)
        address, body = address_of(request, task_id, turn), _body(request)
        principal = caller_of(request).principal
        conditions = Preconditions.of(request.headers)
        record, etag = turns.patch(address, principal, lambda before: _content(body, before), preconditions=conditions)
        return json_answer(record, ETag=etag)

    return router


def _body(request: Request) -> dict[str, Any]:
    """Return the validated body, as it came."""
    body = turn_body(request.json_within(BODY_BYTES))
    checked_meta(body.get("meta", {}))
    checked_summary(body.get("summary_md", ""))
    return body


def _content(body: dict[str, Any], before: Content) -> Content:
    """Return what a turn says after `body`: meta merged key by key, the summary replaced if one is given."""
    meta = checked_meta({**before.meta, **body.get("meta", {})})
    return Content(meta, body.get("summary_md", before.summary))
