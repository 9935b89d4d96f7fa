"""The HTTP API on this machine: an ASGI app that turns requests into events and a function's results into answers."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.local.events import Answer, MalformedAnswer, Request, Routed, answer_of, event_of, message_answer
from infra.local.instances import FunctionFailed, FunctionTimedOut
from shared.http.dialects import meta_of
from shared.http.request import Request as SurfaceRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from infra.local.instances import Instances
    from infra.local.presigned import PresignedObjects
    from infra.local.routes import Routes

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BODY_BYTES = 50 << 20
DRAIN_SECONDS = 2.0
PRESIGNED = "/_s3/"
PROJECT_MEMORY = "/sandbox/memory/v1"
MEMORIES = ("/v1/memories", "/v1/files")


class BodyTooLarge(Exception):
    """The body is over the limit; `unread` says whether some of it is still to come."""


class ClientLeft(Exception):
    """The connection ended before the request did."""


@dataclass(frozen=True)
class Gateway:
    """The app: routes to functions, and the objects that presigned URLs name."""

    routes: Routes[Instances]
    stage: str
    presigned: PresignedObjects | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        try:
            body = await read_body(scope, receive)
        except BodyTooLarge:
            await refuse(scope, receive, send)
            return
        except ClientLeft:
            return
        request = Request(
            method=scope["method"],
            raw_path=scope["raw_path"].decode("latin-1"),
            query=scope["query_string"].decode("latin-1"),
            headers=scope["headers"],
            body=body,
            client=(scope.get("client") or ("127.0.0.1",))[0],
            protocol=f"HTTP/{scope['http_version']}",
        )
        await send_answer(request.method, await self.answer(request), send)

    async def answer(self, request: Request) -> Answer:
        """Answer one request."""
        if self.presigned is not None and request.raw_path.startswith(PRESIGNED):
            return await asyncio.to_thread(self.presigned.answer, request)
        found = self.routes.find(request.method, request.path)
        request_id = uuid.uuid4().hex[:16]
        if found is None:
            return message_answer(404, "Not Found", [(b"apigw-requestid", request_id.encode())])
        event = event_of(request, Routed(found.route_key, found.parameters, self.stage, request_id))
        try:
            return answer_of(await found.target.invoke(event), request_id)
        except FunctionTimedOut:
            return message_answer(503, "Service Unavailable")
        except (FunctionFailed, MalformedAnswer):
            return message_answer(500, "Internal Server Error")


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Return the whole body.

    Raises:
        BodyTooLarge: by its Content-Length, before any of it is read, or as soon as that much has come.
        ClientLeft: it never came.
    """
    if declared_length(scope) > BODY_BYTES:
        raise BodyTooLarge
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > BODY_BYTES:
            raise BodyTooLarge
        if not message.get("more_body"):
            return b"".join(pieces)


def declared_length(scope: Scope) -> int:
    """Return the Content-Length, or 0."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 413 and close the connection, so that nothing of the body is ever read as a request.

    Closing while the client still sends would take the answer from it (a reset), so what comes is read and dropped for
    a moment first; a client that waits for `100 Continue` sends nothing.
    """
    answer = too_large(scope["path"], {name.decode(): value.decode("latin-1") for name, value in scope["headers"]})
    headers = [*answer.headers, (b"content-length", str(len(answer.body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if scope["method"] != "HEAD":
        await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    if not any(name == b"expect" for name, _ in scope["headers"]):
        with suppress(TimeoutError):
            await asyncio.wait_for(_drain(receive), DRAIN_SECONDS)
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    while (await receive()).get("more_body"):
        pass


def too_large(path: str, headers: Mapping[str, str]) -> Answer:
    """Return the 413 of the surface that `path` belongs to, with the two ids of every answer."""
    ids = SurfaceRequest({"headers": headers})
    text = f"The body is over {BODY_BYTES} bytes."
    if path.startswith(PROJECT_MEMORY):
        told: dict[str, Any] = {"detail": text}
    elif path.startswith(MEMORIES):
        ids.request_id = str(uuid.uuid4())
        told = {"success": False, "error": {"code": "too_large", "message": text}, "meta": meta_of(ids)}
    else:
        error = {"type": "request_too_large", "message": text}
        told = {"type": "error", "error": error, "request_id": ids.request_id}
    named = {"content-type": "application/json", "request-id": ids.request_id, "x-correlation-id": ids.correlation_id}
    return Answer(413, [(n.encode(), v.encode()) for n, v in named.items()], json.dumps(told).encode())


async def send_answer(method: str, answer: Answer, send: Send) -> None:
    """Send an answer; to HEAD with the length of the entity and no body."""
    is_head = method == "HEAD"
    headers = list(answer.headers)
    if answer.status not in {204, 304} and answer.status >= 200:
        length = answer.length if is_head and answer.length is not None else len(answer.body)
        headers.append((b"content-length", str(length).encode()))
    bodiless = is_head or answer.status in {204, 304}
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if bodiless else answer.body})
