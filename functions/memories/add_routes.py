"""Routes of adding: accept, wait for or do the work, and tell how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from functions.memories.answers import success
from functions.memories.bodies import add_body
from shared.http.answers import json_answer
from shared.http.routing import new_router, request_of
from shared.kernel.errors import Conflict, InvalidInput, LodestoreError, Unauthenticated, Unavailable
from shared.kernel.strict_json import compact
from shared.memories.accepting import Accepted, Accepting, Wanted
from shared.memories.balances import shown
from shared.memories.events import events_of
from shared.memories.files.sending import jobs_of
from shared.memories.records import UserAddress, task_key
from shared.memories.status import attached_view, status_view
from shared.tenancy.models import Admitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from functions.memories.bodies import AddBody, Deployed
    from shared.aws.items import Item, Key
    from shared.http.request import Request
    from shared.memories.backing import Backing
    from shared.memories.tasks import Tasks

ROOT = "/v1/memories"
EVENTS_BYTES = 4_400_000
"""Events of more bytes would, in base64, not fit into Lambda's 6 MB; such a task is told of by its status alone."""


@dataclass(frozen=True)
class Adding:
    """What the routes close over; `run` does a task in this thread, or is None where that is not allowed."""

    backing: Backing
    accepting: Accepting
    tasks: Tasks
    deployed: Deployed
    body_bytes: int
    run: Callable[[Key], None] | None

    def add(self, request: Request) -> Response[Any]:
        """Accept a request, and answer 202; or 200 if the caller waits and it is done by then."""
        caller = admitted(request)
        body = add_body(request.json_within(self.body_bytes), request.headers, self.deployed)
        if not body.in_background and self.run is None:
            message = "async_mode false is not served in production: add with async_mode true, and ask for the status"
            raise InvalidInput.at("body", "async_mode", message=message, type_="combination")
        address = UserAddress(caller.scope, body.add.user_id)
        accepted = self.accepting.accept(_wanted(body, address, caller, correlation_id=request.correlation_id))
        try:
            told = self._completed(accepted, self._end_of(accepted, body, address), caller)
        except Unavailable:
            if not body.in_background:
                raise
            told = None  # it is accepted: who is told to try again would have it done twice
        if told is None:
            return success(request, _told(accepted, "accepted", None), 202)
        return success(request, told)

    def status(self, request: Request, task_id: str) -> Response[Any]:
        """Answer how a task stands, with each of its files and images."""
        task = self.tasks.read(admitted(request).scope, task_id)
        return json_answer(status_view(task, jobs_of(self.backing.table, task)))

    def _completed(self, accepted: Accepted, task: Item | None, caller: Admitted) -> dict[str, Any] | None:
        """Return what is told of a task that has succeeded, with all that it changed; None where that can't be told."""
        if task is None or task["status"] != "success":
            return None
        jobs = jobs_of(self.backing.table, task)
        events = events_of(self.backing, task, jobs)
        if len(compact(events).encode()) > EVENTS_BYTES:
            return None
        told = _told(self.accepting.ended(accepted, caller.key), "completed", events)
        # A file may have failed though its task has not.
        attached = attached_view(task, jobs)
        return {**told, **{name: attached[name] for name in ("files", "images") if name in attached}}

    def _end_of(self, accepted: Accepted, body: AddBody, address: UserAddress) -> Item | None:
        if body.in_background or self.run is None:
            return self.tasks.ended_within(address.scope, accepted.task_id, body.wait) if body.wait else None
        self.run(task_key(address.scope, accepted.task_id))
        task = self.tasks.read(address.scope, accepted.task_id)
        if task["status"] == "failed":
            raise _failure(task)
        return task


def add_routes(adding: Adding) -> Router:
    """Return the routes of adding."""
    router = new_router()

    @router.post(f"{ROOT}/add")
    def add_memories() -> Response[Any]:
        return adding.add(request_of(router))

    @router.get(f"{ROOT}/add/status/<task_id>")
    def get_add_status(task_id: str) -> Response[Any]:
        return adding.status(request_of(router), task_id.lower())

    return router


def admitted(request: Request) -> Admitted:
    """Return who asks, with the key that admitted them."""
    if not isinstance(request.caller, Admitted):
        raise Unauthenticated("Send an API key.")
    return request.caller


def _wanted(body: AddBody, address: UserAddress, caller: Admitted, *, correlation_id: str) -> Wanted:
    return Wanted(
        address,
        body.add.by(caller.key_id),
        caller.key,
        correlation_id,
        idempotency_key=body.idempotency_key,
        queued=body.in_background,
        attachments=body.attachments,
        check=body.references.check,
    )


def _failure(task: Item) -> LodestoreError:
    """Return what a caller is told of a task that failed while they waited in the request."""
    error, details = task["error"], {"task_id": task["task"]}
    if error["code"] == "dependency_unavailable":
        return Unavailable(error["message"], code=error["code"], details=details)
    kind = Conflict if error["code"] == "erased" else LodestoreError
    return kind(error["message"], code=error["code"], details=details)


def _told(accepted: Accepted, status: str, events: Any) -> dict[str, Any]:
    return {"task_id": accepted.task_id, "status": status, "data": events, "balances": shown([accepted.balance])}
