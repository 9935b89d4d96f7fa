"""What goes wrong between the product and AWS, for tests.

    with kill_at(2):                           # the process dies before its second AWS call; applied=True: just after
        ...                                    # raises Killed, and so does every later call
    with faults(lambda call: Fault.THROTTLED if call.operation == "PutObject" else None):
        ...                                    # retries do not sleep
    with recorded() as calls:                  # names, bytes, and which ran beside each other
        ...
    assert calls.names == ["dynamodb.GetItem", "s3.PutObject"] and calls.sequential == 1

All of them see every client of the process. They stand in front of the emulator, so its conflicts and its locks
work behind them. What the product writes beside requests comes when the machine has time for it: `faults` meet it too,
but it is not recorded and does not count towards a death.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from moto.core.botocore_stubber import BotocoreStubber

from infra.local.faults import Fault, suffer
from shared.tenancy.background import THREAD
from tests.emulator.strands import followed, strand_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["Call", "Calls", "Fault", "Killed", "faults", "intercepted", "kill_at", "no_backoff", "recorded"]


class Killed(BaseException):
    """The process died here; nothing catches it but the test."""


@dataclass
class Call:
    """One attempt of one AWS call."""

    service: str
    operation: str
    request_bytes: int
    thread: int
    place: int = 0
    status: int = 0
    response_bytes: int = 0
    is_beside: bool = False

    @property
    def name(self) -> str:
        return f"{self.service}.{self.operation}"


@dataclass
class Calls:
    """What was called, in the order of the calls' starts."""

    made: list[Call] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [call.name for call in self.made]

    @property
    def total(self) -> int:
        return len(self.made)

    @property
    def sequential(self) -> int:
        """The length of the longest chain of calls each of which had to wait for the one before."""
        return max((call.place for call in self.made), default=0)

    @property
    def request_bytes(self) -> int:
        return sum(call.request_bytes for call in self.made)

    @property
    def response_bytes(self) -> int:
        return sum(call.response_bytes for call in self.made)


@contextmanager
def intercepted(around: Callable[[Call, Any, Callable[[], Any]], Any]) -> Iterator[None]:
    """Put `around(call, request, apply)` in front of the emulator; what it returns is the answer."""
    original = BotocoreStubber.__call__

    def stub(stubber: BotocoreStubber, event_name: str, request: Any, **kwargs: Any) -> Any:
        _, service, operation = event_name.split(".")
        body = request.body or b""
        size = len(body) if hasattr(body, "__len__") else 0
        call = Call(service, operation, size, threading.get_ident(), is_beside=_is_beside())
        return around(call, request, lambda: original(stubber, event_name, request, **kwargs))

    with patch.object(BotocoreStubber, "__call__", stub):
        yield


def _is_beside() -> bool:
    return threading.current_thread().name.startswith(THREAD)


@contextmanager
def kill_at(number: int, *, applied: bool = False) -> Iterator[Calls]:
    """Die at the `number`-th call (from 1), just before it, or just after it was applied."""
    calls, lock, dead = Calls(), threading.Lock(), threading.Event()

    def around(call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        if call.is_beside:
            return apply()
        with lock:
            calls.made.append(call)
            here = len(calls.made) == number
            if dead.is_set():
                raise Killed
            if here and not applied:
                dead.set()
                raise Killed
        answer = apply()
        if here:
            dead.set()
        if dead.is_set():
            raise Killed
        return answer

    with intercepted(around):
        yield calls


@contextmanager
def faults(rule: Callable[[Call], Fault | None]) -> Iterator[Calls]:
    """Let calls meet what `rule` says; botocore's pauses between attempts are skipped."""
    calls = Calls()

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        calls.made.append(call)
        fault = rule(call)
        return apply() if fault is None else suffer(fault, call.service, request, apply)

    with intercepted(around), no_backoff():
        yield calls


@contextmanager
def recorded() -> Iterator[Calls]:
    """Record every call."""
    calls = Calls()

    def around(call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        if call.is_beside:
            return apply()
        strand = strand_of(calls)
        strand.length += 1
        call.place = strand.length
        calls.made.append(call)
        answer = apply()
        call.status = answer.status_code
        call.response_bytes = answer.raw.getbuffer().nbytes
        return answer

    with followed(calls), intercepted(around):
        yield calls


@contextmanager
def no_backoff() -> Iterator[None]:
    """Skip botocore's pauses between attempts."""
    with patch("botocore.endpoint.time", SimpleNamespace(sleep=lambda _seconds: None)):
        yield
