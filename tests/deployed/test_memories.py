"""Memories against the deployed stack: the quick starts of the API's document, and a file from upload to search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import requests

from tests.artifact import office
from tests.memories.test_quick_starts import test_a_reader_of_the_quick_start_adds_asks_for_the_status_and_finds

if TYPE_CHECKING:
    from tests.deployed.conftest import Deployed

__all__ = ["test_a_reader_of_the_quick_start_adds_asks_for_the_status_and_finds"]

PATIENCE_SECONDS = 120


def call(server: Deployed, method: str, path: str, json: Any = None) -> dict[str, Any]:
    answer = server.session.request(method, f"{server.base_url}{path}", json=json, timeout=60)
    assert answer.ok, answer.text
    told: dict[str, Any] = answer.json()
    return told


def ended(server: Deployed, task: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        told = call(server, "GET", f"/v1/memories/add/status/{task}")
        if told["status"] != "processing":
            return told
        assert time.monotonic() < end, told
        time.sleep(0.5)


def found(server: Deployed, user: str) -> list[str]:
    asked = {"user_id": user, "query": "What does the keeper drink?", "sources": ["document"], "output_mode": "facts"}
    return [hit["memory"] for hit in call(server, "POST", "/v1/memories/search", asked)["data"]["data"]]


def test_a_file_is_uploaded_read_found_and_deleted(server: Deployed) -> None:
    wish = {"user_id": "ana", "filename": "keeper.pdf", "size": len(office.PDF)}
    made = call(server, "POST", "/v1/files", wish)["data"]
    put = requests.put(made["upload"]["url"], data=office.PDF, headers=made["upload"]["headers"], timeout=60)
    assert put.status_code == 200, put.text
    assert call(server, "POST", f"/v1/files/{made['id']}/complete", {})["data"]["status"] == "ready"
    part = {"type": "file", "file": {"file_id": made["id"]}}
    message = {"role": "user", "timestamp": -1, "content": [part]}
    task = call(server, "POST", "/v1/memories/add", {"user_id": "ana", "messages": [message]})["data"]["task_id"]
    told = ended(server, task)
    assert (told["status"], told["files"][0]["status"]) == ("success", "success"), told
    assert any(office.SENTENCE in text for text in found(server, "ana"))
    call(server, "DELETE", f"/v1/files/{made['id']}")
    assert found(server, "ana") == []
