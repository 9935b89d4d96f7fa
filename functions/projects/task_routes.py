"""Routes of tasks and the digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.projects.paths import ROOT, caller_of
from shared.http.answers import empty_answer, json_answer, text_answer
from shared.http.routing import new_router, request_of
from shared.http.validation import integer_in
from shared.kernel.preconditions import Preconditions
from shared.projects.models import task_id_of
from shared.projects.records import Address
from shared.projects.tasks import PAGE_TURNS

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.projects.digest import Digests
    from shared.projects.tasks import Tasks


def digest_routes(digests: Digests) -> Router:
    """Return the route of `project.md`."""
    router = new_router()

    @router.get(f"{ROOT}/project.md")
    def read_digest() -> Response[Any]:
        request = request_of(router)
        digest = digests.read(caller_of(request).scope, Preconditions.of(request.headers))
        if digest.text is None:
            return empty_answer(304, ETag=digest.etag)
        return text_answer(digest.text, "text/markdown; charset=utf-8", ETag=digest.etag)

    return router


def task_routes(tasks: Tasks) -> Router:
    """Return the routes of the task list, of one task, and of its delete."""
    router = new_router()

    @router.get(f"{ROOT}/tasks")
    def list_tasks() -> Response[Any]:
        request = request_of(router)
        limit = integer_in(request.query, "limit", within=(1, 200), default=50)
        return json_answer(tasks.newest(caller_of(request).scope, limit=limit, cursor=request.query.get("cursor")))

    @router.get(f"{ROOT}/tasks/<task_id>")
    def read_task(task_id: str) -> Response[Any]:
        request = request_of(router)
        address = Address(caller_of(request).scope, task_id_of(task_id))
        limit = integer_in(request.query, "limit", within=(1, PAGE_TURNS), default=PAGE_TURNS)
        return json_answer(tasks.read(address, limit=limit, cursor=request.query.get("cursor")))

    @router.delete(f"{ROOT}/tasks/<task_id>")
    def delete_task(task_id: str) -> Response[Any]:
        caller = caller_of(request_of(router))
        tasks.delete(Address(caller.scope, task_id_of(task_id)), caller)
        return empty_answer(204)

    return router
