"""Histories of many clients on a few paths can be told as if the operations had been one after the other.

Twenty clients create, update, rename, delete and read at the same time, with DynamoDB's real conflicts; in some
histories one archives the store meanwhile. For what they were answered, a search looks for an order that respects real
time and in which a simple tree of paths gives the same answers (linearizability, after Wing and Gong). No order means
a lost update, two files in one place, a file below a file, or a change in an archived store.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from shared.kernel.clock import SystemClock
from tests.projects.racing import slow_time
from tests.stores.audit import audit
from tests.stores.world import ROOT, StoreClient, store_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Answer
    from tests.stores.world import World

CLIENTS, ROUNDS, HISTORIES = 20, 4, 6
PATHS = ["/a", "/a/b", "/a/b/c", "/d", "/d/e"]

State = frozenset[tuple[str, str, str]]
"""The live memories: id, path, content; and, as if it were one, that the store is archived."""

ARCHIVED = "archived"


@dataclass(frozen=True)
class Event:
    """One operation: when it was asked and answered, what it wanted, and what it was told."""

    began: float
    ended: float
    verb: str
    memory: str
    path: str
    text: str
    expected: str
    status: int
    told: tuple[str, ...]

    @property
    def only_looks(self) -> bool:
        """Tell whether its answer says that it changed nothing."""
        return self.status != 200 or self.verb in {"read", "look"}

    def after(self, state: State) -> State | None:
        """Return the state that the operation leaves, or None where its answer does not fit."""
        held = {name: (path, text) for name, path, text in state}
        verbs = {
            "create": self._create,
            "update": self._update,
            "delete": self._delete,
            "read": self._read,
            "archive": self._archive,
            "look": self._look,
        }
        return verbs[self.verb](held)

    def _archive(self, held: dict[str, tuple[str, str]]) -> State | None:
        return _state({**held, ARCHIVED: ("", "")}) if self.status == 200 else None

    def _look(self, held: dict[str, tuple[str, str]]) -> State | None:
        return _state(held) if (self.told == (ARCHIVED,)) == (ARCHIVED in held) else None

    def _create(self, held: dict[str, tuple[str, str]]) -> State | None:
        if ARCHIVED in held:
            return _state(held) if self.status == 400 else None
        blockers = _blockers(held, self.path)
        if self.status == 409:
            return _state(held) if self.told in blockers else None
        if blockers or self.status != 200:
            return None
        return _state({**held, self.told[0]: (self.path, self.text)})

    def _update(self, held: dict[str, tuple[str, str]]) -> State | None:
        if ARCHIVED in held or self.memory not in held:
            return _state(held) if self.status == (400 if ARCHIVED in held else 404) else None
        path, text = held[self.memory]
        wanted = self.path or path, self.text or text
        if wanted == (path, text):
            return _state(held) if self.status == 200 else None
        if self.expected and self.expected != text:
            return _state(held) if self.told == ("stale",) else None
        blockers = _blockers({name: v for name, v in held.items() if name != self.memory}, wanted[0])
        if self.status == 409:
            return _state(held) if self.told in blockers else None
        if blockers or self.status != 200 or self.told != wanted:
            return None
        return _state({**held, self.memory: wanted})

    def _delete(self, held: dict[str, tuple[str, str]]) -> State | None:
        if self.memory not in held:
            return _state(held) if self.status == 404 else None
        if self.expected and self.expected != held[self.memory][1]:
            return _state(held) if self.told == ("stale",) else None
        return _state({n: v for n, v in held.items() if n != self.memory}) if self.status == 200 else None

    def _read(self, held: dict[str, tuple[str, str]]) -> State | None:
        if self.memory not in held:
            return _state(held) if self.status == 404 else None
        return _state(held) if self.told == held[self.memory] else None


def _state(held: dict[str, tuple[str, str]]) -> State:
    return frozenset((name, path, text) for name, (path, text) in held.items())


def _blockers(held: dict[str, tuple[str, str]], path: str) -> set[tuple[str, ...]]:
    return {
        (at, name)
        for name, (at, _) in held.items()
        if name != ARCHIVED
        if at == path or path.startswith(f"{at}/") or at.startswith(f"{path}/")
    }


def linearizable(events: list[Event]) -> bool:
    """Search for an order of the events that explains all their answers."""
    events = sorted(events, key=lambda event: event.began)
    seen: set[tuple[frozenset[int], State]] = set()
    stack: list[tuple[frozenset[int], State]] = [(frozenset(), frozenset())]
    while stack:
        done, state = stack.pop()
        if len(done) == len(events):
            return True
        left = [n for n in range(len(events)) if n not in done]
        horizon = min(events[n].ended for n in left)
        fits = [
            (n, after) for n in left if events[n].began <= horizon and (after := events[n].after(state)) is not None
        ]
        # What fits and can change nothing may as well come now: whatever order there is, it can be moved to here.
        # A change that happens to find all as it wants it is another matter: later it may be one.
        still = [n for n, after in fits if after == state and events[n].only_looks]
        for step in [(done | set(still), state)] if still else [(done | {n}, after) for n, after in fits]:
            if step not in seen:
                seen.add(step)
                stack.append(step)
    return False


class Actor:
    """A client that does something, and notes it."""

    archives_at: int | None = None  # in which of its rounds this client archives the store; below 0: others do

    def __init__(self, client: StoreClient, store: str, known: list[str], seed: int) -> None:
        self.client, self.store, self.known = client, store, known
        self.random = random.Random(seed)
        self.texts = (f"{seed}.{n}" for n in itertools.count())
        self.seen: dict[str, str] = {}  # the last content that this client saw, by memory

    def act(self, number: int) -> Event:
        if number == self.archives_at:
            return self._note("archive")
        if self.archives_at is not None and self.random.random() < 0.1:
            return self._note("look")
        if not self.known or self.random.random() < 0.3:
            return self._note("create", path=self.random.choice(PATHS), text=next(self.texts))
        return self._touch(self.random.choice(self.known[-6:]))

    def _touch(self, memory: str) -> Event:
        expected = self.seen.get(memory, "") if self.random.random() < 0.5 else ""
        kind = self.random.random()
        if kind < 0.3:
            return self._note("update", memory, text=next(self.texts), expected=expected)
        if kind < 0.55:
            return self._note("update", memory, path=self.random.choice(PATHS), expected=expected)
        if kind < 0.65:
            path = self.random.choice(PATHS)
            return self._note("update", memory, path=path, text=next(self.texts), expected=expected)
        if kind < 0.8:
            return self._note("delete", memory, expected=expected)
        return self._note("read", memory)

    def _note(self, verb: str, memory: str = "", path: str = "", *, text: str = "", expected: str = "") -> Event:
        began = time.monotonic()
        answer = self._send(verb, memory, path, text, expected)
        ended = time.monotonic()
        assert answer.status in ({200, 404, 409} if self.archives_at is None else {200, 400, 404, 409}), answer.content
        if verb == "create" and answer.status == 200:
            self.known.append(answer.json["id"])
        told = self._told(verb, answer)
        if verb == "read" and answer.status == 200:
            self.seen[memory] = told[1]
        return Event(began, ended, verb, memory, path, text, expected, answer.status, told)

    def _send(self, verb: str, memory: str, path: str, text: str, expected: str) -> Answer:
        digest = hashlib.sha256(expected.encode()).hexdigest()
        if verb == "archive":
            return self.client.post(f"{ROOT}/{self.store}/archive")
        if verb == "look":
            return self.client.get(f"{ROOT}/{self.store}")
        if verb == "create":
            return self.client.create(self.store, path, text)
        if verb == "read":
            return self.client.retrieve(self.store, memory)
        if verb == "delete":
            return self.client.remove(self.store, memory, query={"expected_content_sha256": digest} if expected else "")
        body = {"path": path or None, "content": text or None}
        guard = {"precondition": {"type": "content_sha256", "content_sha256": digest}} if expected else {}
        return self.client.update(self.store, memory, query="view=full", **body, **guard)

    @staticmethod
    def _told(verb: str, answer: Answer) -> tuple[str, ...]:
        if answer.status == 409:
            error = answer.json["error"]
            if error["type"] == "memory_precondition_failed_error":
                return ("stale",)
            assert error["type"] == "memory_path_conflict_error", error
            return error["conflicting_path"], error["conflicting_memory_id"]
        if answer.status in {400, 404} or verb in {"delete", "archive"}:
            return ()
        if verb == "look":
            return (ARCHIVED,) if answer.json["archived_at"] else ()
        return (answer.json["id"],) if verb == "create" else (answer.json["path"], answer.json["content"])


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with slow_time() as conflicts, store_world(conflicts=conflicts, clock=SystemClock()) as made:
        yield made


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_of_twenty_clients_has_an_order(world: World, seed: int, archived: bool) -> None:  # noqa: FBT001
    key = world.key()
    clients = [StoreClient(world.handler(), key) for _ in range(CLIENTS)]
    store, known = clients[0].store(), list[str]()
    actors = [Actor(client, store, known, 1000 * seed + n) for n, client in enumerate(clients)]
    if archived:
        for actor in actors:
            actor.archives_at = 1 + seed % 2 if actor is actors[-1] else -1
    together = threading.Barrier(CLIENTS)

    def run(actor: Actor) -> list[Event]:
        together.wait()
        return [actor.act(number) for number in range(ROUNDS)]

    with ThreadPoolExecutor(CLIENTS) as threads:
        events = [event for history in threads.map(run, actors) for event in history]
    # What is stored at the end is told by reads after all else.
    events += [actors[0]._note("read", memory) for memory in known]
    audit(world)
    assert linearizable(events), sorted(events, key=lambda event: event.began)
    done = {(event.verb, event.status) for event in events}
    print(f"{len(events)} operations: {sorted(done)}")


def test_the_search_sees_a_lost_update() -> None:
    def event(began: float, verb: str, text: str = "", told: tuple[str, ...] = (), expected: str = "") -> Event:
        return Event(began, began + 0.5, verb, "m" if verb != "create" else "", "/a", text, expected, 200, told)

    history = [
        event(0, "create", "one", ("m",)),
        event(1, "update", "two", ("/a", "two"), expected="one"),
        event(1.1, "update", "three", ("/a", "three"), expected="one"),
    ]
    assert linearizable(history[:2])
    assert not linearizable(history)
    assert not linearizable([*history[:2], event(3, "read", told=("/a", "one"))])


def test_the_search_sees_an_update_after_an_archive_that_somebody_could_tell() -> None:
    def event(began: float, verb: str, text: str = "", told: tuple[str, ...] = (), *, ended: float = 0.0) -> Event:
        memory = "m" if verb in {"update", "read"} else ""
        return Event(began, ended or began + 0.5, verb, memory, "/a", text, "", 200, told)

    late = event(1, "update", "two", ("/a", "two"), ended=9)
    history = [event(0, "create", "one", ("m",)), late, event(2, "archive")]
    assert linearizable([*history, event(3, "look", told=(ARCHIVED,)), event(4, "read", told=("/a", "two"))])
    assert not linearizable([*history, event(3, "look")])
    assert not linearizable([*history, event(3, "read", told=("/a", "one")), event(4, "read", told=("/a", "two"))])


def test_the_search_sees_two_files_in_one_place_and_a_file_below_a_file() -> None:
    one = Event(0, 0.5, "create", "", "/a", "x", "", 200, ("m1",))
    assert not linearizable([one, Event(0.1, 0.6, "create", "", "/a", "y", "", 200, ("m2",))])
    assert not linearizable([one, Event(0.1, 0.6, "create", "", "/a/b", "y", "", 200, ("m2",))])
    assert linearizable([one, Event(0.1, 0.6, "create", "", "/a/b", "y", "", 409, ("/a", "m1"))])


def test_the_search_leaves_a_change_its_place_where_it_would_change_nothing_now() -> None:
    def event(began: float, ended: float, verb: str, path: str, told: tuple[str, ...]) -> Event:
        return Event(began, ended, verb, "" if verb == "create" else "m", path, "x" * (verb == "create"), "", 200, told)

    made = event(0, 1, "create", "/a", ("m",))
    there, back = (event(2, 9, "update", path, (path, "x")) for path in ("/d", "/a"))
    assert linearizable([made, there, back, event(10, 11, "read", "", ("/a", "x"))])
    assert linearizable([made, there, back, event(10, 11, "read", "", ("/d", "x"))])
