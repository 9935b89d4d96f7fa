"""Files of memories in the local run, as a user has it: read in the background, through kills; uploads on disk."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import requests

from tests.local.running import Running, running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE_SECONDS = 300
SECTIONS = 700
LARGEST = 20 << 20
ADD = "/v1/memories/add"


def call(server: Running, method: str, path: str, json: Any = None) -> Any:
    answer = server.session.request(method, f"{server.base_url}{path}", json=json, timeout=60)
    assert answer.ok, answer.text
    return answer.json()["data"] if "status/" not in path else answer.json()


def book(sections: int) -> bytes:
    """Return a document of so many headings, each with a sentence that says which."""
    told = (
        f"# Chapter {n}\n\nThe lighthouse number {n} has a keeper. {'It blinks at night. ' * 20}"
        for n in range(sections)
    )
    return "\n\n".join(told).encode()


def add(server: Running, user: str, content: bytes, name: str = "book.md") -> str:
    file = {"filename": name, "file_data": base64.b64encode(content).decode()}
    message = {"role": "user", "timestamp": -1, "content": [{"type": "file", "file": file}]}
    return str(call(server, "POST", ADD, {"user_id": user, "messages": [message]})["task_id"])


def status_when(server: Running, task: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Ask for the status of a task until it is as wanted."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        told: dict[str, Any] = call(server, "GET", f"{ADD}/status/{task}")
        if reached(told):
            return told
        assert time.monotonic() < end, told
        time.sleep(0.02)


def has_ended(told: dict[str, Any]) -> bool:
    return bool(told["status"] != "processing")


def is_read(told: dict[str, Any]) -> bool:
    return bool(told["files"][0]["chunks_total"]) or has_ended(told)


def is_half_filed(told: dict[str, Any]) -> bool:
    return bool(told["files"][0]["chunks_done"]) or has_ended(told)


def chunks(server: Running, user: str) -> list[str]:
    found, cursor = [], ""
    while True:
        page = call(server, "GET", f"/v1/memories?user_id={user}&kind=chunk&limit=100{cursor}")
        found += [memory["memory"] for memory in page["data"]]
        if not page["next_cursor"]:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def test_a_document_is_read_to_its_end_whenever_the_process_is_killed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    server = Running(home)
    task = add(server, "ann", book(SECTIONS))
    server.end(signal.SIGKILL)  # just accepted
    for reached in (is_read, is_half_filed):
        server = Running(home)
        status_when(server, task, reached)
        server.end(signal.SIGKILL)
    with running(home) as after:
        (file,) = status_when(after, task, has_ended)["files"]
        assert (file["status"], file["revision"], file["error"]) == ("success", 1, None)
        kept = chunks(after, "ann")
        assert file["chunks_done"] == file["chunks_total"] == len(kept) == len(set(kept))
        for number in (0, SECTIONS // 2, SECTIONS - 1):
            assert sum(f"lighthouse number {number} has" in text for text in kept) == 1
        asked = {"user_id": "ann", "query": f"Who keeps lighthouse number {SECTIONS - 1}?", "sources": ["document"]}
        hits = call(after, "POST", "/v1/memories/search", asked | {"output_mode": "facts"})["data"]
        assert any(f"number {SECTIONS - 1} has a keeper" in hit["memory"] for hit in hits)


def upload(server: Running, content: bytes, name: str) -> str:
    wish = {"user_id": "ann", "filename": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    made = call(server, "POST", "/v1/files", wish)
    put = requests.put(made["upload"]["url"], data=content, headers=made["upload"]["headers"], timeout=60)
    assert put.status_code == 200, put.text
    assert call(server, "POST", f"/v1/files/{made['id']}/complete", {})["status"] == "ready"
    return str(made["id"])


def stored(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "state").rglob("*") if path.is_file())


def test_several_uploads_of_the_largest_size_survive_a_kill_and_leave_the_disk_when_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    server = Running(home)
    contents = [os.urandom(LARGEST) for _ in range(3)]
    files = [upload(server, content, f"{n}.pdf") for n, content in enumerate(contents)]
    server.end(signal.SIGKILL)
    with running(home) as after:
        for file, content in zip(files, contents, strict=True):
            url = f"{after.base_url}/v1/files/{file}/content"
            assert after.session.get(url, timeout=60).content == content
        assert stored(home) < 3.2 * LARGEST
        for file in files:
            call(after, "DELETE", f"/v1/files/{file}")
        end = time.monotonic() + PATIENCE_SECONDS
        while stored(home) > LARGEST // 10:
            assert time.monotonic() < end, stored(home)
            time.sleep(0.1)
