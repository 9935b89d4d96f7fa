"""Who uses the server during a soak. Each knows what it wrote, what was acknowledged, and so what must be there."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tests.soak.history import Reply, Thing

if TYPE_CHECKING:
    import random

    from tests.soak.history import History

PROJECTS = "/sandbox/memory/v1"
LONG = 40_000
"""Characters of a text that becomes an object."""

WORD = re.compile(r"number\d+x")
"""A word that was written once, by one actor: by it a text is known wherever it is stored."""


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
    lane: int = 0
    serial: int = 0
    sent: set[str] = field(default_factory=set)

    @property
    def is_under_way(self) -> bool:
        """Tell whether it has come to all that it does: then its server may be killed."""
        return True

    def step(self) -> None:
        """Do one thing."""

    def check(self, ask: Ask) -> None:
        """Hold what is there to what was written, once everything is settled."""

    def gone(self) -> set[str]:
        """Return the words that were deleted, replaced or refused, and may be stored nowhere any more."""
        return set()

    def word(self) -> str:
        """Return a word that was never written before."""
        self.serial += 1
        word = f"number{self.lane * 1_000_000 + self.serial}x"
        self.sent.add(word)
        return word

    def fresh(self) -> str:
        """Return a text that was never written before, sometimes a long one."""
        text = f"{self.name} {self.word()}"
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


def every(ask: Ask, path: str) -> list[dict[str, Any]]:
    """Return what all pages of a list have."""
    found: list[dict[str, Any]] = []
    page = ""
    while True:
        told = ask("GET", path + page).json
        found += told["data"]
        if not told["next_page"]:
            return found
        page = f"&page={told['next_page']}"


def words_in(text: str | bytes | None) -> set[str]:
    """Return the words of a text that tell whose it is."""
    return set(WORD.findall(text.decode() if isinstance(text, bytes) else text or ""))


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
        listed = {told["id"] for told in every(ask, "/v1/api_keys?limit=100")}
        certain = self.keys.keys() - self.revoked.keys() - self.unsure
        holds = certain <= listed and not listed & self.revoked.keys()
        self.history.hold("the list has every key that was not revoked", holds=holds, told=(self.name, sorted(listed)))
