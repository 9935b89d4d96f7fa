"""Who keeps turns and artifacts during a soak, and reads lists and digests of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.soak.actors import PROJECTS, Actor, words_in
from tests.soak.history import ABSENT, Thing

if TYPE_CHECKING:
    from tests.soak.actors import Ask

TASKS, TURNS = ("a", "b"), (1, 2, 3)


@dataclass
class Projects(Actor):
    """Turns and artifacts of a few tasks."""

    turns: dict[tuple[str, int], Thing] = field(default_factory=dict)
    artifacts: dict[tuple[str, int], Thing] = field(default_factory=dict)
    shown: tuple[str, str] | None = None  # the last digest: its ETag, and what it said

    def __post_init__(self) -> None:
        places = [(f"{self.name}-{task}", turn) for task in TASKS for turn in TURNS]
        self.turns = {place: Thing() for place in places}
        self.artifacts = {place: Thing() for place in places}

    def step(self) -> None:
        place = self.draw.choice(list(self.turns))
        reads = (self.read_turn, self.read_artifact, self.list_tasks, self.follow_digest)
        kinds = (self.put_turn, self.put_artifact, self.delete, *reads)
        self.draw.choices(kinds, (8, 5, 1, 5, 3, 1, 2))[0](place)

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
        value = _whole(reply.json) if reply.acknowledged else ABSENT
        self.read("a turn is what was acknowledged last", self.turns[place], reply, value)
        if reply.acknowledged:
            listed, possible = bool(reply.json["artifacts"]), self.artifacts[place].possible
            holds = (ABSENT in possible) if not listed else possible != [ABSENT]
            self.history.hold("a turn lists its artifact", holds=holds, told=(place, listed, possible))

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

    def follow_digest(self, place: tuple[str, int]) -> None:
        """Read the digest before and after a write: what was read is no more what there is."""
        self.read_digest()
        self.put_turn(place)
        self.read_digest()

    def read_digest(self, _: object = None, ask: Ask | None = None) -> None:
        asked = {"If-None-Match": self.shown[0]} if self.shown else {}
        reply = (ask or self.ask)("GET", f"{PROJECTS}/project.md", headers=asked)
        if reply.acknowledged:
            self.shown = reply.headers["etag"], reply.body.decode()
        if self.shown and (reply.acknowledged or reply.status == 304):
            sections = dict(part.split("\n", 1) for part in self.shown[1].split("\n## ")[1:])
            for task in TASKS:
                self._hold_section(f"{self.name}-{task}", sections.get(f"{self.name}-{task}"))

    def _hold_section(self, task: str, section: str | None) -> None:
        """Hold what a digest says of a task to its newest summary, or to the task not being there."""
        turns = [self.turns[task, turn].possible for turn in reversed(TURNS)]
        allowed = set[str]()
        for possible in turns:
            allowed |= {word for value in possible for word in words_in(value)}
            if all(possible):
                break  # there is certainly one: nothing older is shown
        certain = any(map(all, turns))
        if section is None:
            holds = all(ABSENT in possible for possible in turns)
        else:
            shown = words_in(section)
            holds = any(set(possible) != {ABSENT} for possible in turns)
            holds = holds and (len(shown) == 1 and shown <= allowed if shown else not certain)
        told = (task, section and section[:200], sorted(allowed))
        self.history.hold("the digest shows each task with its newest summary", holds=holds, told=told)

    def check(self, ask: Ask) -> None:
        for place in self.turns:
            self.read_turn(place, ask)
            self.read_artifact(place, ask)
            self.hold_etag(ask, _turn(place))
            self.hold_etag(ask, f"{_turn(place)}/artifacts/log.txt")
        self.list_tasks(None, ask)
        self.read_digest(None, ask)
        self.hold_etag(ask, f"{PROJECTS}/project.md")

    def gone(self) -> set[str]:
        things = (*self.turns.values(), *self.artifacts.values())
        return self.sent - {word for thing in things for value in thing.possible for word in words_in(value)}


def _whole(turn: dict[str, Any]) -> str:
    """Return a turn's summary, if it is of the same write as the rest of it."""
    summary, agent = turn["summary_md"], turn["meta"].get("agent_id", "")
    return summary if agent == summary[:50] else f"{summary[:50]}, with the meta of {agent}"


def _turn(place: tuple[str, int]) -> str:
    return f"{PROJECTS}/tasks/{place[0]}/turns/{place[1]}"
