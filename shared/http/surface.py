"""One HTTP surface: admission, dispatch, errors in its dialect, headers of every answer, one log line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from shared.aws.clients import calls_made
from shared.http.dialects import status_of
from shared.http.request import Request, prefixed_id
from shared.http.routing import resolver_of
from shared.kernel.errors import LodestoreError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.http.dialects import Dialect
    from shared.http.telemetry import Telemetry
    from shared.kernel.scope import Caller

    Admit = Callable[[Request], Caller | None]
    NewId = Callable[[], str]


class Surface:
    """A callable Lambda handler. One instance answers one event at a time, as Lambda has it.

    `admit` returns the caller of a request, or None for what needs no credential; `new_id` makes a request's id.
    """

    def __init__(
        self,
        routers: Iterable[Router],
        *,
        dialect: Dialect,
        admit: Admit,
        telemetry: Telemetry,
        new_id: NewId = prefixed_id,
    ) -> None:
        self._resolver = resolver_of(routers)
        self._dialect = dialect
        self._admit = admit
        self._new_id = new_id
        self._telemetry = telemetry
        self._resolver.exception_handler(LodestoreError)(self._render)

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Answer one API Gateway v2 event."""
        request, started, made = Request(event, self._new_id()), time.perf_counter(), list[str]()
        token = calls_made.set(made)
        try:
            answer = self._answer(request, context)
        finally:
            calls_made.reset(token)
        answer["headers"]["request-id"] = request.request_id
        answer["headers"]["x-correlation-id"] = request.correlation_id
        self._telemetry.note(request, answer["statusCode"], (time.perf_counter() - started) * 1000, calls=made)
        return answer

    def _answer(self, request: Request, context: Any) -> dict[str, Any]:
        self._request = request
        try:
            request.caller = self._admit(request)
            self._resolver.append_context(request=request)  # type: ignore[no-untyped-call]
            return self._resolver.resolve(request.event, context)
        except LodestoreError as error:
            return _plain(self._render(error))
        except Exception:  # noqa: BLE001 - the last resort: a bug answers in our shape and is logged, never with its text
            self._telemetry.bug(request)
            return _plain(self._render(_Bug("Something went wrong on our side.")))

    def _render(self, error: LodestoreError) -> Response[Any]:
        request = self._request
        if isinstance(error, Unavailable) or status_of(error) >= 500:
            self._telemetry.failed(request, error)
        return self._dialect(error, request)


class _Bug(LodestoreError):
    """What a caller sees of an error that is ours."""


def _plain(response: Response[Any]) -> dict[str, Any]:
    headers = {"Content-Type": response.content_type, **response.headers}
    return {
        "statusCode": response.status_code,
        "headers": headers,
        "body": response.body,
        "isBase64Encoded": False,
    }
