"""A node that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Answer = Callable[["Asked"], tuple[int, Any]]


@dataclass(frozen=True)
class Asked:
    """A request; header names in small letters."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def action(self) -> str:
        """The last part of the path: `_bulk`, `_msearch`, …"""
        return self.path.partition("?")[0].rpartition("/")[2]


@dataclass
class FakeNode:
    """What was asked of it, and how it answers by action; `slow` is set to let what hangs go on."""

    address: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    slow: threading.Event = field(default_factory=threading.Event)

    def says(self, action: str, status: int, body: Any) -> None:
        self.answers[action] = lambda _: (status, body)

    def hangs(self, action: str) -> None:
        def wait(_: Asked) -> tuple[int, Any]:
            self.slow.wait()
            return 200, {}

        self.answers[action] = wait


@contextmanager
def fake_node() -> Iterator[FakeNode]:
    node = FakeNode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(node))
    node.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield node
    finally:
        node.slow.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(node: FakeNode) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            node.asked.append(asked)
            status, said = node.answers[asked.action](asked)
            page = isinstance(said, str)
            text = said.encode() if page else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "text/html" if page else "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the server's names

        def log_message(self, *_: Any) -> None: ...

    return Handler
