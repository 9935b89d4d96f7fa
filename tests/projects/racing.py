"""Requests that begin at the same moment, and a stack in which they really meet.

The emulator takes milliseconds of one processor for what DynamoDB does beside everything else. So time goes slower
here: transactions last 10 ms of it, and the product waits by it.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from infra.local.transactions import Conflicts
from shared.kernel.clock import SystemClock
from tests.clients.events import Answer, Client
from tests.emulator.cloud import patient
from tests.projects.world import ROOT, World, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SLOWNESS = 4
TRANSACTION_SECONDS = 0.01


@contextmanager
def slow_time() -> Iterator[Conflicts]:
    """Let the product wait by slow time, and give up late; return conflicts that last by it."""
    with patient(pauses=SLOWNESS):
        yield Conflicts(TRANSACTION_SECONDS * SLOWNESS)


@pytest.fixture(name="world")
def racing_world() -> Iterator[World]:
    """Return a world with conflicts, a running clock, and slow time."""
    with slow_time() as conflicts, project_world(conflicts=conflicts, clock=SystemClock()) as world:
        yield world


@pytest.fixture(name="key")
def racing_key(world: World) -> str:
    """Return the key that all racers have."""
    return world.key()


@pytest.fixture(name="client")
def racing_client(world: World, key: str) -> Client:
    """Return a client that is warm."""
    made = Client(world.handler(), key)
    assert made.get(f"{ROOT}/tasks").status == 200
    return made


def _now() -> float:
    return time.monotonic() / SLOWNESS


@dataclass
class Race:
    """What came of requests that began together: answers in the order of the requests, seconds of slow time."""

    answers: list[Answer]
    seconds: list[float]

    @property
    def statuses(self) -> set[int]:
        return {answer.status for answer in self.answers}

    def count(self, status: int) -> int:
        return [answer.status for answer in self.answers].count(status)


@dataclass
class Progress:
    """Which of the race's requests were sent, and which were answered with success."""

    started: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)


def race(world: World, key: str, requests: Sequence[Callable[[Client], Answer]], progress: Progress) -> Race:
    """Send all requests at once, each to an instance of its own."""
    clients = [Client(world.handler(), key) for _ in requests]
    barrier = threading.Barrier(len(requests))

    def run(number: int) -> tuple[Answer, float]:
        barrier.wait()
        progress.started.add(number)
        began = _now()
        answer = requests[number](clients[number])
        if answer.status < 300:
            progress.acknowledged.add(number)
        return answer, _now() - began

    with ThreadPoolExecutor(len(requests)) as pool:
        done = list(pool.map(run, range(len(requests))))
    progress.over.set()
    seconds = [taken for _, taken in done]
    print(f"{len(done)} requests: {sum(seconds) / len(done):.2f} s each, at most {max(seconds):.2f} s")
    return Race([answer for answer, _ in done], seconds)


def watched_race(
    world: World, key: str, requests: Sequence[Callable[[Client], Answer]], watch: Callable[[Client, Progress], None]
) -> Race:
    """Run a race while `watch` is called again and again, once more when it is over."""
    progress, client = Progress(), Client(world.handler(), key)

    def look() -> int:
        looks = 0
        while True:
            over = progress.over.is_set()
            watch(client, progress)
            looks += 1
            if over:
                return looks
            progress.over.wait(0.02)  # leave the racers something of the processor

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            result = race(world, key, requests, progress)
        finally:
            progress.over.set()
        assert looking.result() > 1
    return result


def put_turn(task: str, turn: int, summary: str, **headers: str) -> Callable[[Client], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda sender: sender.put(turn_path(task, turn), json_body={"summary_md": summary}, headers=named)


def put_artifact(name: str, body: bytes, **headers: str) -> Callable[[Client], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda sender: sender.put(artifact_path(name=name), body=body, headers=named)


def times(done: Race) -> list[str]:
    return [answer.json["updated_at"] for answer in done.answers]
