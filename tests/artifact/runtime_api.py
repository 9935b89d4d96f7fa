"""A Lambda Runtime API for one function, and a built artifact that the real runtime client boots against it."""

import json
import queue
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

PREFIX = "/2018-06-01/runtime/"
REGION = "eu-central-1"


class BootFailed(Exception):
    """The function's module could not be loaded; the message is Lambda's own report and the process's output."""


class InvocationFailed(Exception):
    """The handler raised; the message is the report that Lambda would give to the caller."""


class RuntimeApi(ThreadingHTTPServer):
    """Hands out events one at a time and takes answers, as the service does for one execution environment."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.events: queue.Queue[tuple[str, bytes] | None] = queue.Queue()
        self.reports: queue.Queue[tuple[str, Any]] = queue.Queue()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the runtime client goes away in the middle of a poll when its process ends."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small answers in two writes wait 40 ms for each other without it.
    disable_nagle_algorithm = True
    server: RuntimeApi

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the overridden method's own name
        pass

    def do_GET(self) -> None:
        """Answer the poll for the next event; it waits as long as there is none."""
        self.server.reports.put(("ready", None))
        event = self.server.events.get()
        if event is None:
            return self._reply(410, b"", {})
        number, body = event
        return self._reply(200, body, _invocation_headers(number))

    def do_POST(self) -> None:
        """Take an answer, the report of a handler that raised, or of a module that could not be loaded."""
        kind = self.path.removeprefix(PREFIX).rsplit("/", 1)[-1]
        failed_boot = self.path == f"{PREFIX}init/error"
        self.server.reports.put(("boot" if failed_boot else kind, json.loads(self._body())))
        self._reply(202, b'{"status":"OK"}', {"Content-Type": "application/json"})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _reply(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _invocation_headers(number: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Lambda-Runtime-Aws-Request-Id": number,
        "Lambda-Runtime-Deadline-Ms": str(int(time.time() * 1000) + 60_000),
        "Lambda-Runtime-Invoked-Function-Arn": f"arn:aws:lambda:{REGION}:111122223333:function:artifact",
        "Lambda-Runtime-Trace-Id": "Root=1-5e1b4151-43a0913a12345678901234567;Sampled=0",
    }


@dataclass
class Booted:
    """One running artifact: `boot_ms` from start to the first poll, `output` what it printed."""

    api: RuntimeApi
    process: subprocess.Popen[bytes]
    printed: Path
    patience: float
    boot_ms: float = field(default=0.0)

    @property
    def output(self) -> str:
        return self.printed.read_text("utf-8", "replace")

    def invoke(self, event: Any) -> Any:
        """Return the handler's answer to an event.

        Raises:
            InvocationFailed: the handler raised, or its process ended.
        """
        self.api.events.put((str(uuid.uuid4()), json.dumps(event).encode()))
        kind, answer = self.wait_for("response", "error")
        if kind == "error":
            raise InvocationFailed(json.dumps(answer, indent=1))
        return answer

    def wait_for(self, *kinds: str) -> tuple[str, Any]:
        """Return the next report of one of the kinds."""
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                report = self.api.reports.get(timeout=0.2)
            except queue.Empty:
                continue
            if report[0] in kinds:
                return report
        raise InvocationFailed(f"no {' or '.join(kinds)}; the process printed:\n{self.output}")


@contextmanager
def booted(python: Path, artifact: Path, handler: str, environment: Mapping[str, str]) -> Iterator[Booted]:
    """Boot an artifact with nothing on its path but itself, and end it afterwards.

    Raises:
        BootFailed: the handler's module could not be loaded.
    """
    api = RuntimeApi()
    Thread(target=api.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    with tempfile.TemporaryDirectory() as scratch:
        printed = Path(scratch, "output")
        started = time.perf_counter()
        with printed.open("wb") as file:
            process = subprocess.Popen(
                [python, "-s", "-m", "awslambdaric", handler],
                cwd=artifact,
                env={**_environment(api, artifact), **environment},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        function = Booted(api, process, printed, patience=60)
        try:
            _wait_until_ready(function)
            function.boot_ms = (time.perf_counter() - started) * 1000
            yield function
        finally:
            process.kill()
            process.wait()
            api.events.put(None)
            api.shutdown()
            api.server_close()


def _wait_until_ready(function: Booted) -> None:
    try:
        kind, report = function.wait_for("ready", "boot")
    except InvocationFailed as error:
        raise BootFailed(str(error)) from error
    if kind == "boot":
        raise BootFailed(f"{json.dumps(report, indent=1)}\n{function.output}")


def _environment(api: RuntimeApi, artifact: Path) -> dict[str, str]:
    """Return what Lambda itself sets."""
    return {
        "AWS_ACCESS_KEY_ID": "artifact",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "AWS_LAMBDA_FUNCTION_NAME": "artifact",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/lodestore/artifact",
        "AWS_LAMBDA_LOG_STREAM_NAME": "one",
        "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.server_port}",
        "AWS_REGION": REGION,
        "AWS_SECRET_ACCESS_KEY": "artifact",
        "LAMBDA_TASK_ROOT": str(artifact),
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(artifact),
        "TZ": ":UTC",
    }
