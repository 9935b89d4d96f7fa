"""Routes that need no key: is it up, is it ready, how is it used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.platform import documents
from functions.platform.version import VERSION
from shared.http.answers import json_answer, text_answer
from shared.http.routing import new_router

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.wiring.readiness import Readiness

HEALTH = "/health"
READY = "/ready"
OPENAPI_JSON = "/openapi.json"
OPENAPI_YAML = "/openapi.yaml"
DOCS = "/docs"
OPEN = frozenset({HEALTH, READY, OPENAPI_JSON, OPENAPI_YAML, DOCS})
"""The paths that need no key."""

_AN_HOUR = "public, max-age=3600"


def health_routes(readiness: Readiness, version: str) -> Router:
    """Return the routes that tell whether the function runs and what it rests on answers."""
    router = new_router()

    @router.get(HEALTH)
    def health() -> Response[Any]:
        return json_answer({"status": "ok", "version": version or VERSION}, Cache_Control="no-store")

    @router.get(READY)
    def ready() -> Response[Any]:
        states = readiness.states()
        up = all(state == "ok" for state in states.values())
        shown = [{"name": name, "status": state} for name, state in states.items()]
        answer = {"status": "ok" if up else "unavailable", "dependencies": shown}
        return json_answer(answer, 200 if up else 503, Cache_Control="no-store")

    return router


def document_routes() -> Router:
    """Return the routes of the API's document and of the page to read it."""
    router = new_router()

    @router.get(OPENAPI_JSON)
    def openapi_json() -> Response[Any]:
        return text_answer(documents.openapi_json(), "application/json", Cache_Control=_AN_HOUR)

    @router.get(OPENAPI_YAML)
    def openapi_yaml() -> Response[Any]:
        return text_answer(documents.openapi_yaml(), "application/yaml", Cache_Control=_AN_HOUR)

    @router.get(DOCS)
    def docs() -> Response[Any]:
        headers = {"Cache_Control": _AN_HOUR, "Content_Security_Policy": documents.PAGE_POLICY}
        return text_answer(documents.page(), "text/html; charset=utf-8", 200, **headers)

    return router
