"""A local run as a user has it: its own process, started with the command of `make run`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[2]
GREETING_LINES = 4


def command(home: Path, **environ: str) -> subprocess.Popen[str]:
    """Start the process; it emulates AWS, whatever this one does, and has the embedded search unless told otherwise."""
    own = ("AWS_", "TABLE_", "BUCKET_", "OPENSEARCH_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return subprocess.Popen(
        [sys.executable, "-m", "infra.local"],
        cwd=ROOT,
        env={**kept, "PORT": "0", "LODESTORE_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Running:
    """A server that listens."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        self.process = command(home, **environ)
        assert self.process.stdout is not None
        self.greeting = "".join(self.process.stdout.readline() for _ in range(GREETING_LINES))
        if "http://" not in self.greeting:
            raise AssertionError(self.process.communicate()[1])
        self.credentials: dict[str, str] = json.loads((home / "credentials.json").read_text())
        self.base_url = self.credentials["base_url"]
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {self.credentials['api_key']}"

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """Call project memory with the run's own key."""
        return self.session.request(method, f"{self.base_url}/sandbox/memory/v1{path}", timeout=60, **options)

    def end(self, how: signal.Signals) -> tuple[int, str]:
        """End the process; return its status and what it said on stderr."""
        self.session.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@contextmanager
def running(home: Path, environ: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run a server in `home`, and stop it as Ctrl-C does."""
    server = Running(home, **(environ or {}))
    try:
        yield server
    finally:
        server.end(signal.SIGINT)
