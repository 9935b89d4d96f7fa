"""All functions of one stack, called as Lambda calls them, and all that they leave in their logs."""

from __future__ import annotations

import importlib
import json
import logging
import traceback
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from infra.local.queues import event_of, failed_of
from shared.kernel.scope import Role
from shared.tenancy import background
from shared.tenancy.models import KeyWish
from shared.wiring.documents import Documents
from shared.wiring.handlers import lazily
from shared.wiring.memories import Memories
from tests.clients.events import Client
from tests.clients.logs import log_of
from tests.memories.documents.desk import desk_world

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator

    from infra.local.stack import Function
    from tests.memories.documents.desk import Desk

SERVICES = {
    "ProjectsFunction": "projects",
    "StoresFunction": "stores",
    "MemoriesFunction": "memories",
    "PlatformFunction": "platform",
    "WorkerFunction": "worker",
    "DocumentsFunction": "documents",
    "SweeperFunction": "sweeper",
}
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 600_000)


@dataclass
class Functions:
    """One stack with a desk's parser, models and index; `log` is what all its functions have written so far."""

    desk: Desk
    log: io.StringIO
    keys: list[str]

    def lines(self) -> list[dict[str, Any]]:
        """Return the JSON lines of the log but for the metrics."""
        return [line for line in self._json() if "_aws" not in line]

    def metrics(self) -> list[dict[str, Any]]:
        """Return the lines that CloudWatch makes metrics of."""
        return [line for line in self._json() if "_aws" in line]

    def _json(self) -> Iterator[dict[str, Any]]:
        for line in self.log.getvalue().splitlines():
            if line.startswith("{"):
                yield json.loads(line)

    @cached_property
    def _described(self) -> dict[str, Function]:
        return {function.name: function for function in self.desk.shelf.cloud.stack.functions()}

    def handler(self, function: str) -> Callable[[dict[str, Any], Any], Any]:
        """Return what Lambda calls, of a new instance: what it raises ends in its log, as the runtime has it."""
        described = self._described[function]
        module = importlib.import_module(described.handler.removesuffix(".handler"))
        local = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(self.desk.shelf.folder)}
        seeing = {"VISION": "bedrock:test.seer-v1:0"} if "VISION" in described.environment else {}
        environ = {**described.environment, **local, **seeing}
        handle = lazily(lambda *_: module.build(environ, self.desk.shelf.cloud.aws, self.desk.shelf.clock))

        def handled(event: dict[str, Any], context: Any) -> Any:
            named = patch.dict("os.environ", {"POWERTOOLS_SERVICE_NAME": SERVICES[function]})
            with named, redirect_stdout(self.log), redirect_stderr(self.log):
                try:
                    return handle(event, context)
                except Exception:  # noqa: BLE001 - whatever it is, the runtime prints it
                    self.log.write(f"[ERROR] {traceback.format_exc()}")
                    return None

        return handled

    def client(self, function: str) -> Client:
        """Return a client of an instance of its own, with a key that may do everything."""
        return Client(self.handler(function), self.keys[0])

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        return self.handler(function)(event, CONTEXT)

    def deliver(self, function: str) -> bool:
        """Give a function a batch of its queue, and remove what it has done; False where there is none."""
        url = self.desk.documents_url if function == "DocumentsFunction" else self.desk.queue_url
        sqs: Any = self.desk.shelf.cloud.aws.sqs
        most = 1 if function == "DocumentsFunction" else 10
        got = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=most, MessageSystemAttributeNames=["All"])
        if not (messages := got.get("Messages", [])):
            return False
        told = self.invoke(function, event_of(messages, "arn:aws:sqs:eu-central-1:123456789012:work.fifo"))
        again = failed_of(told)
        for message in messages:
            if again is not None and message["MessageId"] not in again:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return True

    def work(self, rounds: int = 12) -> None:
        """Let worker and reader come some times, or until there is nothing, whatever becomes of the messages."""
        for _ in range(rounds):
            if self.desk.is_idle():
                return
            while self.deliver("DocumentsFunction") or self.deliver("WorkerFunction"):
                self.desk.shelf.clock.move(ms=100)
            self.desk.shelf.clock.move(ms=1_000)
            self.desk.show_hidden()

    def sweep(self) -> None:
        """Let both jobs of the sweeper come, some time later."""
        self.desk.shelf.clock.move(ms=20 * 60_000)
        for name in ("sweep", "reconcile"):
            self.invoke("SweeperFunction", {"job": name})


@contextmanager
def functions_world() -> Iterator[Functions]:
    with desk_world() as desk, _everything_written() as log, ExitStack() as stack:
        keys = desk.shelf.composed.callers.keys
        at = Functions(desk, log, [keys.issue(KeyWish(name="test", role=Role.TENANT_ADMIN, tenant="acme")).secret])
        for name, part in {"embedder": desk.shelf.embedder, "index": desk.shelf.index, "means": desk.means}.items():
            stack.enter_context(patch.object(Memories, name, part))
        stack.enter_context(patch.object(Documents, "eyes", desk.eyes))
        yield at
        background.finish()


@contextmanager
def _everything_written() -> Iterator[io.StringIO]:
    """Have everything written to one place that would end in a log group."""
    with log_of(*SERVICES.values()) as log:
        runtime = logging.StreamHandler(log)
        runtime.addFilter(lambda record: record.name not in SERVICES.values())  # Powertools keeps its own from the root
        root = logging.getLogger()
        root.addHandler(runtime)
        try:
            yield log
        finally:
            root.removeHandler(runtime)
