"""API Gateway v2 events, as the gateway makes them, and a client that sends them to a handler."""

from __future__ import annotations

import base64
import json
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

CONTEXT = SimpleNamespace(
    function_name="test",
    memory_limit_in_mb=512,
    invoked_function_arn="arn:aws:lambda:eu-central-1:123456789012:function:test",
    aws_request_id="00000000-0000-0000-0000-000000000000",
    get_remaining_time_in_millis=lambda: 600_000,
)
_TEXT = ("text/", "application/json", "application/xml", "application/javascript")


def event(
    method: str,
    path: str,
    *,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> dict[str, Any]:
    """Return the event of one request; a body that is not text travels in base64, as the gateway has it."""
    named = {name.lower(): value for name, value in (headers or {}).items()}
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": query,
        "headers": named,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "test",
            "domainName": "test",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "t"},
            "requestId": str(uuid.uuid4()),
            "routeKey": "ANY /{proxy+}",
            "stage": "$default",
            "timeEpoch": 1_700_000_000_000,
        },
        "isBase64Encoded": False,
    }
    if body:
        text = named.get("content-type", "").startswith(_TEXT)
        try:
            made["body"] = body.decode() if text else base64.b64encode(body).decode()
            made["isBase64Encoded"] = not text
        except UnicodeDecodeError:
            made["body"], made["isBase64Encoded"] = base64.b64encode(body).decode(), True
    return made


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def etag(self) -> str:
        return self.headers["etag"]


_answering: set[int] = set()


@contextmanager
def _alone(handler: Any) -> Iterator[None]:
    """Hold tests to what Lambda does: an instance answers one request at a time; others need one of their own."""
    if id(handler) in _answering:
        pytest.fail("This instance is answering another request: make one for each that come at the same time.")
    _answering.add(id(handler))
    try:
        yield
    finally:
        _answering.discard(id(handler))


@dataclass
class Client:
    """Sends requests to a handler with one key."""

    handler: Callable[[dict[str, Any], Any], dict[str, Any]]
    key: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self,
        method: str,
        path: str,
        *,
        json_body: Any = None,
        body: bytes = b"",
        query: Mapping[str, Any] | str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        sent = {**self.headers, **(headers or {})}
        if self.key:
            sent = {"Authorization": f"Bearer {self.key}", **sent}
        if json_body is not None:
            body = json.dumps(json_body).encode()
            sent.setdefault("Content-Type", "application/json")
        raw_query = query if isinstance(query, str) else urlencode(query)
        made = json.loads(json.dumps(event(method, path, query=raw_query, headers=sent, body=body)))
        with _alone(self.handler):
            result = json.loads(json.dumps(self.handler(made, CONTEXT)))
        content = result.get("body") or ""
        raw = base64.b64decode(content) if result.get("isBase64Encoded") else content.encode()
        answered = {name.lower(): value for name, value in result.get("headers", {}).items()}
        return Answer(result["statusCode"], answered, raw)

    def get(self, path: str, **how: Any) -> Answer:
        return self.send("GET", path, **how)

    def head(self, path: str, **how: Any) -> Answer:
        return self.send("HEAD", path, **how)

    def put(self, path: str, **how: Any) -> Answer:
        return self.send("PUT", path, **how)

    def post(self, path: str, **how: Any) -> Answer:
        return self.send("POST", path, **how)

    def patch(self, path: str, **how: Any) -> Answer:
        return self.send("PATCH", path, **how)

    def delete(self, path: str, **how: Any) -> Answer:
        return self.send("DELETE", path, **how)
