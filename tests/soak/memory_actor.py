"""Who adds to memories during a soak, searches, corrects and forgets."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.soak.actors import WORD, Actor, words_in
from tests.soak.history import ABSENT, Thing

if TYPE_CHECKING:
    from tests.soak.actors import Ask
    from tests.soak.history import Reply

MEMORIES = "/v1/memories"
ATTEMPTS = 12
BACKLOG = 15
ROOMS = ("kitchen", "garden", "attic", "cellar", "office")


@dataclass
class Add:
    """One add: its texts, the task of its acknowledgement if it has one, and whether all of the user went since."""

    texts: list[str]
    task: str | None
    mode: str
    maybe: bool = False
    gone: bool = False
    gone_maybe: bool = False


@dataclass
class Memories(Actor):
    """One user's memories. An add that is not acknowledged is sent again, under its idempotency key."""

    forgets_all: float = 0.0  # how often, where an add is 8
    adds: list[Add] = field(default_factory=list)
    things: dict[str, Thing] = field(default_factory=dict)  # by id: those that were corrected or forgotten
    said: dict[str, str] = field(default_factory=dict)  # by id: what such a memory said first
    corrections: dict[str, set[str]] = field(default_factory=dict)  # by id: the words that it may have said since
    erasures: list[str] = field(default_factory=list)

    @property
    def is_under_way(self) -> bool:
        return bool(self.erasures) if self.forgets_all else len(self.things) > 1

    def step(self) -> None:
        kinds = (self.add, self.learn, self.search, self.correct, self.forget, self.forget_all)
        self.draw.choices(kinds, (8, 2, 4, 4, 3, self.forgets_all))[0]()

    # ---- Writing -----------------------------------------------------------------------------------------------

    def add(self, mode: str = "raw") -> None:
        if self._is_behind():
            self.search()
            return
        texts = [self._sentence() for _ in range(self.draw.randrange(1, 4))]
        messages = [{"role": "user", "content": text, "timestamp": -1} for text in texts]
        key = {"idempotency_key": f"{self.name}-{self.serial}"}
        body = {"user_id": self.name, "mode": mode, "messages": messages, "metadata": key}
        unsure = False
        for _ in range(ATTEMPTS):
            reply = self.ask("POST", f"{MEMORIES}/add", json=body)
            if reply.acknowledged:
                self.adds.append(Add(texts, reply.json["data"]["task_id"], mode))
                return
            self.history.hold("an add that is right is not refused", holds=not reply.refused, told=reply.body[:300])
            unsure = True
        self.adds.append(Add(texts, None, mode, maybe=unsure))

    def _is_behind(self) -> bool:
        """Tell whether the worker has still to come to the adds before the last few."""
        waited_for = [add.task for add in self.adds if add.task][-BACKLOG:]
        if len(waited_for) < BACKLOG:
            return False
        reply = self.ask("GET", f"{MEMORIES}/add/status/{waited_for[0]}")
        return not reply.acknowledged or reply.json["status"] == "processing"

    def learn(self) -> None:
        self.add("default")

    def _sentence(self) -> str:
        return f"{self.name} keeps {self.word()} in the {self.draw.choice(ROOMS)}."

    def correct(self) -> None:
        if known := self._known():
            text = self._sentence()
            reply = self.ask("PATCH", f"{MEMORIES}/{known['id']}", json={"memory": text})
            self._thing(known).write(text, reply)
            self.corrections.setdefault(known["id"], set()).update(words_in(text))

    def forget(self) -> None:
        if known := self._known():
            thing = self._thing(known)
            reply = self.ask("DELETE", f"{MEMORIES}/{known['id']}")
            if reply.status == 404:
                told = (self.name, known["id"], thing.possible)
                self.history.hold("what is not there was forgotten", holds=ABSENT in thing.possible, told=told)
                thing.possible = [ABSENT]
            thing.write(ABSENT, reply)

    def forget_all(self) -> None:
        """Forget the user, the first time once there is something, later also while all of it waits for a worker."""
        if self._known() is None and (not self.erasures or self.draw.random() < 0.7):
            return
        reply = self.ask("DELETE", f"{MEMORIES}?user_id={quote(self.name)}")
        for add in self.adds:
            add.gone = add.gone or reply.acknowledged
            add.gone_maybe = add.gone_maybe or not reply.refused
        for thing in self.things.values():
            thing.write(ABSENT, reply)
        if reply.acknowledged:
            self.erasures.append(reply.json["data"]["task_id"])

    def _known(self) -> dict[str, Any] | None:
        """Return any memory of the list that is word for word a message's."""
        listed = self._page(self.ask, "")
        return self.draw.choice(listed[0]) if listed and listed[0] else None

    def _thing(self, known: dict[str, Any]) -> Thing:
        self.said.setdefault(known["id"], known["memory"])
        return self.things.setdefault(known["id"], Thing([known["memory"]]))

    # ---- Reading -----------------------------------------------------------------------------------------------

    def _page(self, ask: Ask, cursor: str, kind: str = "raw") -> tuple[list[dict[str, Any]], str | None] | None:
        reply = ask("GET", f"{MEMORIES}?user_id={quote(self.name)}&kind={kind}&limit=100{cursor}")
        if not reply.acknowledged:
            return None
        return reply.json["data"]["data"], reply.json["data"]["next_cursor"]

    def search(self) -> None:
        reply = self._searched(self.ask, self.draw.choice(ROOMS))
        if reply.acknowledged:
            for hit in reply.json["data"]["data"]:
                self._hold_hit(hit)

    def _searched(self, ask: Ask, query: str, most: int = 50) -> Reply:
        body = {"user_id": self.name, "query": query, "output_mode": "raw", "k_dense": 0, "k_sparse": most}
        return ask("POST", f"{MEMORIES}/search", json=body)

    def _hold_hit(self, hit: dict[str, Any]) -> None:
        """Hold what a search or a list shows to what may be there."""
        thing = self.things.get(hit["id"])
        gone = {text for add in self.adds if add.gone for text in add.texts}
        right = hit["memory"] in thing.possible if thing else hit["memory"] not in gone
        told = (self.name, hit["id"], hit["memory"], thing and thing.possible)
        self.history.hold("what was forgotten or corrected is found no more", holds=right, told=told)

    # ---- In the end --------------------------------------------------------------------------------------------

    def check(self, ask: Ask) -> None:
        listed = self._listed(ask)
        for memory in listed:
            self._hold_hit(memory)
        for memory_id, thing in self.things.items():
            reply = ask("GET", f"{MEMORIES}/{memory_id}")
            value = reply.json["data"]["memory"] if reply.acknowledged else ABSENT
            self.read("a memory that was corrected or forgotten is so", thing, reply, value)
            self.hold_etag(ask, f"{MEMORIES}/{memory_id}")
        texts = Counter(self.said.get(memory["id"], memory["memory"]) for memory in listed)
        shown = {memory["memory"] for memory in listed}
        touched = set(self.said.values())
        for add in self.adds:
            self._check_add(ask, add, texts, touched)
        for text in sorted(shown):
            reply = self._searched(ask, WORD.findall(text)[0], 3)
            hits = {hit["memory"] for hit in reply.json["data"]["data"]}
            self.history.hold("what is there is found", holds=text in hits, told=(text, sorted(hits)[:5]))
        facts = Counter(word for fact in self._listed(ask, "fact") for word in words_in(fact["memory"]))
        for word, times in facts.items():
            self.history.hold("no fact is there twice", holds=times == 1, told=(self.name, word, times))
        for erasure in self.erasures:
            told = ask("GET", f"{MEMORIES}/erasures/{erasure}").json["data"]
            self.history.hold("an erasure has its receipt", holds=told["status"] == "success", told=json.dumps(told))

    def gone(self) -> set[str]:
        """Return the words of what was forgotten; what was learnt of a message stays when the message goes alone."""
        learnt = {text for add in self.adds if add.mode != "raw" and not add.gone for text in add.texts}
        texts = {text for add in self.adds if add.gone for text in add.texts}
        found = {word for text in texts for word in words_in(text)}
        for memory_id, thing in self.things.items():
            if thing.possible == [ABSENT]:
                found |= self.corrections.get(memory_id, set())
                found |= set() if self.said[memory_id] in learnt else words_in(self.said[memory_id])
        return found

    def _listed(self, ask: Ask, kind: str = "raw") -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self._page(ask, cursor, kind)
            assert page is not None
            listed += page[0]
            if not page[1]:
                return listed
            cursor = f"&cursor={page[1]}"

    def _check_add(self, ask: Ask, add: Add, texts: Counter[str], touched: set[str]) -> None:
        counts = [texts[text] for text in add.texts]
        told: Any = (self.name, add, counts)
        self.history.hold("no memory is there twice", holds=max(counts) <= 1, told=told)
        whole = len({texts[text] for text in add.texts if text not in touched}) <= 1
        self.history.hold("an add is there whole or not at all", holds=whole, told=told)
        if add.task is None:
            return
        reply = ask("GET", f"{MEMORIES}/add/status/{add.task}")
        status = reply.json.get("status") if reply.acknowledged else reply.status
        self.history.hold("every task is settled", holds=status in {"success", "failed"}, told=(add, reply.body[:300]))
        if status == "success" and not add.gone_maybe:
            there = all(texts[text] == 1 for text in add.texts if text not in touched)
            self.history.hold("every acknowledged add is there once", holds=there, told=told)
        if status == "failed":
            right = add.gone_maybe
            self.history.hold("a task fails for a reason", holds=right, told=(add, reply.body[:600]))
