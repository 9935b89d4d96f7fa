"""Who uses the server during a soak. Each knows what it wrote, what was acknowledged, and so what must be there."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tests.soak.history import ABSENT, Reply, Thing

if TYPE_CHECKING:
    import random

    from tests.soak.history import History

PROJECTS, STORES = "/sandbox/memory/v1", "/v1/memory_stores"
LONG = 40_000
"""Characters of a text that becomes an object."""


class Ask(Protocol):
    """Sends one request and returns its answer; during the soak over HTTP, afterwards in process."""

    def __call__(self, method: str, path: str, **how: Any) -> Reply: ...


@dataclass
class Actor:
    """One client that does one thing after the other."""

    name: str
    ask: Ask
    history: History
    draw: random.Random
    serial: int = 0

    def step(self) -> None:
        """Do one thing."""

    def check(self, ask: Ask) -> None:
        """Hold what is there to what was written, once everything is settled."""

    def fresh(self) -> str:
        """Return a text that was never written before, sometimes a long one."""
        self.serial += 1
        text = f"{self.name} {self.serial}"
        return text + " x" * (LONG // 2) if self.draw.random() < 0.15 else text

    def read(self, what: str, thing: Thing, reply: Reply, value: Any) -> None:
        """Hold a value that was read to what may be there; no answer tells nothing."""
        if not (reply.acknowledged or reply.status == 404):
            return
        told = f"{self.name}: {str(value)[:80]} is none of {[str(v)[:80] for v in thing.possible]}"
        self.history.hold(what, holds=value in thing.possible, told=told)
        thing.seen(value)

    def hold_etag(self, ask: Ask, path: str) -> None:
        """Hold what is there to its ETag."""
        told = ask("GET", path)
        if told.acknowledged:
            again = ask("GET", path, headers={"If-None-Match": told.headers["etag"]})
            self.history.hold("an ETag is that of what is there", holds=again.status == 304, told=(path, again.status))


@dataclass
class Projects(Actor):
    """Turns and artifacts of a few tasks."""

    turns: dict[tuple[str, int], Thing] = field(default_factory=dict)
    artifacts: dict[tuple[str, int], Thing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = [(f"{self.name}-{task}", turn) for task in ("a", "b") for turn in (1, 2, 3)]
        self.turns = {place: Thing() for place in places}
        self.artifacts = {place: Thing() for place in places}

    def step(self) -> None:
        place = self.draw.choice(list(self.turns))
        kinds = (self.put_turn, self.put_artifact, self.read_turn, self.read_artifact, self.delete, self.list_tasks)
        self.draw.choices(kinds, (8, 5, 5, 3, 1, 1))[0](place)

    def put_turn(self, place: tuple[str, int]) -> None:
        value = self.fresh()
        body = {"meta": {"agent_id": value[:50]}, "summary_md": value}
        self.turns[place].write(value, self.ask("PUT", _turn(place), json=body))

    def put_artifact(self, place: tuple[str, int]) -> None:
        value, turn = self.fresh().encode(), self.turns[place]
        reply = self.ask("PUT", f"{_turn(place)}/artifacts/log.txt", data=value)
        self.artifacts[place].write(value, reply)
        if reply.acknowledged:
            turn.possible = ["" if known is ABSENT else known for known in turn.possible]
        elif not reply.refused and ABSENT in turn.possible:
            turn.possible.append("")

    def read_turn(self, place: tuple[str, int], ask: Ask | None = None) -> None:
        reply = (ask or self.ask)("GET", _turn(place))
        value = reply.json["summary_md"] if reply.acknowledged else ABSENT
        self.read("a turn is what was acknowledged last", self.turns[place], reply, value)

    def read_artifact(self, place: tuple[str, int], ask: Ask | None = None) -> None:
        reply = (ask or self.ask)("GET", f"{_turn(place)}/artifacts/log.txt")
        value = reply.body if reply.acknowledged else ABSENT
        self.read("an artifact is what was acknowledged last", self.artifacts[place], reply, value)

    def delete(self, place: tuple[str, int]) -> None:
        reply = self.ask("DELETE", f"{PROJECTS}/tasks/{place[0]}")
        below = [things[p] for things in (self.turns, self.artifacts) for p in things if p[0] == place[0]]
        if reply.status == 404:
            gone = all(ABSENT in thing.possible for thing in below)
            self.history.hold("an unknown task has nothing", holds=gone, told=f"{self.name}: {place[0]}")
        for thing in below:
            if reply.acknowledged or reply.status == 404:
                thing.possible = [ABSENT]
            elif not reply.refused:
                thing.possible.append(ABSENT)

    def list_tasks(self, _: object = None, ask: Ask | None = None) -> None:
        reply = (ask or self.ask)("GET", f"{PROJECTS}/tasks?limit=200")
        if reply.acknowledged:
            listed = {told["task_id"] for told in reply.json["tasks"] if told["task_id"].startswith(f"{self.name}-")}
            certain = {place[0] for place, thing in self.turns.items() if ABSENT not in thing.possible}
            possible = {place[0] for place, thing in self.turns.items() if set(thing.possible) != {ABSENT}}
            holds = certain <= listed <= possible
            self.history.hold("the list has every task there is", holds=holds, told=(listed, certain, possible))

    def check(self, ask: Ask) -> None:
        for place in self.turns:
            self.read_turn(place, ask)
            self.read_artifact(place, ask)
            self.hold_etag(ask, _turn(place))
            self.hold_etag(ask, f"{_turn(place)}/artifacts/log.txt")
        self.list_tasks(None, ask)


def _turn(place: tuple[str, int]) -> str:
    return f"{PROJECTS}/tasks/{place[0]}/turns/{place[1]}"


@dataclass
class Stores(Actor):
    """Memories at a few paths of a store of its own."""

    store: str = ""
    paths: dict[str, Thing] = field(default_factory=lambda: {f"/a/f{n}.md": Thing() for n in range(5)})
    written: int = 0
    unsure: int = 0
    removed: list[str] = field(default_factory=list)

    def step(self) -> None:
        if not self.store:
            made = self.ask("POST", STORES, json={"name": self.name})
            self.store = made.json["id"] if made.acknowledged else ""
            return
        path = self.draw.choice(list(self.paths))
        found = self.found(self.ask, path)
        if found is not None:
            kinds = (self.write, self.retrieve, self.rename, self.remove)
            self.draw.choices(kinds, (6, 3, 1, 1))[0](path, found[1])

    def found(self, ask: Ask, path: str) -> tuple[Reply, dict[str, Any] | None] | None:
        """Return the memory at a path as the list has it; None where there was no answer."""
        reply = ask("GET", f"{STORES}/{self.store}/memories?path_prefix=/a/&limit=100")
        if not reply.acknowledged:
            return None
        return reply, next((entry for entry in reply.json["data"] if entry["path"] == path), None)

    def _count(self, reply: Reply) -> None:
        self.written += reply.acknowledged
        self.unsure += not reply.acknowledged and not reply.refused

    def write(self, path: str, found: dict[str, Any] | None) -> None:
        content, below = self.fresh(), f"{STORES}/{self.store}/memories"
        if found is None:
            reply = self.ask("POST", below, json={"path": path, "content": content})
        else:
            guard = {"type": "content_sha256", "content_sha256": found["content_sha256"]}
            reply = self.ask("POST", f"{below}/{found['id']}", json={"content": content, "precondition": guard})
        self._count(reply)
        self.paths[path].write(content, reply)

    def retrieve(self, path: str, found: dict[str, Any] | None, ask: Ask | None = None) -> None:
        if found is None:
            self.read("a memory is what was acknowledged last", self.paths[path], Reply(404), ABSENT)
            return
        reply = (ask or self.ask)("GET", f"{STORES}/{self.store}/memories/{found['id']}?view=full")
        if reply.acknowledged:
            content = reply.json["content"]
            self.read("a memory is what was acknowledged last", self.paths[path], reply, content)
            digest = hashlib.sha256(content.encode()).hexdigest()
            self.history.hold("a hash is its content's", holds=digest == reply.json["content_sha256"], told=path)

    def rename(self, path: str, found: dict[str, Any] | None) -> None:
        target = self.draw.choice(list(self.paths))
        if found is None or self.paths[target].possible != [ABSENT] or target == path:
            return
        reply = self.ask("POST", f"{STORES}/{self.store}/memories/{found['id']}", json={"path": target})
        self._count(reply)
        known = [value for value in self.paths[path].possible if value is not ABSENT]
        if reply.acknowledged:
            self.paths[target].possible, self.paths[path].possible = known, [ABSENT]
        elif not reply.refused:
            self.paths[target].possible += known
            self.paths[path].possible.append(ABSENT)

    def remove(self, path: str, found: dict[str, Any] | None) -> None:
        if found is not None:
            reply = self.ask("DELETE", f"{STORES}/{self.store}/memories/{found['id']}")
            self._count(reply)
            self.paths[path].write(ABSENT, reply)
            self.removed += [found["id"]] if reply.acknowledged else []

    def check(self, ask: Ask) -> None:
        if not self.store:
            return
        for path in self.paths:
            found = self.found(ask, path)
            assert found is not None
            self.retrieve(path, found[1], ask)
        for memory in self.removed:
            status = ask("GET", f"{STORES}/{self.store}/memories/{memory}").status
            self.history.hold("a memory that was deleted is not there", holds=status == 404, told=(memory, status))
        versions = _all(ask, f"{STORES}/{self.store}/memory_versions?limit=100")
        holds = self.written <= len(versions) <= self.written + self.unsure
        told = (self.name, self.written, len(versions), self.unsure)
        self.history.hold("every acknowledged change is one version", holds=holds, told=told)


def _all(ask: Ask, path: str) -> list[dict[str, Any]]:
    """Return what all pages of a list of memory stores have."""
    found: list[dict[str, Any]] = []
    page = ""
    while True:
        told = ask("GET", path + page).json
        found += told["data"]
        if not told["next_page"]:
            return found
        page = f"&page={told['next_page']}"


@dataclass
class Appending(Actor):
    """One of several who append to the same memory, each by its hash."""

    shared: dict[str, str] = field(default_factory=dict)
    lines: dict[str, Reply] = field(default_factory=dict)

    def step(self) -> None:
        if "memory" not in self.shared:
            self._begin()
            return
        read = self.ask("GET", f"{self._path}?view=full")
        if read.acknowledged:
            self.serial += 1
            line = f"<{self.name}:{self.serial}>"
            guard = {"type": "content_sha256", "content_sha256": read.json["content_sha256"]}
            body = {"content": read.json["content"] + line, "precondition": guard}
            self.lines[line] = self.ask("POST", self._path, json=body)

    @property
    def _path(self) -> str:
        return f"{STORES}/{self.shared['store']}/memories/{self.shared['memory']}"

    def _begin(self) -> None:
        if not self.name.endswith("0"):
            return
        if "store" not in self.shared:
            made = self.ask("POST", STORES, json={"name": "shared"})
            self.shared.update({"store": made.json["id"]} if made.acknowledged else {})
            return
        made = self.ask("POST", f"{STORES}/{self.shared['store']}/memories", json={"path": "/shared", "content": "|"})
        if made.status == 409:  # made by an attempt whose answer was lost
            made.body = made.body.replace(b"conflicting_memory_id", b"id", 1)
            self.shared["memory"] = made.json["error"]["id"]
        elif made.acknowledged:
            self.shared["memory"] = made.json["id"]

    def check(self, ask: Ask) -> None:
        if "memory" not in self.shared:
            return
        content = ask("GET", f"{self._path}?view=full").json["content"]
        for line, reply in self.lines.items():
            times = content.count(line)
            right = {1} if reply.acknowledged else {0} if reply.refused else {0, 1}
            told = (line, reply.status, times, reply.body[:200])
            self.history.hold("an append is there once, or not at all", holds=times in right, told=told)


@dataclass
class Platform(Actor):
    """Keys and a project's settings."""

    keys: dict[str, str] = field(default_factory=dict)
    revoked: Counter[str] = field(default_factory=Counter)
    unsure: set[str] = field(default_factory=set)
    retention: Thing = field(default_factory=lambda: Thing([30]))

    def step(self) -> None:
        self.draw.choice((self.make, self.revoke, self.set_project, self.read_project))()

    def make(self) -> None:
        made = self.ask("POST", "/v1/api_keys", json={"name": self.name, "role": "member"})
        if made.acknowledged:
            self.keys[made.json["id"]] = made.json["key"]

    def revoke(self) -> None:
        for key in list(self.keys)[:-2]:
            if key not in self.revoked:
                reply = self.ask("DELETE", f"/v1/api_keys/{key}")
                if reply.acknowledged:
                    self.revoked[key] += 1
                elif not reply.refused:
                    self.unsure.add(key)
                return

    def set_project(self) -> None:
        days = self.draw.choice((7, 30, 90, 365))
        self.retention.write(days, self.ask("PUT", f"/v1/projects/{self.name}", json={"retention_days": days}))

    def read_project(self, ask: Ask | None = None) -> None:
        reply = (ask or self.ask)("GET", f"/v1/projects/{self.name}")
        if reply.acknowledged:
            self.read("a setting is what was acknowledged last", self.retention, reply, reply.json["retention_days"])

    def check(self, ask: Ask) -> None:
        self.read_project(ask)
        for key, secret in self.keys.items():
            status = ask("GET", f"{PROJECTS}/tasks", key=secret).status
            right = {401} if key in self.revoked else {200, 401} if key in self.unsure else {200}
            self.history.hold("a key that was revoked is refused, another one is not", holds=status in right, told=key)
