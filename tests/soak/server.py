"""A local run that is killed with -9 every few seconds and started again, while a share of its AWS calls fails."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import requests

from tests.local.running import Running
from tests.soak.history import NO_ANSWER, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.soak.history import History

UP_SECONDS = (3.0, 8.0)
"""For how long it lives, from the moment it listens."""

NEVER_LENT = range(20_000, 32_000)
"""Ports below those that systems lend to whoever connects somewhere."""

FAULTS = "0.2"
PATIENCE_SECONDS = 45


class Killed:
    """The server, on one port all the time; nothing fails before it is killed for the first time."""

    def __init__(self, home: Path, draw: random.Random) -> None:
        self._home, self._draw = home, draw
        self._stopped = threading.Event()
        self.port = _free_port()
        self.kills = 0
        self.running = self._started(faults="0")
        self._thread = threading.Thread(target=self._work, name="killer", daemon=True)

    def _started(self, faults: str = FAULTS) -> Running:
        return Running(self._home, PORT=str(self.port), AWS_FAULTS=faults)

    def start(self) -> None:
        """Begin to kill it, now and every few seconds, and let calls fail."""
        self._thread.start()

    def stop(self) -> None:
        """Kill it for the last time."""
        self._stopped.set()
        self._thread.join()
        self.running.end(signal.SIGKILL)

    def _work(self) -> None:
        while not self._stopped.is_set():
            self.running.end(signal.SIGKILL)
            self.kills += 1
            self.running = self._started()
            self._stopped.wait(self._draw.uniform(*UP_SECONDS))

    @property
    def faults(self) -> int:
        """How many calls failed so far."""
        return len((self._home / "faults.log").read_bytes().splitlines())


def _free_port() -> int:
    """Return a port that nobody is given for a connection of theirs while the server is down."""
    for port in random.sample(NEVER_LENT, 100):
        with socket.socket() as found, suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(("127.0.0.1", port))
            return port
    raise AssertionError


class Connection:
    """What one actor sends to the server, whatever became of the last one."""

    def __init__(self, server: Killed, history: History, actor: str, over: threading.Event) -> None:
        self._server, self._history, self._actor, self.over = server, history, actor, over
        self._session = requests.Session()
        self.key = server.running.credentials["api_key"]

    def call(self, method: str, path: str, *, key: str | None = None, signed: Any = None, **how: Any) -> Reply:
        """Send a request once, as soon as somebody listens; a request that was never sent is no request.

        A request to a presigned URL has the headers that are `signed` with it, and no key.
        """
        headers = signed or {"Authorization": f"Bearer {key or self.key}", **how.pop("headers", {})}
        url = f"http://127.0.0.1:{self._server.port}{path}"
        while True:
            try:
                answer = self._session.request(method, url, headers=headers, timeout=PATIENCE_SECONDS, **how)
                told = {name.lower(): value for name, value in answer.headers.items()}
                reply = Reply(answer.status_code, answer.content, told)
            except requests.RequestException as error:
                if "Connection refused" in str(error) and not self.over.is_set():
                    time.sleep(0.1)
                    continue
                reply = NO_ANSWER
            self._history.note(self._actor, method, path, reply, str(how.get("json", ""))[:300])
            return reply
