"""What is priced: the requests of each surface, and the work behind them, one after the other on one stage."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.operations import put_artifact, put_turn, request, turn
from bench.stage import CONTEXT, handler_of
from bench.stores import ROOT as STORES
from bench.stores import TEXT, get, post
from infra.local.queues import event_of
from shared.aws.clients import calls_made
from shared.kernel.clock import SystemClock
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.stage import Stage

    Act = Callable[[], tuple[int, int]]
    """Does it, and returns the bytes that came and went."""

ROOT = "/sandbox/memory/v1"
MEMORIES = "/v1/memories"
PROJECT_MEMORY, MEMORY_STORES, LEARNT = "Project memory", "Memory stores", "Memories"
TALK = (
    "I live in Lisbon and work as a nurse at Santa Maria hospital.",
    "My sister Ana has a PhD in physics and lives in Porto.",
    "We decided to visit her next Friday by train.",
    "I prefer tea to coffee, and I never eat meat.",
    "My manager wants the report by the third of March.",
)


@dataclass(frozen=True)
class Course:
    """One thing that is done; `prepare` gets the round's number and returns what is measured.

    `requests` to the gateway, `invocations` of `function`, searches of the index, calls of Lambda's poller (`polled`).
    """

    surface: str
    name: str
    function: str
    prepare: Callable[[int], Act]
    requests: int = 1
    invocations: int = 1
    searches: int = 0
    polled: int = 0


class Caller:
    """A function with a key."""

    def __init__(self, stage: Stage, function: str) -> None:
        self.stage, self.function = stage, function
        self._handler = handler_of(stage, function)
        keys = tenancy(Environment.of(stage.environment(function)), stage.aws, SystemClock()).keys
        wish = KeyWish(name="costs", role=Role.PROJECT_ADMIN, tenant="bench", project="costs")
        self._key = keys.issue(wish).secret

    def send(self, event: dict[str, Any]) -> tuple[int, int, Any]:
        """Send a request; return the bytes that came and went, and the answer's JSON, if it is some."""
        event["headers"]["authorization"] = f"Bearer {self._key}"
        answer = self._handler(event, CONTEXT)
        if answer["statusCode"] >= 400:
            raise RuntimeError(f"{event['rawPath']}: {answer['statusCode']} {answer['body'][:200]}")
        body = answer.get("body") or ""
        sent = len(base64.b64decode(body)) if answer.get("isBase64Encoded") else len(body.encode())
        kind = {name.lower(): value for name, value in answer["headers"].items()}.get("content-type", "")
        return len(json.dumps(event)), sent, json.loads(body) if "json" in kind and body else answer["headers"]

    def act(self, event: Callable[[], dict[str, Any]]) -> Act:
        """Return the sending of a request, which is made first."""
        made = event()
        return lambda: self.send(made)[:2]

    def course(self, surface: str, name: str, event: Callable[[int], dict[str, Any]], **more: Any) -> Course:
        """Return a course of one request; its round's number makes it another each time."""
        return Course(surface, name, self.function, lambda n: self.act(lambda: event(n)), **more)

    def after(self, surface: str, name: str, before: Callable[[int], Any], event: Callable[[Any], Any]) -> Course:
        """Return a course of one request that `before` has prepared something for."""

        def prepare(n: int) -> Act:
            found = before(n)
            return self.act(lambda: event(found))

        return Course(surface, name, self.function, prepare)


def courses(stage: Stage) -> Iterator[Course]:
    """Yield all courses, in the order of the page; each is done before the next is asked for."""
    yield from _projects(Caller(stage, "ProjectsFunction"))
    yield from _stores(Caller(stage, "StoresFunction"))
    yield from _memories(Caller(stage, "MemoriesFunction"))


def _projects(caller: Caller) -> Iterator[Course]:
    def put(n: int) -> dict[str, Any]:
        caller.send(put_turn(f"doomed{n}"))
        return request("DELETE", f"{ROOT}/tasks/doomed{n}")

    large, kib64 = "# Long\n\n" + "word " * 20_000, b"x" * (64 << 10)
    yield caller.course(PROJECT_MEMORY, "put turn, new task", lambda n: put_turn(f"new{n}"))
    yield caller.course(PROJECT_MEMORY, "put turn, existing task", lambda n: put_turn("known", n))
    yield caller.course(PROJECT_MEMORY, "put turn, 100 KB summary", lambda n: put_turn("large", n, large))
    yield caller.course(PROJECT_MEMORY, "get turn", lambda _: request("GET", turn("known", 1)))
    yield caller.course(PROJECT_MEMORY, "get turn, 100 KB summary", lambda _: request("GET", turn("large", 1)))
    yield caller.course(PROJECT_MEMORY, "put artifact, 64 KiB", lambda n: put_artifact(f"new{n}", kib64))
    yield caller.course(
        PROJECT_MEMORY, "get artifact, 64 KiB", lambda _: request("GET", f"{turn('new1')}/artifacts/log")
    )
    yield caller.course(PROJECT_MEMORY, "list tasks", lambda _: request("GET", f"{ROOT}/tasks"))
    yield caller.course(PROJECT_MEMORY, "digest", lambda _: request("GET", f"{ROOT}/project.md"))
    etag = caller.send(request("GET", f"{ROOT}/project.md"))[2]["ETag"]
    unchanged = lambda _: request("GET", f"{ROOT}/project.md", if_none_match=etag)  # noqa: E731
    yield caller.course(PROJECT_MEMORY, "digest, not modified", unchanged)
    yield caller.after(PROJECT_MEMORY, "delete task", put, lambda event: event)


def _stores(caller: Caller) -> Iterator[Course]:
    store = caller.send(post(STORES, name="costs"))[2]["id"]
    memories = f"{STORES}/{store}/memories"

    def made(path: str) -> str:
        identifier: str = caller.send(post(memories, path=path, content=TEXT))[2]["id"]
        return identifier

    known, moved = made("/known/a"), made("/moved/0")
    made("/doomed/last")
    yield caller.course(MEMORY_STORES, "create memory", lambda n: post(memories, path=f"/new/{n}", content=TEXT))
    update = lambda n: post(f"{memories}/{known}", content=f"{n} {TEXT}")  # noqa: E731
    yield caller.course(MEMORY_STORES, "update content", update)
    yield caller.course(MEMORY_STORES, "rename", lambda n: post(f"{memories}/{moved}", path=f"/moved/{n + 1}"))
    yield caller.course(MEMORY_STORES, "retrieve", lambda _: get(f"{memories}/{known}"))
    yield caller.course(MEMORY_STORES, "list memories", lambda _: get(memories))
    yield caller.course(MEMORY_STORES, "list versions", lambda _: get(f"{STORES}/{store}/memory_versions"))
    doomed = lambda n: request("DELETE", f"{memories}/{made(f'/doomed/{n}')}")  # noqa: E731
    yield caller.after(MEMORY_STORES, "delete memory", doomed, lambda event: event)


def _memories(caller: Caller) -> Iterator[Course]:
    worker = Worker(caller.stage)
    yield caller.course(LEARNT, "add of 5 messages, accepted", lambda n: add(f"user{n}", n))
    worker.work()
    learnt: dict[int, str] = {}

    def added(n: int) -> Act:
        caller.send(add("learner", n))
        return worker.act()

    yield Course(LEARNT, "the same, learnt by rules", "WorkerFunction", added, requests=0, polled=2)
    task = caller.send(add("status", 0))[2]["data"]["task_id"]
    worker.work()
    yield caller.course(LEARNT, "status of an add", lambda _: request("GET", f"{MEMORIES}/add/status/{task}"))
    search = {"user_id": "learner", "query": "Where does my sister live?", "output_mode": "facts"}
    yield caller.course(LEARNT, "search", lambda _: post(f"{MEMORIES}/search", **search), searches=1)
    listing = {**request("GET", MEMORIES), "rawQueryString": "user_id=learner"}
    yield caller.course(LEARNT, "list", lambda _: {**listing, "headers": {}})
    found = caller.send({**listing, "headers": {}})[2]["data"]["data"]
    learnt.update(enumerate(memory["id"] for memory in found if memory["kind"] == "raw"))
    yield caller.course(LEARNT, "get one", lambda _: request("GET", f"{MEMORIES}/{learnt[0]}"))
    gone = lambda n: request("DELETE", f"{MEMORIES}/{learnt[n + 1]}")  # noqa: E731
    yield caller.course(LEARNT, "delete one", gone)
    yield caller.after(LEARNT, "delete all of a user", lambda n: n, _forgetting)
    worker.work()


def add(user: str, number: int) -> dict[str, Any]:
    """Return a request that adds a talk of five messages, another one each time."""
    said = [{"role": "user", "content": f"{text[:-1]}, says number {number}.", "timestamp": -1} for text in TALK]
    body = json.dumps({"user_id": user, "messages": said}).encode()
    return request("POST", f"{MEMORIES}/add", body, content_type="application/json")


def _forgetting(number: int) -> dict[str, Any]:
    return {**request("DELETE", MEMORIES), "rawQueryString": f"user_id=user{number}"}


class Worker:
    """The worker's function, and the queue before it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._worker = handler_of(stage, "WorkerFunction")
        self._url = stage.environment("WorkerFunction")["QUEUE_URL"]

    def work(self) -> None:
        """Do all that is in the queue."""
        while messages := self._receive():
            self._done(messages)

    def act(self) -> Act:
        """Return the work of what is in the queue now."""
        messages = self._receive()

        def act() -> tuple[int, int]:
            token = calls_made.set([])
            try:
                self._done(messages)
            finally:
                calls_made.reset(token)
            return 0, 0

        return act

    def _receive(self) -> list[Any]:
        answer: Any = self._stage.aws.sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=0, MessageSystemAttributeNames=["All"]
        )
        return list(answer.get("Messages", []))

    def _done(self, messages: list[Any]) -> None:
        failed = self._worker(event_of(messages, "arn:aws:sqs:us-east-1:123456789012:work.fifo"), CONTEXT)
        if failed["batchItemFailures"]:
            raise RuntimeError(f"the worker left {len(failed['batchItemFailures'])} of {len(messages)} messages")
        token = calls_made.set(None)  # it is the poller that deletes
        for message in messages:
            self._stage.aws.sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        calls_made.reset(token)
