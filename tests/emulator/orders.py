"""Every order in which the DynamoDB calls of requests that run at the same time can come.

    for told in each_order(scene):   # scene() prepares one run and returns its requests
        ...                          # what each request returned

A call waits for its turn, and a transaction once more while it is in flight, so that others meet it there: the world
needs `Conflicts`. Calls to S3 do not wait, and neither do the product's pauses.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tests.emulator.cloud import patient_time
from tests.emulator.faults import Call, intercepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Requests = Sequence[Callable[[], Any]]

_actor: ContextVar[int | None] = ContextVar("actor", default=None)
_SECONDS = 120.0


def each_order(scene: Callable[[], Requests], *, choices: int) -> Iterator[list[Any]]:
    """Yield what the requests return, for every order of their first `choices` meetings; then they take turns."""
    plan: list[int] | None = []
    while plan is not None:
        requests = scene()
        turns = _Turns(plan, choices)
        yield turns.run(requests)
        plan = _next(turns.taken[:choices])


@contextmanager
def unhindered() -> Iterator[None]:
    """Let what a request's own thread does in between not wait for turns."""
    token = _actor.set(None)
    try:
        yield
    finally:
        _actor.reset(token)


def _next(taken: list[tuple[int, int]]) -> list[int] | None:
    """Return the plan of the next run; None after the last."""
    while taken and taken[-1][0] == taken[-1][1] - 1:
        taken = taken[:-1]
    return [choice for choice, _ in taken[:-1]] + [taken[-1][0] + 1] if taken else None


class _Turns:
    """One run: at each meeting, the plan says whose call goes on."""

    def __init__(self, plan: list[int], choices: int) -> None:
        self._plan, self._choices = plan, choices
        self.taken: list[tuple[int, int]] = []  # what was chosen, of how many
        self._changed = threading.Condition()
        self._waiting: dict[int, list[object]] = defaultdict(list)
        self._running: set[int] = set()
        self._goes: object = None

    def run(self, requests: Requests) -> list[Any]:
        self._running = set(range(len(requests)))
        with ExitStack() as around, ThreadPoolExecutor(len(requests)) as threads:
            around.enter_context(patch("infra.local.transactions.time", patient_time(lambda _: self._wait())))
            around.enter_context(patch("shared.kernel.contention.time", patient_time(lambda _: None)))
            around.enter_context(intercepted(self._call))
            asked = [threads.submit(self._act, number, request) for number, request in enumerate(requests)]
            while self._step():
                pass
            return [future.result() for future in asked]

    def _act(self, number: int, request: Callable[[], Any]) -> Any:
        _actor.set(number)
        try:
            return request()
        finally:
            with self._changed:
                self._running.discard(number)
                self._changed.notify_all()

    def _call(self, call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        if call.service == "dynamodb":
            self._wait()
        return apply()

    def _wait(self) -> None:
        actor = _actor.get()
        if actor is None:
            return
        turn = object()
        with self._changed:
            self._waiting[actor].append(turn)
            self._running.discard(actor)
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._goes is turn, _SECONDS)
            self._goes = None

    def _step(self) -> bool:
        """Let one call go on, once every request waits or has ended; False when all have."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._running and self._goes is None, _SECONDS)
            ready = sorted(actor for actor, turns in self._waiting.items() if turns)
            if not ready:
                return False
            actor = ready[self._choose(len(ready))]
            self._goes = self._waiting[actor].pop(0)
            self._running.add(actor)
            self._changed.notify_all()
        return True

    def _choose(self, among: int) -> int:
        number = len(self.taken)
        if among == 1:
            return 0
        later = 0 if number < self._choices else number % among
        choice = self._plan[number] if number < len(self._plan) else later
        self.taken.append((choice, among))
        return choice
