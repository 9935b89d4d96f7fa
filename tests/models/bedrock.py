"""Bedrock's runtime over HTTP, as far as we call it: strict in what it takes, and can fail in every way."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from shared.models.use import UseEmbedder


@dataclass(frozen=True)
class Request:
    model: str
    operation: str
    body: dict[str, Any]
    key: str = ""
    """The id of the access key that signed it."""


@dataclass(frozen=True)
class Fails:
    """An error of AWS's form."""

    status: int
    code: str
    message: str = "because of the test"


@dataclass(frozen=True)
class Raw:
    """These bytes; `length` is what is said of them, so that more can be announced than comes."""

    body: bytes
    status: int = 200
    length: int | None = None


@dataclass(frozen=True)
class Closes:
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class Hangs:
    """No answer before the test ends."""


@dataclass(frozen=True)
class Says:
    """A model's answer in words."""

    text: str
    stop: str = "end_turn"


@dataclass(frozen=True)
class Fills:
    """A model's answer through the tool it was given."""

    values: Any
    stop: str = "tool_use"


@dataclass(frozen=True)
class Embeds:
    """Vectors in place of the right ones."""

    vectors: Any


class FakeBedrock:
    """Answers what was scripted, one step a request, then sensibly. `requests` is what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._steps: deque[Any] = deque()
        self._came = threading.Condition()
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def environ(self) -> dict[str, str]:
        """What makes this product call it."""
        address = f"http://127.0.0.1:{self._server.server_port}"
        return {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": address, "BEDROCK_REGION": "eu-central-1"}

    def will(self, *steps: Any) -> None:
        """Script the next answers."""
        self._steps.extend(steps)

    def forget(self) -> None:
        """Begin anew."""
        self._steps.clear()
        self.requests.clear()

    def until(self, count: int) -> int:
        """Wait for so many requests, and return how many came: who gives up early may do so before one is read."""
        with self._came:
            self._came.wait_for(lambda: len(self.requests) >= count, 60)
        return len(self.requests)

    def stop(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def step(self, request: Request) -> Any:
        with self._came:
            self.requests.append(request)
            self._came.notify_all()
            refused = _invalid(request)
            return Fails(400, "ValidationException", refused) if refused else self._next(request)

    def _next(self, request: Request) -> Any:
        if self._steps:
            return self._steps.popleft()
        return Fills({"summary": None, "facts": []}) if request.operation == "converse" else None


class _Handler(BaseHTTPRequestHandler):
    fake: FakeBedrock
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        _, _, model, operation = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(unquote(model), operation, body, _key(self.headers["Authorization"]))
        step = self.fake.step(request)
        if isinstance(step, Hangs):
            self.fake.released.wait(120)
        if isinstance(step, Closes | Hangs):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if isinstance(step, Fails):
            self._answer(Raw(json.dumps({"message": step.message}).encode(), step.status), step.code)
        else:
            self._answer(step if isinstance(step, Raw) else Raw(json.dumps(_answer(request, step)).encode()))

    def _answer(self, raw: Raw, code: str | None = None) -> None:
        self.send_response(raw.status)
        if code:
            self.send_header("x-amzn-ErrorType", code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw.body) if raw.length is None else raw.length))
        self.end_headers()
        self.wfile.write(raw.body)
        self.close_connection = raw.length is not None

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def _key(authorization: str) -> str:
    return authorization.partition("Credential=")[2].partition("/")[0]


def _answer(request: Request, step: Any) -> Any:
    if request.operation == "converse":
        return _conversed(step)
    vectors = step.vectors if isinstance(step, Embeds) else _vectors(request)
    return {"embedding": vectors[0] if vectors else None} if "titan" in request.model else {"embeddings": vectors}


def _conversed(step: Says | Fills) -> dict[str, Any]:
    if isinstance(step, Says):
        content: list[Any] = [{"text": step.text}]
    else:
        content = [{"text": "Here it is."}, {"toolUse": {"toolUseId": "t1", "name": "tool", "input": step.values}}]
    message = {"role": "assistant", "content": content}
    usage = {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110}
    return {"output": {"message": message}, "stopReason": step.stop, "usage": usage, "metrics": {"latencyMs": 5}}


def _vectors(request: Request) -> list[list[float]]:
    """Return vectors with a meaning, three times too long, and as wide as the model's."""
    texts = request.body["texts"] if "texts" in request.body else [request.body["inputText"]]
    width = 1024 if "cohere" in request.model else request.body["dimensions"]
    return [[3 * x for x in vector] + [0.0] * (width - 512) for vector in UseEmbedder().of_texts(texts)]


def _invalid(request: Request) -> str | None:
    body = request.body
    if request.operation == "converse":
        return _invalid_conversation(body)
    if "titan" in request.model:
        fits = 0 < len(body["inputText"].encode()) <= 8192
        return None if fits and body["dimensions"] in (256, 512, 1024) else "Too many input tokens."
    fits = 0 < len(body["texts"]) <= 96 and all(0 < len(text) <= 2048 for text in body["texts"])
    return None if fits and body["input_type"] in ("search_document", "search_query") else "Malformed input request."


def _invalid_conversation(body: dict[str, Any]) -> str | None:
    roles = [message["role"] for message in body["messages"]]
    if roles != [("user", "assistant")[n % 2] for n in range(len(roles))]:
        return "A conversation must start with a user message and alternate."
    parts = [part for message in body["messages"] for part in message["content"]]
    if any(part["image"]["format"] not in ("png", "jpeg", "gif", "webp") for part in parts if "image" in part):
        return "The format field in the ImageBlock object is invalid."
    blank = any(not part["text"].strip() for part in parts if "text" in part)
    return "The text field in the ContentBlock object is blank." if blank else None


@dataclass
class Pauses:
    """What stands for sleeping."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
