"""A server of the local run in a process of its own, and a client of its memories."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

START_SECONDS = 120
POLL_SECONDS = 0.02


@dataclass
class Memories:
    """The memories of one server."""

    base_url: str
    session: requests.Session
    home: Path

    def add(self, user: str, messages: list[dict[str, Any]], **fields: Any) -> str:
        """Send messages, and return the task's id."""
        body = {"user_id": user, "messages": messages, **fields}
        return str(self._call("POST", "/v1/memories/add", body)["data"]["task_id"])

    def finished(self, task: str) -> dict[str, Any]:
        """Wait for a task to end well, and return its status."""
        while True:
            status = self._call("GET", f"/v1/memories/add/status/{task}")
            if status["status"] == "success":
                return status
            if status["status"] == "failed":
                raise RuntimeError(f"an add failed: {status['error']}")
            time.sleep(POLL_SECONDS)

    def search(self, user: str, query: str, **fields: Any) -> list[dict[str, Any]]:
        """Return the hits of a query."""
        body = {"user_id": user, "query": query[:1024], **fields}
        hits: list[dict[str, Any]] = self._call("POST", "/v1/memories/search", body)["data"]["data"]
        return hits

    def _call(self, verb: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = self.session.request(verb, self.base_url + path, json=body, timeout=60)
        if not answer.ok:
            raise RuntimeError(f"{verb} {path}: {answer.status_code} {answer.text[:500]}")
        found: dict[str, Any] = answer.json()
        return found


@contextmanager
def memories(settings: Mapping[str, str]) -> Iterator[Memories]:
    """Start a server with these settings, in a home that goes with it."""
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, **settings, "PORT": "0", "LODESTORE_HOME": home}
        server = subprocess.Popen([sys.executable, "-m", "infra.local"], env=environ, stdout=subprocess.DEVNULL)
        try:
            known = _credentials(Path(home, "credentials.json"), server)
            with requests.Session() as session:
                session.headers["Authorization"] = f"Token {known['api_key']}"
                yield Memories(known["base_url"], session, Path(home))
        finally:
            server.terminate()
            server.wait(30)


def _credentials(file: Path, server: subprocess.Popen[bytes]) -> dict[str, str]:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError("the server ended by itself")
        try:
            known: dict[str, str] = json.loads(file.read_text("utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.1)
            continue
        return known
    raise RuntimeError("the server did not start")
