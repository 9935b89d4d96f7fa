"""Archiving among changes that are on their way: after its answer none lands."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.transactions import Conflicts
from shared.kernel.scope import Scope
from shared.stores.records import GATES, StoreAddress
from tests.emulator.faults import Killed, intercepted, kill_at
from tests.emulator.orders import each_order, unhindered
from tests.stores.audit import audit, orphans
from tests.stores.world import ROOT, StoreClient, store_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clients.events import Answer
    from tests.stores.world import World

    Change = Callable[[StoreClient, str, str], Answer]


@pytest.fixture
def world() -> Iterator[World]:
    with store_world(conflicts=Conflicts()) as made:
        yield made


def archived(client: StoreClient, store: str) -> bool:
    return client.get(f"{ROOT}/{store}").json["archived_at"] is not None


def content(client: StoreClient, store: str) -> Any:
    """Return all that is seen of a store's memories."""
    entries = client.get(f"{ROOT}/{store}/memories", query="view=full").json["data"]
    return [(entry["path"], entry["content"], entry["memory_version_id"]) for entry in entries]


CHANGES: dict[str, tuple[Change, ...]] = {
    "update": (lambda c, s, m: c.update(s, m, content="new"),),
    "rename": (lambda c, s, m: c.update(s, m, path="/b/c"),),
    "move": (lambda c, s, m: c.update(s, m, path="/b/c", content="new"),),
    "create": (lambda c, s, _: c.create(s, "/d", "new"),),
    "two updates": (lambda c, s, m: c.update(s, m, content="new"), lambda c, s, m: c.update(s, m, content="newer")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_the_order_nothing_changes_after_an_archive_was_answered(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.stores.records.GATES", 2)
    key, changes = world.key(), CHANGES[name]
    client, *clients = (StoreClient(world.handler(), key) for _ in range(1 + len(changes)))
    outcomes = set()

    def scene() -> list[Callable[[], Any]]:
        store = client.store()
        memory = client.memory(store, "/a", "old")["id"]

        def archive() -> Any:
            answer = client.post(f"{ROOT}/{store}/archive")
            with unhindered():
                return answer, content(client, store), store

        asked = [partial(change, other, store, memory) for change, other in zip(changes, clients, strict=True)]
        return [archive, *asked]

    runs = 0
    for (answer, then, store), *changed in each_order(scene, choices=4 if len(changes) > 1 else 10):
        runs += 1
        statuses = [change.status for change in changed]
        assert answer.status == 200, answer.content
        assert set(statuses) <= {200, 400}
        assert content(client, store) == then
        versions = client.versions(store)
        assert len(versions) == 1 + statuses.count(200)
        assert archived(client, store)
        outcomes.add(tuple(statuses))
    assert len(outcomes) == 2 ** len(changes), outcomes
    print(f"{runs} orders")
    assert orphans(world) == set()


@contextmanager
def passing(world: World, store: str, memory: str) -> Iterator[None]:
    """Let a change of a memory be on its way through its gate."""
    conflicts = world.cloud.emulator.conflicts
    assert conflicts is not None
    item = world.cloud.table_name, *StoreAddress(Scope("acme", "default"), store).gate_of(memory)
    conflicts._in_flight.add(item)
    try:
        yield
    finally:
        conflicts._in_flight.discard(item)


def test_an_archive_that_died_on_its_way_is_ended_by_whoever_would_change_something(world: World) -> None:
    key = world.key()
    changes: list[Change] = [
        lambda c, s, m: c.update(s, m, content="new"),
        lambda c, s, m: c.update(s, m, path="/b"),
        lambda c, s, _: c.create(s, "/b"),
        lambda c, s, _: c.post(f"{ROOT}/{s}/archive"),
    ]
    for change in changes:
        client, fresh = (StoreClient(world.handler(), key) for _ in range(2))
        store = client.store()
        memory = client.memory(store, "/a", "old")["id"]
        with passing(world, store, memory), kill_at(4), pytest.raises(Killed):  # look, clash, say so, look again
            client.post(f"{ROOT}/{store}/archive")
        assert not archived(fresh, store)
        assert fresh.retrieve(store, memory).json["content"] == "old"
        assert change(fresh, store, memory).status == (200 if change is changes[-1] else 400)
        assert archived(fresh, store)
        assert content(fresh, store)[0][:2] == ("/a", "old")
        assert fresh.remove(store, memory).status == 200
    audit(world)


def test_updates_of_different_memories_share_nothing_that_is_written_or_checked(world: World) -> None:
    client = world.client()
    store = client.store()
    address = StoreAddress(Scope("acme", "default"), store)
    memories = {address.gate_of(m): m for m in (client.memory(store, f"/{n}")["id"] for n in range(8))}
    assert len(memories) > 1
    asked: list[bytes] = []

    def note(call: Any, request: Any, apply: Callable[[], Any]) -> Any:
        if call.operation == "TransactWriteItems":
            asked.append(request.body)
        return apply()

    with intercepted(note):
        for memory in memories.values():
            assert client.update(store, memory, content="new").status == 200
    assert len(asked) == len(memories)
    for (_, gate), body in zip(memories, asked, strict=True):
        assert gate.encode() in body
        assert f'"{store}"'.encode() not in body  # the store's own row
    assert len({gate for _, gate in address.gates}) == GATES < 100
