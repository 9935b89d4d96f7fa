"""PrecisionMemBench's beliefs, kept as memories the way an agent would keep them; over HTTP events, with what ships.

The data (`precision/`, MIT, see its LICENSE) is one user's 35 beliefs about code and about a novel, and questions
with the beliefs that answer them. One belief is one verbatim memory: its names, and what is believed. Its scope is
the `agent_id`; its type, and whether it is pinned, are `categories`. What supersedes another changes that memory's
text; what is resolved is forgotten. The index is the embedded one, the embedder the default one.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.wiring.memories import Memories
from tests.emulator.cloud import emulated_cloud
from tests.memories.front import ADD, ROOT, Front, body, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.clients.events import Client

DATA = Path(__file__).parent / "precision"
USER = "test-user"

RECALLED, PINNED, OPEN = "recalled", "pinned", "open_question"
"""Where the data has a belief appear: found by a question, always there, or among the questions that are open."""


@cache
def data(name: str) -> list[dict[str, Any]]:
    """Return one of the data's files: `beliefs.seed`, `retrieval.cases` or `session-retrieval.cases`."""
    found: list[dict[str, Any]] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return found


def place_of(belief: dict[str, Any]) -> str:
    if belief["type"] == "open_question":
        return OPEN
    return PINNED if belief["pinned"] else RECALLED


def text_of(belief: dict[str, Any]) -> str:
    names = [belief["canonical_name"].replace("_", " "), *belief["aliases"]]
    return f"{', '.join(names)}: {belief['content']}"


def in_scopes(scopes: Sequence[str], place: str | None = None) -> dict[str, Any]:
    """Return the filters of what is in one of the scopes, and in a place."""
    every = [] if place is None else [{"mem_type": {"eq": place}}]
    some = [{"agent_id": {"eq": scope}} for scope in scopes]
    return {"and": every, "or": some}


@dataclass
class Mind:
    """The beliefs that are kept: `held` by the ids of their memories, as they were last."""

    client: Client
    held: dict[str, dict[str, Any]] = field(default_factory=dict)

    def learn_all(self) -> None:
        """Go through all that was ever believed, in its order."""
        seed = data("beliefs.seed")
        followed = {belief["superseded_by"] for belief in seed}
        for belief in seed:
            if belief["_id"] not in followed:
                memory_id = self.learn(belief)
                for newer in _later(belief, seed):
                    self.change(memory_id, newer)
        for memory_id in [key for key, belief in self.held.items() if belief["resolved_at"]]:
            self.forget(memory_id)

    def learn(self, belief: dict[str, Any]) -> str:
        said = message(text_of(belief))
        kept = body(said, user_id=belief["user_id"], mode="raw", agent_id=belief["scope"][0], async_mode=False)
        answer = self.client.post(ADD, json_body=kept)
        assert answer.status == 200, answer.content
        [event] = answer.json["data"]["data"]
        self.change(event["id"], belief)
        return str(event["id"])

    def change(self, memory_id: str, belief: dict[str, Any]) -> None:
        """Let a memory say what is believed now."""
        told = {"memory": text_of(belief), "categories": [belief["type"], place_of(belief)]}
        answer = self.client.patch(f"{ROOT}/{memory_id}", json_body=told)
        assert answer.status == 200, answer.content
        self.held[memory_id] = belief

    def forget(self, memory_id: str) -> None:
        answer = self.client.delete(f"{ROOT}/{memory_id}")
        assert answer.status == 200, answer.content
        del self.held[memory_id]

    def memory_of(self, belief_id: str) -> str:
        [found] = [memory_id for memory_id, belief in self.held.items() if belief["_id"] == belief_id]
        return found

    def found(
        self, query: str, scopes: Sequence[str], place: str | None = RECALLED, *, user: str = USER, **wish: Any
    ) -> list[str]:
        """Return the beliefs that a search finds, best first; each says what it says now."""
        asked = {"user_id": user, "query": query, "output_mode": "raw", "filters": in_scopes(scopes, place), **wish}
        answer = self.client.post(f"{ROOT}/search", json_body=asked)
        assert answer.status == 200, answer.content
        return self._named(answer.json["data"]["data"])

    def kept(self, scopes: Sequence[str], place: str | None = None, user: str = USER) -> list[str]:
        """Return the beliefs that a list has, whatever is asked."""
        query = {"user_id": user, "limit": "100", "filters": json.dumps(in_scopes(scopes, place))}
        answer = self.client.get(ROOT, query=query)
        assert answer.status == 200, answer.content
        assert answer.json["data"]["next_cursor"] is None
        return self._named(answer.json["data"]["data"])

    def _named(self, hits: Sequence[dict[str, Any]]) -> list[str]:
        beliefs = [self.held[hit["id"]] for hit in hits]
        assert [hit["memory"] for hit in hits] == [text_of(belief) for belief in beliefs]
        assert len({hit["id"] for hit in hits}) == len(hits)
        return [belief["_id"] for belief in beliefs]


def _later(belief: dict[str, Any], seed: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return what superseded a belief, and what superseded that."""
    while belief["superseded_by"]:
        [belief] = [newer for newer in seed if newer["_id"] == belief["superseded_by"]]
        yield belief


@contextmanager
def front_with_index() -> Iterator[Front]:
    """Start a stack whose memories are added to and searched with what ships: learning, embedder and index."""
    folder = tempfile.mkdtemp(prefix="index-")
    try:
        with emulated_cloud() as cloud:
            front = Front(cloud, settings={"INDEX_FOLDER": folder})
            yield front
            Memories(front.environ, cloud.aws, front.clock).index.close()  # type: ignore[attr-defined]
    finally:
        shutil.rmtree(folder)


@contextmanager
def mind() -> Iterator[Mind]:
    """Start a stack that has learnt all beliefs."""
    with front_with_index() as front:
        made = Mind(front.client())
        made.learn_all()
        yield made
