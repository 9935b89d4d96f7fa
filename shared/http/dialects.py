"""How each surface says an error: one table from error to status, one renderer a dialect."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from shared.http.answers import json_answer
from shared.kernel import errors
from shared.kernel.clock import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response

    from shared.http.request import Request

    Dialect = Callable[[errors.LodestoreError, Request], Response[Any]]

_INPUT_SHOWN = 500

STATUS: dict[type[errors.LodestoreError], int] = {
    errors.InvalidInput: 422,
    errors.Unauthenticated: 401,
    errors.PermissionDenied: 403,
    errors.NotFound: 404,
    errors.PreconditionFailed: 412,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.UnsupportedType: 415,
    errors.RangeNotSatisfiable: 416,
    errors.RateLimited: 429,
    errors.Unavailable: 503,
}
_ENVELOPE_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "request_too_large",
    415: "invalid_request_error",
    429: "rate_limit_error",
}
_REPORT_CODES = {
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "precondition_failed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid_request",
    429: "rate_limited",
    503: "unavailable",
}


class MethodNotAllowed(errors.LodestoreError):
    """The path exists, the verb does not; `allow` names those that do."""

    def __init__(self, allow: str) -> None:
        super().__init__("Method Not Allowed")
        self.allow = allow


STATUS[MethodNotAllowed] = 405


def detail(error: errors.LodestoreError, _: Request) -> Response[Any]:
    """Render `{"detail": …}`, a list of `loc`, `msg`, `type`, `input` for broken rules (project memory's seed)."""
    shown: Any = error.message
    if isinstance(error, errors.InvalidInput):
        shown = [_violation(v) for v in error.violations]
    return json_answer({"detail": shown}, status_of(error), **_headers(error))


def envelope(error: errors.LodestoreError, request: Request) -> Response[Any]:
    """Render `{"type":"error","error":{type,message,…},"request_id"}`; a broken rule is 400 here (memory stores)."""
    status = status_of(error)
    status = 400 if status == 422 else status
    kind = error.details.get("type") or _ENVELOPE_TYPES.get(status, "api_error")
    told = {"type": kind, "message": error.message, **{k: v for k, v in error.details.items() if k != "type"}}
    body = {"type": "error", "error": told, "request_id": request.request_id}
    return json_answer(body, status, **_headers(error))


def report(error: errors.LodestoreError, request: Request) -> Response[Any]:
    """Render `{"success":false,"error":{code,message,hint?,details?},"meta"}` (memories' seed, Error Handling)."""
    status = status_of(error)
    told = {"code": _REPORT_CODES.get(status, "internal_error"), "message": error.message, **error.details}
    if isinstance(error, errors.InvalidInput):
        told["details"] = [_named_violation(v) for v in error.violations]
    body = {"success": False, "error": told, "meta": meta_of(request)}
    return json_answer(body, status, **_headers(error))


def meta_of(request: Request) -> dict[str, str]:
    """Return what every answer of memories says of its request: its id, and when it was answered."""
    return {"request_id": request.request_id, "timestamp": rfc3339(time.time_ns() // 1_000_000)}


def status_of(error: errors.LodestoreError) -> int:
    """Return the status of an error, 500 for one that has none."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _headers(error: errors.LodestoreError) -> dict[str, str]:
    if isinstance(error, errors.RateLimited | errors.Unavailable):
        return {"Retry_After": str(error.retry_after)}
    if isinstance(error, errors.Unauthenticated):
        return {"WWW_Authenticate": "Bearer"}
    if isinstance(error, errors.RangeNotSatisfiable):
        return {"Content_Range": f"bytes */{error.size}"}
    return {"Allow": error.allow} if isinstance(error, MethodNotAllowed) else {}


def _violation(violation: errors.Violation) -> dict[str, Any]:
    told: dict[str, Any] = {"loc": list(violation.loc), "msg": violation.message, "type": violation.type}
    # What was refused is shown back only when that helps: never a megabyte, never what JSON can't say.
    try:
        text = json.dumps(violation.input, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError):
        return told
    return told | ({"input": violation.input} if len(text) <= _INPUT_SHOWN else {})


def _named_violation(violation: errors.Violation) -> dict[str, Any]:
    where = violation.loc[1:] if violation.loc[:1] == ("body",) else violation.loc
    told = _violation(violation)
    if violation.input is None:  # it was not kept, and need not have been null
        told.pop("input", None)
    return {"field": _path(where) or "body", "message": told.pop("msg"), **told}


def _path(loc: tuple[str | int, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc]
    return "".join(parts).removeprefix(".")
