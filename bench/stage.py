"""Two equal stacks: the handler works on one, and the very calls it made are repeated bare on the other.

Because every call is repeated, both stay in the same state, so that the conditions of writes hold on both.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from infra.local.emulator import Emulator
from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import Aws, calls_made
from shared.kernel.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import ThreadPoolExecutor

CONTEXT = type("Context", (), {"get_remaining_time_in_millis": lambda _: 300_000})()
DIRECT_BYTES = str(50 << 20)
MEMORIES = "1000000"
BATCH = 25


@dataclass
class Made:
    """One AWS call as it was made: service, method name, arguments, when (s), by the clock and the processor."""

    service: str
    operation: str
    arguments: dict[str, Any]
    started: float
    ended: float = 0.0
    sent: int = 0
    received: int = 0
    worked: tuple[float, float] = (0.0, 0.0)


@dataclass
class Stage:
    """The emulated account with the handler's stack and the bare one."""

    emulator: Emulator
    aws: Aws
    stack: Stack
    twin: Stack
    index: str
    made: list[Made] = field(default_factory=list)
    recording: bool = False

    def environment(self, function: str) -> dict[str, str]:
        """Return a function's variables, with bodies of 50 MiB passing as in the local run, and stores of any size."""
        known = next(f.environment for f in self.stack.functions() if f.name == function)
        search = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": self.index}
        return {**known, **search, "DIRECT_BODY_BYTES": DIRECT_BYTES, "MEMORIES_A_STORE": MEMORIES}

    @contextmanager
    def recorded(self) -> Iterator[list[Made]]:
        """Collect the calls made meanwhile."""
        self.made, self.recording = [], True
        try:
            yield self.made
        finally:
            self.recording = False

    def repeat(self, calls: list[Made], threads: ThreadPoolExecutor) -> float:
        """Make recorded calls on the twin, those that overlapped at the same time; return the seconds it took."""
        groups = [[self._bare(call) for call in group] for group in _overlapping(calls)]
        started = time.perf_counter()
        for group in groups:
            waiting = [threads.submit(call) for call in group[1:]]
            group[0]()
            for one in waiting:
                one.result()
        return time.perf_counter() - started

    def _bare(self, call: Made) -> Callable[[], Any]:
        arguments = _renamed(call.arguments, self._names())
        method = getattr(getattr(self.aws, call.service), _snake(call.operation))

        def make() -> Any:
            answer = method(**arguments)
            return answer["Body"].read() if "Body" in answer else answer

        return make

    def load(self, rows: list[dict[str, Any]]) -> None:
        """Put typed items into both tables, past the product."""
        for stack in (self.stack, self.twin):
            name = stack.outputs["TableName"]
            for start in range(0, len(rows), BATCH):
                puts: list[Any] = [{"PutRequest": {"Item": row}} for row in rows[start : start + BATCH]]
                self.aws.dynamodb.batch_write_item(RequestItems={name: puts})

    def _names(self) -> dict[str, str]:
        return {self.stack.outputs[name]: self.twin.outputs[name] for name in ("TableName", "BucketName", "QueueUrl")}


@contextmanager
def open_stage() -> Iterator[Stage]:
    """Start the account with both stacks."""
    with Emulator() as emulator, TemporaryDirectory() as index:
        aws = Aws({})
        stack, twin = Stack(TEMPLATE, name="handled"), Stack(TEMPLATE, name="bare")
        for made in (stack, twin):
            make_resources(made, aws)
        stage = Stage(emulator, aws, stack, twin, index)
        for client in (aws.dynamodb, aws.s3, aws.sqs):
            _listen(stage, client)
        yield stage


def handler_of(stage: Stage, function: str) -> Any:
    """Return an instance of a function, by its name in the template."""
    module, _, _ = next(f.handler for f in stage.stack.functions() if f.name == function).rpartition(".")
    return import_module(module).build(stage.environment(function), stage.aws, SystemClock())


def _listen(stage: Stage, client: Any) -> None:
    service = client.meta.service_model.service_name
    pending = threading.local()

    def begin(params: dict[str, Any], model: Any, **_: Any) -> None:
        pending.call = None
        if stage.recording and calls_made.get() is not None:  # usage is written beside requests, and left out
            pending.call = Made(service, model.name, dict(params), time.perf_counter())
            pending.call.worked = time.process_time(), 0.0
            stage.made.append(pending.call)

    def weigh(params: dict[str, Any], **_: Any) -> None:
        if pending.call:
            body = params["body"]
            pending.call.sent = len(params["url"]) + (len(body) if isinstance(body, bytes) else body.getbuffer().nbytes)

    def end(parsed: dict[str, Any], **_: Any) -> None:
        if pending.call:
            pending.call.ended = time.perf_counter()
            pending.call.worked = pending.call.worked[0], time.process_time()
            pending.call.received = _size(parsed)

    client.meta.events.register("provide-client-params", begin)
    client.meta.events.register("before-call", weigh)
    client.meta.events.register("after-call", end)


def _size(parsed: Mapping[str, Any]) -> int:
    if "ContentLength" in parsed:
        return int(parsed["ContentLength"])
    return len(json.dumps({k: v for k, v in parsed.items() if k != "ResponseMetadata"}, default=str))


def _overlapping(calls: list[Made]) -> list[list[Made]]:
    groups: list[list[Made]] = []
    end = 0.0
    for call in sorted(calls, key=lambda made: made.started):
        if groups and call.started < end:
            groups[-1].append(call)
        else:
            groups.append([call])
        end = max(end, call.ended)
    return groups


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value, value)
        case dict():
            return {names.get(k, k): _renamed(v, names) for k, v in value.items()}
        case list():
            return [_renamed(v, names) for v in value]
    return value


def _snake(operation: str) -> str:
    text = operation.replace("V2", "_v2")
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in text).lstrip("_")
