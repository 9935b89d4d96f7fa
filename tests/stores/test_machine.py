"""A state machine: whatever is done to a store, it answers as a simple model of a tree does."""

from __future__ import annotations

import hashlib
import logging
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from shared.aws.writes import Update
from shared.retention.sweeper import HOUR_MS, STATE
from tests.projects.world import START_MS
from tests.stores.audit import audit, orphans
from tests.stores.world import FIRST, NEWEST, ROOT, StoreClient, store_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clients.events import Answer
    from tests.stores.world import World

    Draw = Callable[[Any], Any]

EXAMPLES, STEPS = 300, 60
RUNS_A_WORLD = 10
LIMIT = 12

# Few names, so that paths meet; those that sort before, at and after '/' show that order is the path's own.
names = st.sampled_from(["a", "a-", "a.b", "b", "é", "\U0001f600"])
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
sizes = st.sampled_from([100, 4])
texts = st.sampled_from(["", "x", "e\u0301", "\x00"])


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Memory:
    """A live memory of the model."""

    path: str
    text: str
    version: str
    made: int
    changed: int


class Tree:
    """The model: what a store holds, as a dictionary."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.versions: list[
            tuple[str | None, str, str, str | None, str | None]
        ] = []  # id, memory, operation, path, text
        self.redacted: set[str] = set()
        self.archived = False
        self.now = 0

    def blockers(self, path: str, but: str | None = None) -> set[tuple[str, str]]:
        """Return the memories at a path, above it and below it: their paths and ids."""
        return {
            (memory.path, name)
            for name, memory in self.memories.items()
            if name != but
            and (memory.path == path or path.startswith(f"{memory.path}/") or memory.path.startswith(f"{path}/"))
        }

    def listed(self, prefix: str, depth: int) -> list[str]:
        """Return what a list shows, in path order."""
        base = prefix[: prefix.rindex("/") + 1]
        shown = set()
        for memory in self.memories.values():
            if not memory.path.startswith(prefix):
                continue
            parts = memory.path[len(base) :].split("/")
            deep = depth and len(parts) > depth
            shown.add(base + "/".join(parts[:depth]) + "/" if deep else memory.path)
        return sorted(shown, key=str.encode)


class StoreMachine(RuleBasedStateMachine):
    """One store a run; a world serves some runs, since a store is a world of its own, and is then swept and left."""

    worlds: ClassVar[ExitStack]
    world: ClassVar[World]
    client: ClassVar[StoreClient]
    runs: ClassVar[count[int]] = count()
    memory_ids = Bundle("memory_ids")

    @initialize()
    def begin(self) -> None:
        if next(self.runs) % RUNS_A_WORLD == 0:
            self.leave()
            StoreMachine.world = self.worlds.enter_context(store_world(settings={"MEMORIES_A_STORE": str(LIMIT)}))
            StoreMachine.client = self.world.client()
            # As if the sweeper had run an hour ago: it has no days to look through.
            self.world.table.write(Update(STATE, put={"passed": START_MS - START_MS % HOUR_MS}))
        self.store = self.client.store()
        self.tree = Tree()

    @rule(target=memory_ids, path=paths, text=texts)
    def create(self, path: str, text: str) -> Any:
        answer = self.client.create(self.store, path, text)
        if self.tree.archived:
            self.refused(answer, 400, "invalid_request_error")
        elif blockers := self.tree.blockers(path):
            self.blocked(answer, blockers)
        elif len(self.tree.memories) >= LIMIT:
            self.refused(answer, 400, "invalid_request_error")
        else:
            return self.made(answer, path, text)
        return multiple()

    def made(self, answer: Answer, path: str, text: str) -> str:
        assert answer.status == 200, answer.content
        memory = answer.json
        now = self.tick()
        self.tree.memories[memory["id"]] = Memory(path, text, memory["memory_version_id"], now, now)
        self.tree.versions.append((memory["memory_version_id"], memory["id"], "created", path, text))
        self.shows(memory, memory["id"])
        return str(memory["id"])

    @rule(memory=memory_ids, path=st.none() | paths, text=st.none() | texts, guard=st.sampled_from(["no", "ok", "bad"]))
    def update(self, memory: str, path: str | None, text: str | None, guard: str) -> None:
        known = self.tree.memories.get(memory)
        body: dict[str, Any] = {"path": path, "content": text}
        if guard != "no":
            digest = sha(known.text) if known and guard == "ok" else "0" * 64
            body["precondition"] = {"type": "content_sha256", "content_sha256": digest}
        answer = self.client.update(self.store, memory, **body)
        if self.tree.archived:
            self.refused(answer, 400, "invalid_request_error")
        elif known is None:
            self.refused(answer, 404, "not_found_error")
        elif path in (None, known.path) and text in (None, known.text):
            assert answer.status == 200
            self.shows(answer.json, memory)
        elif guard == "bad":
            self.refused(answer, 409, "memory_precondition_failed_error")
        elif blockers := self.tree.blockers(path or known.path, but=memory):
            self.blocked(answer, blockers)
        else:
            self.changed(answer, memory, path, text)

    def changed(self, answer: Answer, memory: str, path: str | None, text: str | None) -> None:
        assert answer.status == 200, answer.content
        known = self.tree.memories[memory]
        assert answer.json["memory_version_id"] != known.version
        known.path = known.path if path is None else path
        known.text = known.text if text is None else text
        known.version, known.changed = answer.json["memory_version_id"], self.tick()
        self.tree.versions.append((known.version, memory, "modified", known.path, known.text))
        self.shows(answer.json, memory)

    @rule(memory=consumes(memory_ids), guard=st.sampled_from(["no", "ok"]))
    def delete(self, memory: str, guard: str) -> None:
        known = self.tree.memories.get(memory)
        query = {"expected_content_sha256": sha(known.text)} if known and guard == "ok" else ""
        answer = self.client.remove(self.store, memory, query=query)
        if known is None:
            self.refused(answer, 404, "not_found_error")
            return
        assert answer.json == {"id": memory, "type": "memory_deleted"}
        del self.tree.memories[memory]
        self.tick()
        self.tree.versions.append((None, memory, "deleted", known.path, None))

    @precondition(lambda self: self.tree.versions)
    @rule(data=st.data())
    def redact(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, len(self.tree.versions) - 1))
        version, memory, *rest = self.tree.versions[number]
        if version is None:  # a delete's answer does not name its version
            version = self.client.versions(self.store, memory_id=memory)[0]["id"]
            self.tree.versions[number] = version, memory, *rest
        answer = self.client.post(f"{ROOT}/{self.store}/memory_versions/{version}/redact")
        head = self.tree.memories.get(memory)
        if head is not None and head.version == version:
            self.refused(answer, 400, "invalid_request_error")
        else:
            assert answer.status == 200
            self.tree.redacted.add(version)

    @precondition(lambda self: not self.tree.archived and len(self.tree.versions) > 15)
    @rule()
    def archive(self) -> None:
        assert self.client.post(f"{ROOT}/{self.store}/archive").status == 200
        self.tree.archived = True

    @rule(data=st.data(), limit=sizes, order=st.sampled_from(["asc", "desc"]))
    def list_something(self, data: st.DataObject, limit: int, order: str) -> None:
        # One rule for all lists, so that most steps change something.
        lists = [self.list_newest, self.list_first, self.list_by_time, self.list_versions]
        data.draw(st.sampled_from(lists))(data.draw, limit, order)

    def list_newest(self, draw: Draw, limit: int, _: str) -> None:
        prefix, depth = draw(st.sampled_from(["/", "/a/", "/a/b/", "/a-/", "/é/a/"])), draw(st.integers(0, 1))
        listed = self.client.listed(self.store, headers=NEWEST, path_prefix=prefix, depth=depth, limit=limit)
        assert listed == self.tree.listed(prefix, depth)

    def list_first(self, draw: Draw, limit: int, order: str) -> None:
        prefix, depth = draw(st.sampled_from(["/", "/a", "/a/", "/a/b", "/a.", "/é/a"])), draw(st.integers(0, 5))
        how = {"path_prefix": prefix, "depth": depth, "limit": limit, "order": order}
        expected = self.tree.listed(prefix, depth)
        assert self.client.listed(self.store, headers=FIRST, **how) == expected[:: 1 if order == "asc" else -1]

    def list_by_time(self, draw: Draw, limit: int, order: str) -> None:
        by, prefix = draw(st.sampled_from(["made", "changed"])), draw(st.sampled_from(["", "/a"]))
        memories = [m for m in self.tree.memories.values() if m.path.startswith(prefix)]
        expected = sorted(memories, key=lambda m: getattr(m, by), reverse=order == "desc")
        how = {"order_by": {"made": "created_at", "changed": "updated_at"}[by], "order": order}
        listed = self.client.listed(self.store, **how, path_prefix=prefix, limit=limit)
        assert listed == [memory.path for memory in expected]

    def list_versions(self, _: Draw, limit: int, __: str) -> None:
        shown = self.client.versions(self.store, view="full", limit=limit)
        expected = [
            (v, m, op, *((None, None) if v in self.tree.redacted else (p, t))) for v, m, op, p, t in self.tree.versions
        ]
        told = [(v["id"], v["memory_id"], v["operation"], v["path"], v["content"]) for v in shown]
        assert [(known[0] and v, *rest) for known, (v, *rest) in zip(expected[::-1], told, strict=True)] == expected[
            ::-1
        ]

    def teardown(self) -> None:
        page = self.client.get(f"{ROOT}/{self.store}/memories", query="view=full").json
        told = {m["id"]: (m["path"], m["content"], m["memory_version_id"]) for m in page["data"]}
        assert told == {name: (m.path, m.text, m.version) for name, m in self.tree.memories.items()}
        audit(self.world, self.store)
        assert self.client.delete(f"{ROOT}/{self.store}").status == 200

    @classmethod
    def leave(cls) -> None:
        """Hold the sweeper to removing all that the stores of a world left behind, and end it."""
        if hasattr(cls, "world"):
            cls.world.sweep()
            assert not [i for i in cls.world.cloud.items() if i["pk"]["S"][:2] in {"M#", "H#", "N#", "V#", "J#"}]
            assert orphans(cls.world) == set()
        cls.worlds.close()

    def tick(self) -> int:
        self.tree.now += 1
        return self.tree.now

    def shows(self, answer: dict[str, Any], memory: str) -> None:
        known = self.tree.memories[memory]
        assert (answer["id"], answer["path"], answer["content"]) == (memory, known.path, None)
        assert (answer["memory_version_id"], answer["content_sha256"]) == (known.version, sha(known.text))

    def refused(self, answer: Answer, status: int, kind: str) -> None:
        assert (answer.status, answer.json["error"]["type"]) == (status, kind)

    def blocked(self, answer: Answer, blockers: set[tuple[str, str]]) -> None:
        self.refused(answer, 409, "memory_path_conflict_error")
        error = answer.json["error"]
        assert (error["conflicting_path"], error["conflicting_memory_id"]) in blockers


@pytest.fixture(scope="module")
def machine() -> Iterator[type[StoreMachine]]:
    with ExitStack() as quiet, ExitStack() as StoreMachine.worlds:
        quiet.enter_context(patch.dict("os.environ", {"POWERTOOLS_METRICS_DISABLED": "true"}))
        logging.disable(logging.CRITICAL)
        quiet.callback(logging.disable, logging.NOTSET)
        yield StoreMachine
        StoreMachine.leave()


def test_a_store_answers_as_the_model_does(machine: type[StoreMachine]) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    how = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, suppress_health_check=checks)
    run_state_machine_as_test(machine, settings=how)
