"""Each operation: the handler's time over that of the bare calls it makes, and at two sizes."""

from __future__ import annotations

import base64
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.stage import CONTEXT, Made, Stage, handler_of
from shared.kernel.clock import SystemClock
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = "/sandbox/memory/v1"
ROUNDS = 60
WARM = 8


@dataclass(frozen=True)
class Operation:
    """One request, made from the number of its round; `before` is sent first and not measured."""

    name: str
    request: Callable[[int], dict[str, Any]]
    before: Callable[[int], dict[str, Any]] | None = None


@dataclass(frozen=True)
class Measured:
    """Medians: handler and bare calls (ms), their ratio, calls, bytes sent and received."""

    name: str
    handler_ms: float
    bare_ms: float
    ratio: float
    calls: int
    sent: int
    received: int

    @property
    def bytes(self) -> int:
        """Bytes that crossed to AWS and back."""
        return self.sent + self.received


def request(method: str, path: str, body: bytes = b"", **headers: str) -> dict[str, Any]:
    """Return an API Gateway v2 event."""
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "bench"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {
        "version": "2.0",
        "routeKey": "ANY",
        "rawPath": path,
        "rawQueryString": "",
        "headers": named,
        "requestContext": {"http": http, "stage": "$default", "requestId": "bench"},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def turn(task: object, number: object = 1) -> str:
    """Return a turn's path."""
    return f"{ROOT}/tasks/{task}/turns/{number}"


def put_turn(task: object, number: object = 1, summary: str = "# Done\n\nAll *green*.\n") -> dict[str, Any]:
    """Return a request that puts a turn of ordinary size."""
    meta = {"agent_id": "a", "model": "m", "exit_code": 0, "tokens": {"in": 1200, "out": 900}, "cost": 0.0123}
    body = json.dumps({"meta": meta, "summary_md": summary}).encode()
    return request("PUT", turn(task, number), body, content_type="application/json")


def put_artifact(task: object, body: bytes) -> dict[str, Any]:
    """Return a request that puts an artifact."""
    return request("PUT", f"{turn(task)}/artifacts/log", body, content_type="text/plain")


def operations() -> list[Operation]:
    """Return what is measured."""
    large, kib64 = "# Long\n\n" + "word " * 20_000, b"x" * (64 << 10)
    return [
        Operation("put turn, new task", lambda n: put_turn(f"new{n}")),
        Operation("put turn, existing task", lambda n: put_turn("known", n)),
        Operation("put turn, 100 KB summary", lambda n: put_turn("large", n, large)),
        Operation("get turn", lambda _: request("GET", turn("known", 3))),
        Operation("get turn, 100 KB summary", lambda _: request("GET", turn("large", 3))),
        Operation("put artifact, 64 KiB", lambda n: put_artifact(f"art{n}", kib64), lambda n: put_turn(f"art{n}")),
        Operation("get artifact, 64 KiB", lambda _: request("GET", f"{turn('art3')}/artifacts/log")),
        Operation("list tasks (50)", lambda _: request("GET", f"{ROOT}/tasks")),
        Operation("get task", lambda _: request("GET", f"{ROOT}/tasks/known")),
        Operation("digest, not modified", _unmodified),
        Operation("digest", lambda _: request("GET", f"{ROOT}/project.md")),
        Operation("delete task", lambda n: request("DELETE", f"{ROOT}/tasks/new{n}")),
    ]


def memories_operations() -> list[Operation]:
    """Return what is measured of memories: that part of them which is AWS calls."""
    return [
        Operation("add one message", lambda n: _add(f"one{n}", 1)),
        Operation("add 200 messages", lambda n: _add(f"many{n}", 200)),
        Operation("list (none yet)", lambda n: {**request("GET", "/v1/memories"), "rawQueryString": f"user_id=one{n}"}),
    ]


def _add(user: str, count: int) -> dict[str, Any]:
    said = [{"role": "user", "content": f"Tea number {n} is green.", "timestamp": -1} for n in range(count)]
    body = json.dumps({"user_id": user, "messages": said}).encode()
    return request("POST", "/v1/memories/add", body, content_type="application/json")


_etag: dict[str, str] = {}


def _unmodified(_: int) -> dict[str, Any]:
    return request("GET", f"{ROOT}/project.md", if_none_match=_etag.get("digest", '"none"'))


class Bench:
    """The handler of one function of a stage, with a key of a project."""

    def __init__(self, stage: Stage, project: str, function: str = "ProjectsFunction") -> None:
        self.stage, self.project = stage, project
        self._handler = handler_of(stage, function)
        environment = Environment.of(stage.environment(function))
        keys = tenancy(environment, stage.aws, SystemClock()).keys
        wish = KeyWish(name="bench", role=Role.PROJECT_ADMIN, tenant="bench", project=project)
        self._key = keys.issue(wish).secret
        self._threads = ThreadPoolExecutor(8)

    def measure(self, operation: Operation, rounds: int = ROUNDS) -> Measured:
        """Run an operation on both stacks, in turn, and return its medians."""
        handled, bare, made = [], [], list[Made]()
        for n in range(WARM + rounds):
            if operation.before:
                self.prepare(operation.before(n))
            seconds, calls, _ = self._send(operation.request(n))
            again = self.stage.repeat(calls, self._threads)
            if n >= WARM:
                handled.append(seconds)
                bare.append(again)
                made = calls
        ratio = statistics.median(h / b for h, b in zip(handled, bare, strict=True))
        times = statistics.median(handled) * 1000, statistics.median(bare) * 1000
        sent, received = sum(c.sent for c in made), sum(c.received for c in made)
        return Measured(operation.name, *times, ratio, len(made), sent, received)

    def prepare(self, event: dict[str, Any]) -> Any:
        """Send a request that is not measured, on both stacks, and return its JSON answer."""
        _, calls, body = self._send(event)
        self.stage.repeat(calls, self._threads)
        return json.loads(body) if body else None

    def _send(self, event: dict[str, Any]) -> tuple[float, list[Made], str]:
        event["headers"]["authorization"] = f"Bearer {self._key}"
        with self.stage.recorded() as calls:
            started = time.perf_counter()
            answer = self._handler(event, CONTEXT)
            seconds = time.perf_counter() - started
        if answer["statusCode"] >= 400:
            raise RuntimeError(f"{event['rawPath']}: {answer['statusCode']} {answer['body'][:200]}")
        if event["rawPath"].endswith("project.md"):
            _etag["digest"] = answer["headers"]["ETag"]
        return seconds, list(calls), answer["body"]
