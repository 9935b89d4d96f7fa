"""A soak: mixed traffic on a server whose AWS calls fail and that is killed all the time, and what is true after."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from functions.memories.redrive import Redrive
from infra.local.emulator import Emulator
from infra.local.events import Request
from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, Stack
from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.memories.backing import Backing
from shared.memories.files.rows import ENDED
from tests.clients.whole import Whole, presigning_aws, quiet
from tests.emulator.cloud import nothing_left_beside
from tests.projects.world import MovedClock
from tests.soak.actors import Actor, Platform
from tests.soak.file_actor import Files
from tests.soak.history import History, Reply
from tests.soak.memory_actor import Memories
from tests.soak.project_actor import Projects
from tests.soak.remains import hold_index, hold_payloads, hold_words
from tests.soak.server import Connection, Killed
from tests.soak.store_actor import Appending, Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shared.aws.items import Item, Key

MINUTE_MS, DAY_MS = 60_000, 86_400_000
SETTLING = 40
RESTING_MS = 90 * MINUTE_MS
"""What failed three times is left for an hour by the sweeper: removals are then half done, their rows hidden."""

PRELUDE_SECONDS = 60
"""For how long kills and faults wait, at most, until there is something of everything."""

TOLD_SECONDS = 30

REVIVED = "a dead letter was tried again"
NEEDED = (
    "a file is what was uploaded, until it is deleted",
    "a key that was revoked is refused, another one is not",
    "a memory is what was acknowledged last",
    "a memory that was corrected or forgotten is so",
    "a turn is what was acknowledged last",
    "an append is there once, or not at all",
    "an erasure has its receipt",
    "every acknowledged add is there once",
    "every acknowledged change is one version",
    "every task is settled",
    "the digest shows each task with its newest summary",
    "what is there is found",
    "what was deleted, replaced or refused is stored nowhere",
)
"""Promises of which a minute has to have checked some, or it has proved little."""

QUEUES = ("QueueUrl", "DocumentsQueueUrl", "DeadLetterQueueUrl")
OBJECT = re.compile(r"\b(?:r7|r30|r90|r365|keep)/20\d{6}/[A-Za-z0-9._/-]+")


@dataclass
class Outcome:
    """What a soak did and found."""

    rows: list[tuple[str, str]]
    violations: list[str]
    unchecked: list[str]


def soak(folder: Path, seconds: float, seed: int, *, tell: Callable[[str], None] = str) -> Outcome:
    """Run the traffic for so long, settle, and check; `tell` hears twice a minute how far it is."""
    history = History(folder / "history.jsonl")
    draw, over, began = random.Random(seed), threading.Event(), time.monotonic()
    server = Killed(folder / "home", draw)
    key = server.running.credentials["api_key"]
    actors = _actors(server, history, over, seed)
    threads = [threading.Thread(target=_act, args=(actor, over), name=actor.name) for actor in actors]
    for thread in threads:
        thread.start()
    _wait_for(actors)
    server.start()
    _let_run(seconds, history, tell)
    over.set()
    for thread in threads:
        thread.join()
    server.stop()
    traffic = time.monotonic() - began
    tell("settling what is left, and checking all of it")
    _check(folder / "home", key, actors, history)
    history.close()
    rows = [
        ("seed", str(seed)),
        ("seconds of traffic, and to settle and check", f"{traffic:.0f}, {time.monotonic() - began - traffic:.0f}"),
        ("requests", f"{sum(history.answers.values()):,}: {_told(history.answers)}"),
        ("AWS calls that failed", f"{server.faults:,}"),
        ("kills with -9", str(server.kills + 1)),
        *((what, f"{history.checked[what]:,} times") for what in sorted({*NEEDED, *history.checked})),
        ("violations", str(len(history.violations))),
    ]
    return Outcome(rows, history.violations, [what for what in NEEDED if not history.checked[what]])


def _let_run(seconds: float, history: History, tell: Callable[[str], None]) -> None:
    began = time.monotonic()
    while (left := began + seconds - time.monotonic()) > 0:
        time.sleep(min(left, TOLD_SECONDS))
        requests, broken = sum(history.answers.values()), len(history.violations)
        tell(f"{time.monotonic() - began:.0f} of {seconds:.0f} s, {requests:,} requests, {broken} violations")


def _wait_for(actors: list[Actor]) -> None:
    """Wait until all actors are under way: where calls fail, a worker that is killed may not end an add in a minute.

    Without one, nothing would ever be corrected or forgotten.
    """
    until = time.monotonic() + PRELUDE_SECONDS
    while not all(actor.is_under_way for actor in actors) and time.monotonic() < until:
        time.sleep(0.2)


def _told(answers: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(answers.items()))


def _actors(server: Killed, history: History, over: threading.Event, seed: int) -> list[Actor]:
    shared: dict[str, str] = {}
    kinds: list[tuple[Callable[..., Actor], str, int]] = [
        (Projects, "projects", 2),
        (Stores, "stores", 2),
        (partial(Appending, shared=shared), "appending", 2),
        (Memories, "memories", 2),
        (partial(Memories, forgets_all=4.0), "forgetful", 1),
        (Files, "files", 1),
        (Platform, "platform", 1),
    ]
    named = [(kind, f"{name}{number}") for kind, name, count in kinds for number in range(count)]
    return [
        kind(name, Connection(server, history, name, over).call, history, random.Random(f"{seed}/{name}"), lane)
        for lane, (kind, name) in enumerate(named, 1)
    ]


def _act(actor: Actor, over: threading.Event) -> None:
    while not over.is_set():
        try:
            actor.step()
        except Exception as error:  # noqa: BLE001 - an answer that can't be read is a finding, not the end of a soak
            actor.history.hold("every answer can be read", holds=False, told=f"{actor.name}: {error!r}")
            return


# ---- Afterwards ----------------------------------------------------------------------------------------------------


def _check(home: Path, key: str, actors: list[Actor], history: History) -> None:
    """Settle what the server left behind, in this process and without faults, and check all that was promised."""
    with _opened(home) as stack:
        _settle(stack, history)
        ask = _asking(stack, key)
        for actor in actors:
            actor.check(ask)
        hold_payloads(stack, history)
        check_objects(stack, history)
        hold_words(stack, actors, history)
        hold_index(stack, home / "search", history)


@contextmanager
def _opened(home: Path) -> Iterator[Whole]:
    """Open the state of a local run's home in this process, ten minutes later."""
    with quiet(), Emulator(home / "state") as emulator, nothing_left_beside():
        stack = Stack(TEMPLATE)
        make_resources(stack, presigning_aws())
        emulator.restore()
        clock = MovedClock(int(time.time() * 1000) + 10 * MINUTE_MS)
        yield Whole(emulator, stack, home / "search", clock)


def _settle(stack: Whole, history: History) -> None:
    """Let sweeper and workers do what is left, by a clock that is moved on, and try dead letters again.

    An add whose worker was killed at each of its attempts has failed, and its message is a dead letter.
    """
    left: list[str] = []
    for _ in range(SETTLING):
        stack.run("sweep")
        stack.work()
        left = list(_unsettled(stack))
        revived = 0 if left else _redriven(stack)
        history.checked[REVIVED] += revived
        if not left and not revived:
            break
        stack.clock.move(ms=5 * MINUTE_MS)
    history.hold("no task is left without an end", holds=not left, told=left)
    stack.clock.move(ms=RESTING_MS)
    stack.run("sweep")
    stack.work()


def _redriven(stack: Whole) -> int:
    """Take the dead letters back, as an operator does; return how many there were."""
    outputs, aws = stack.stack.outputs, stack.aws
    queue, documents, dead = (Queue(aws, str(outputs[name])) for name in QUEUES)
    backing = Backing(
        Table(aws, str(outputs["TableName"])), Objects(aws, ""), stack.clock, queue=queue, documents_queue=documents
    )
    redrive = Redrive(backing, documents, dead, aws)
    redrive.run()
    return len(redrive.done)


def _unsettled(stack: Whole) -> Iterator[str]:
    for item in stack.items():
        is_task = item["pk"]["S"].startswith("W#") and item["sk"]["S"] == "task"
        if is_task and item["status"]["S"] == "processing":
            yield f"{item['pk']['S']} {item.get('phase')}"


def _asking(stack: Whole, key: str) -> Any:
    def ask(method: str, path: str, **how: Any) -> Reply:
        url = urlsplit(path)
        headers = [(b"authorization", f"Bearer {how.get('key') or key}".encode())]
        body = json.dumps(how["json"]).encode() if "json" in how else b""
        headers += [(b"content-type", b"application/json")] if body else []
        headers += [(name.lower().encode(), value.encode()) for name, value in how.get("headers", {}).items()]
        answer = stack.send(Request(method, url.path, url.query, headers, body))
        return Reply(answer.status, answer.body, {n.decode().lower(): v.decode("latin-1") for n, v in answer.headers})

    return ask


def check_objects(stack: Whole, history: History) -> None:
    """Hold the bucket to the table: nothing is named that is not there; two days later nothing is there unnamed.

    Pieces of a file and an add's plan lose their objects first once it has ended; a row that stays goes with its task.
    """
    keys, named, ended = set(stack.object_keys()), _named(stack), _ended(stack)
    missing = sorted(f"{key} of {row}" for key, row in named.items() if key not in keys and _work_of(row) not in ended)
    history.hold("every object that a record names is there", holds=not missing, told=missing[:10])
    stack.clock.move(ms=2 * DAY_MS)
    for _ in range(SETTLING):
        if stack.run("reconcile")["complete"]:
            break
    left = {key for key in stack.object_keys() if not key.startswith(("keep/erasures/", "up/"))}
    unnamed = sorted(left - _named(stack).keys())
    history.hold("every object that is there has a record", holds=not unnamed, told=unnamed[:10])


def _named(stack: Whole) -> dict[str, Key]:
    """Return the keys of the objects that rows name, but for those that a job is to remove, each with its row's key."""
    rows = [item for item in stack.items() if item.get("kind", {}).get("S") != "remove_object"]
    found = {key: _key(row) for row in rows for key in OBJECT.findall(json.dumps(row))}
    return {key: row for key, row in found.items() if not key.startswith("keep/erasures/")}


def _ended(stack: Whole) -> set[Key]:
    """Return the keys of the tasks, and of the jobs of files, that have ended."""
    return {_key(item) for item in stack.items() if item.get("status", {}).get("S") in ENDED}


def _key(item: Item) -> Key:
    return item["pk"]["S"], item["sk"]["S"]


def _work_of(row: Key) -> Key:
    """Return the key of the job that a piece is of, of the task that a plan is of; else one that nothing has."""
    kind, *numbers = row[1].split("#")
    return row[0], f"file#{numbers[0]}" if kind == "piece" else "task" if kind == "plan" else ""
