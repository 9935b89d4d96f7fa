"""A state machine: whatever is added, searched, changed and forgotten, the answers are those of a simple model."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.memories.shelf import ROOT, shelf_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Answer
    from tests.memories.shelf import Reader, Shelf

EXAMPLES, STEPS = 20, 40
WORDS = ["cedar", "maple", "birch", "event_id", "枫树"]
WHO = [("acme", "ann"), ("acme", "bob"), ("globex", "ann"), ("globex", "bob")]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
whos = st.sampled_from(range(len(WHO)))
GUARDS = ["no", "no", "right", "wrong"]


@dataclass
class Kept:
    """A memory of the model: what it says now, what it said before, beside what it was said, and what guards it."""

    text: str
    states: list[str]
    near: str = ""
    immutable: bool = False


@dataclass
class User:
    """A user of the model: memories by id, and the adds that no worker has come to, with their generations."""

    memories: dict[str, Kept] = field(default_factory=dict)
    waiting: list[tuple[int, str, list[str]]] = field(default_factory=list)
    generation: int = 0


class MemoryMachine(RuleBasedStateMachine):
    """Two users of each of two tenants a run, with names of the run's own; all runs are in one world."""

    shelf: ClassVar[Shelf]
    clients: ClassVar[dict[str, Reader]]
    runs: ClassVar[count[int]] = count()

    @initialize()
    def begin(self) -> None:
        self.run = next(self.runs)
        self.users = [User() for _ in WHO]
        self.erasures: list[tuple[str, str]] = []

    def client(self, who: int) -> Reader:
        return self.clients[WHO[who][0]]

    def name(self, who: int) -> str:
        return f"{WHO[who][1]} {self.run}"

    def draw(self, data: st.DataObject, who: int) -> str:
        return data.draw(st.sampled_from(sorted(self.users[who].memories)))

    @rule(who=whos, said=st.lists(texts, min_size=1, max_size=3), at_once=st.booleans())
    def add(self, who: int, said: list[str], *, at_once: bool) -> None:
        messages = [{"role": "user", "content": text, "timestamp": -1} for text in said]
        body = {"user_id": self.name(who), "mode": "raw", "messages": messages}
        answer = self.client(who).post(f"{ROOT}/add", json_body=body)
        assert answer.status == 202, answer.content
        user = self.users[who]
        user.waiting.append((user.generation, answer.json["data"]["task_id"], said))
        if at_once:
            self.work()

    @rule()
    def work(self) -> None:
        self.shelf.work()
        for who, user in enumerate(self.users):
            for generation, task_id, said in user.waiting:
                status = self.client(who).get(f"{ROOT}/add/status/{task_id}").json
                if generation != user.generation:
                    assert (status["status"], status["error"]["code"]) == ("failed", "erased")
                    continue
                assert (status["status"], status["memory"]) == ("success", {"total": len(said)})
                self.learn(who, task_id, said)
            user.waiting.clear()

    def learn(self, who: int, task_id: str, said: list[str]) -> None:
        """Take note of what was added: an id says which task and message it is of."""
        address = self.shelf.address(self.name(who), WHO[who][0])
        for n, text in enumerate(said):
            beside = said[max(0, n - 1) : n] + said[n + 1 : n + 2]
            self.users[who].memories[address.memory_id(task_id, "raw", n)] = Kept(text, [text], " ".join(beside))

    @rule(who=whos, word=st.sampled_from(WORDS), mode=st.sampled_from(["summary", "facts", "raw"]))
    def search(self, who: int, word: str, mode: str) -> None:
        hits = self.client(who).hits(word, self.name(who), k_dense=0, k_sparse=50, output_mode=mode)
        found, known = {hit["id"]: hit["memory"] for hit in hits}, self.users[who].memories
        assert found == {name: known[name].text for name in found}
        assert {n for n, m in known.items() if word in m.text} <= found.keys()
        # Beside its own words a message is found by those of its neighbours.
        assert found.keys() <= {n for n, m in known.items() if word in f"{m.text} {m.near}"}

    @rule(who=whos, limit=st.integers(1, 4))
    def list_all(self, who: int, limit: int) -> None:
        listed = self.client(who).listed(self.name(who), limit=limit)
        assert {m["id"]: (m["memory"], m["immutable"]) for m in listed} == {
            n: (m.text, m.immutable) for n, m in self.users[who].memories.items()
        }
        order = [(m["created_at"], m["id"]) for m in listed]
        assert order == sorted(order, reverse=True)

    @precondition(lambda self: any(user.memories for user in self.users))
    @rule(data=st.data(), who=whos, text=texts, guard=st.sampled_from(GUARDS))
    def change(self, data: st.DataObject, who: int, text: str, guard: str) -> None:
        known = self.users[who].memories
        if not known:
            return
        memory_id = self.draw(data, who)
        kept, client = known[memory_id], self.client(who)
        etag = client.memory(memory_id).etag
        headers = {"no": {}, "right": {"If-Match": etag}, "wrong": {"If-Match": '"x"'}}[guard]
        answer = client.change(memory_id, headers, memory=text)
        if guard == "wrong":
            assert answer.status == 412
        elif kept.immutable and text != kept.text:
            assert answer.status == 409
        else:
            assert answer.status == 200, answer.content
            assert (answer.etag == etag) is (text == kept.text)
            kept.states += [text] if text != kept.text else []
            kept.text = text

    @precondition(lambda self: any(user.memories for user in self.users))
    @rule(data=st.data(), who=whos, immutable=st.booleans())
    def guard(self, data: st.DataObject, who: int, *, immutable: bool) -> None:
        known = self.users[who].memories
        if known:
            kept = known[memory_id := self.draw(data, who)]
            assert self.client(who).change(memory_id, immutable=immutable).status == 200
            kept.states += [kept.text] if kept.immutable is not immutable else []
            kept.immutable = immutable

    @precondition(lambda self: any(user.memories for user in self.users))
    @rule(data=st.data(), who=whos)
    def look_back(self, data: st.DataObject, who: int) -> None:
        known = self.users[who].memories
        if known:
            memory_id = self.draw(data, who)
            history = self.client(who).history(memory_id, limit=100).json["data"]["data"]
            assert [entry["memory"] for entry in reversed(history)] == known[memory_id].states

    @precondition(lambda self: any(user.memories for user in self.users))
    @rule(data=st.data(), who=whos, pry=st.sampled_from(["memory", "change", "history", "forget", "source"]))
    def pry(self, data: st.DataObject, who: int, pry: str) -> None:
        if not self.users[who].memories:
            return
        memory_id, stranger = self.draw(data, who), self.client(3 - who)
        asked: dict[str, Any] = {
            "memory": lambda: stranger.memory(memory_id),
            "change": lambda: stranger.change(memory_id, memory="taken"),
            "history": lambda: stranger.history(memory_id),
            "forget": lambda: stranger.forget(memory_id),
            "source": lambda: stranger.forget(memory_id, "scope=source"),
        }
        answer: Answer = asked[pry]()
        assert answer.status == 404

    @precondition(lambda self: any(user.memories for user in self.users))
    @rule(data=st.data(), who=whos)
    def forget(self, data: st.DataObject, who: int) -> None:
        known = self.users[who].memories
        if known:
            memory_id = self.draw(data, who)
            assert self.client(who).forget(memory_id).json["data"]["deleted"] == [memory_id]
            assert self.client(who).forget(memory_id).status == 404
            assert self.client(who).history(memory_id).status == 404
            del known[memory_id]

    @rule(who=whos)
    def forget_all(self, who: int) -> None:
        user = self.users[who]
        self.erasures.append((WHO[who][0], self.client(who).forget_all(self.name(who))))
        assert self.client(who).listed(self.name(who)) == []
        for memory_id in user.memories:
            assert self.client(who).memory(memory_id).status == 404
        user.memories.clear()
        user.generation += 1

    def teardown(self) -> None:
        if not hasattr(self, "users"):
            return
        self.work()
        for who, user in enumerate(self.users):
            self.list_all(who, 4)
            for word in WORDS:
                self.search(who, word, "raw")
            address = self.shelf.address(self.name(who), WHO[who][0])
            left = [sk for pk, sk in self.shelf.rows() if pk == address.pk and sk != "user"]
            assert {sk for sk in left if sk.startswith("m#")} == {f"m#{name}" for name in user.memories}
            assert len([sk for sk in left if sk.startswith("h#")]) == sum(
                len(m.states) - 1 for m in user.memories.values()
            )
        for tenant, erasure in self.erasures:
            assert self.clients[tenant].receipt(erasure)["status"] == "success"


@pytest.fixture
def machine() -> Iterator[type[MemoryMachine]]:
    logging.disable(logging.CRITICAL)
    with ExitStack() as stack:
        MemoryMachine.shelf = stack.enter_context(shelf_world())
        MemoryMachine.clients = {tenant: MemoryMachine.shelf.client(tenant=tenant) for tenant in ("acme", "globex")}
        yield MemoryMachine
    logging.disable(logging.NOTSET)


def test_memories_answer_as_their_model_does(machine: type[MemoryMachine]) -> None:
    unhurried = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=unhurried)  # type: ignore[no-untyped-call]
