"""Who writes to memory stores during a soak: each to a store of its own, and several to one memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.soak.actors import Actor, every, words_in
from tests.soak.history import ABSENT, Reply, Thing

if TYPE_CHECKING:
    from tests.soak.actors import Ask

STORES = "/v1/memory_stores"


@dataclass
class Stores(Actor):
    """Memories at a few paths of a store of its own, which is deleted now and then, and another one made."""

    store: str = ""
    ending: bool = False
    ended: list[str] = field(default_factory=list)
    nowhere: set[str] = field(default_factory=set)
    paths: dict[str, Thing] = field(default_factory=dict)
    written: int = 0
    unsure: int = 0
    removed: list[str] = field(default_factory=list)

    def step(self) -> None:
        if not self.store:
            self._begin()
            return
        if self.ending or self.draw.random() < 0.006:
            self._end()
            return
        path = self.draw.choice(list(self.paths))
        found = self.found(self.ask, path)
        if found is not None:
            kinds = (self.write, self.retrieve, self.rename, self.remove)
            self.draw.choices(kinds, (6, 3, 1, 1))[0](path, found[1])

    def _begin(self) -> None:
        made = self.ask("POST", STORES, json={"name": self.name})
        if made.acknowledged:
            self.store, self.ending, self.written, self.unsure, self.removed = made.json["id"], False, 0, 0, []
            self.paths = {f"/a/f{n}.md": Thing() for n in range(5)}

    def _end(self) -> None:
        """Delete the store, as often as it takes to be told that it is gone."""
        self.ending = True
        reply = self.ask("DELETE", f"{STORES}/{self.store}")
        if reply.acknowledged or reply.status == 404:
            self.ended.append(self.store)
            self.store, self.nowhere = "", set(self.sent)

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
        self.nowhere |= words_in(content) if reply.refused else set()

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
        there = {told["id"] for told in every(ask, f"{STORES}?limit=100")}
        for store in self.ended:
            status = ask("GET", f"{STORES}/{store}").status
            holds = status == 404 and store not in there
            self.history.hold("a store that was deleted is not there", holds=holds, told=(store, status))
        if self.store and not self.ending:
            self._check_store(ask)

    def gone(self) -> set[str]:
        return self.nowhere

    def _check_store(self, ask: Ask) -> None:
        for path in self.paths:
            found = self.found(ask, path)
            assert found is not None
            self.retrieve(path, found[1], ask)
        for memory in self.removed:
            status = ask("GET", f"{STORES}/{self.store}/memories/{memory}").status
            self.history.hold("a memory that was deleted is not there", holds=status == 404, told=(memory, status))
        versions = every(ask, f"{STORES}/{self.store}/memory_versions?limit=100")
        holds = self.written <= len(versions) <= self.written + self.unsure
        told = (self.name, self.written, len(versions), self.unsure)
        self.history.hold("every acknowledged change is one version", holds=holds, told=told)


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
            line = f"<{self.word()}>"
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

    def gone(self) -> set[str]:
        return {word for line, reply in self.lines.items() if reply.refused for word in words_in(line)}
