"""HTTP as API Gateway's HTTP APIs hand it to a function, and back (payload format 2.0).

Where the developer guide is silent, this follows what was observed on the real thing:

- `rawPath` and the path parameters are percent-*decoded* (and so is the path that routes are matched against: `%2F`
  separates), and a decoded `?` ends the path; `rawQueryString` is untouched (honojs/hono#2156,
  aws-powertools/powertools-lambda-python#1098, middleapi/standard-server#93, aws/aws-lambda-dotnet#1901).
- A body is text only for `text/*`, `application/json`, `application/xml` and `application/javascript`; any other, a
  form's and one without a type too, travels in base64 (ministackorg/ministack#766).
"""

from __future__ import annotations

import base64
import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from infra.local.stack import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TEXT = re.compile(r"(text/[^;]*|application/(json|xml|javascript))\s*(;.*)?", re.IGNORECASE | re.DOTALL)
HEADER_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
HEADER_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "trailer", "content-length"})

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Request:
    """One HTTP request as it came; `raw_path` is still encoded."""

    method: str
    raw_path: str
    query: str
    headers: Headers
    body: bytes
    client: str = "127.0.0.1"
    protocol: str = "HTTP/1.1"

    @property
    def path(self) -> str:
        """The path that routes are matched against."""
        return unquote(self.raw_path).partition("?")[0]


@dataclass(frozen=True)
class Routed:
    """Where a request went: the route's key, its path parameters, the stage and the gateway's request id."""

    route_key: str
    parameters: Mapping[str, str]
    stage: str
    request_id: str


def event_of(request: Request, routed: Routed) -> dict[str, Any]:
    """Return the event for a request."""
    headers, cookies = _folded(request.headers)
    headers.setdefault("x-forwarded-for", request.client)
    headers.setdefault("x-forwarded-proto", "http")
    body, encoded = _body(request.body, headers.get("content-type", ""))
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": routed.route_key,
        "rawPath": _staged(request.path, routed.stage),
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _context(request, routed, headers),
        "isBase64Encoded": encoded,
    }
    if cookies:
        event["cookies"] = cookies
    if query := _folded_query(request.query):
        event["queryStringParameters"] = query
    if routed.parameters:
        event["pathParameters"] = dict(routed.parameters)
    if request.body:
        event["body"] = body
    return event


def _staged(path: str, stage: str) -> str:
    return path if stage == "$default" else f"/{stage}{path}"


def _context(request: Request, routed: Routed, headers: Mapping[str, str]) -> dict[str, Any]:
    now = time.time()
    host = headers.get("host", "localhost")
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": host,
        "domainPrefix": host.partition(".")[0],
        "http": {
            "method": request.method,
            "path": _staged(request.path, routed.stage),
            "protocol": request.protocol,
            "sourceIp": request.client,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": routed.request_id,
        "routeKey": routed.route_key,
        "stage": routed.stage,
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "timeEpoch": int(now * 1000),
    }


def _folded(headers: Headers) -> tuple[dict[str, str], list[str]]:
    folded: dict[str, str] = {}
    cookies: list[str] = []
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name == "cookie":
            cookies += [cookie.strip() for cookie in value.split(";")]
        else:
            folded[name] = f"{folded[name]},{value}" if name in folded else value
    return folded, cookies


def _folded_query(query: str) -> dict[str, str]:
    folded: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        folded[name] = f"{folded[name]},{value}" if name in folded else value
    return folded


def _body(body: bytes, content_type: str) -> tuple[str, bool]:
    if TEXT.fullmatch(content_type):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass  # what API Gateway makes of it is not documented; the function gets the bytes
    return base64.b64encode(body).decode(), bool(body)


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `length` is the entity's, which for HEAD is not that of the body."""

    status: int
    headers: Headers
    body: bytes
    length: int | None = None


class MalformedAnswer(Exception):
    """The function returned what API Gateway can't turn into HTTP."""


def answer_of(result: Any, request_id: str) -> Answer:
    """Turn a function's result into HTTP, as API Gateway does; a result without `statusCode` is a 200 of JSON.

    Raises:
        MalformedAnswer: API Gateway answers 500 to it.
    """
    if not isinstance(result, dict) or "statusCode" not in result:
        text = result if isinstance(result, str) else json.dumps(result)
        result = {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": text}
    try:
        status, body = int(result["statusCode"]), _bytes(result)
        given = {str(name).lower(): _header_text(value) for name, value in (result.get("headers") or {}).items()}
        cookies = [(b"set-cookie", cookie.encode("latin-1")) for cookie in result.get("cookies") or ()]
        headers = [(k.encode("ascii"), v.encode("latin-1")) for k, v in given.items() if k not in HOP_BY_HOP]
        _check_writable(status, [*headers, *cookies])
    except (TypeError, ValueError, UnicodeError, AttributeError) as error:
        raise MalformedAnswer(str(error)) from error
    length = given.get("content-length")
    if body and "content-type" not in given:
        headers.append((b"content-type", b"text/plain; charset=utf-8"))
    headers += [*cookies, (b"apigw-requestid", request_id.encode())]
    return Answer(status, headers, body, int(length) if length and length.isdigit() else None)


def _check_writable(status: int, headers: Headers) -> None:
    if not 200 <= status <= 599:
        raise ValueError(f"{status} is not a status")
    for name, value in headers:
        if not HEADER_NAME.fullmatch(name) or HEADER_CONTROL.search(value):
            raise ValueError(f"the header {name!r} can't be sent")


def _bytes(result: Mapping[str, Any]) -> bytes:
    body = result.get("body")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    return base64.b64decode(text, validate=True) if result.get("isBase64Encoded") else text.encode()


def _header_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def message_answer(status: int, message: str, extra: Iterable[tuple[bytes, bytes]] = ()) -> Answer:
    """Return an answer that API Gateway gives by itself."""
    body = json.dumps({"message": message}).encode()
    return Answer(status, [(b"content-type", b"application/json"), *extra], body)
