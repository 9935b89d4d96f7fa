"""A function that dies before or after any of its calls, and dependencies that fail."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.stores.audit import audit, orphans
from tests.stores.world import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.events import Answer
    from tests.emulator.faults import Call
    from tests.stores.world import StoreClient, World

    Operation = Callable[[StoreClient, str, dict[str, Any]], Answer]


def redact(client: StoreClient, store: str, memory: dict[str, Any]) -> Answer:
    return client.post(f"{ROOT}/{store}/memory_versions/{memory['memory_version_id']}/redact")


# What a client does, and the statuses that the same request may be answered with when it is sent once more.
OPERATIONS: dict[str, tuple[Operation, set[int]]] = {
    "create": (lambda c, s, _: c.create(s, "/x/y/new", "new"), {200, 409}),
    "update": (lambda c, s, m: c.update(s, m["id"], content="three"), {200}),
    "rename": (lambda c, s, m: c.update(s, m["id"], path="/elsewhere/x"), {200}),
    "move with content": (lambda c, s, m: c.update(s, m["id"], path="/elsewhere/x", content="three"), {200}),
    "delete": (lambda c, s, m: c.remove(s, m["id"]), {200, 404}),
    "redact": (redact, {200}),
    "update store": (lambda c, s, _: c.post(f"{ROOT}/{s}", json_body={"name": "other"}), {200}),
    "archive": (lambda c, s, _: c.post(f"{ROOT}/{s}/archive"), {200}),
    "create store": (lambda c, *_: c.post(ROOT, json_body={"name": "second"}), {200}),
}


def prepared(client: StoreClient) -> tuple[str, dict[str, Any]]:
    """Return a store, and a memory alone in its directories with an old version to redact."""
    store = client.store()
    memory = client.memory(store, "/a/b/c", "one")
    client.update(store, memory["id"], content="two")
    client.memory(store, "/z", "other")
    return store, memory


def state(client: StoreClient, store: str) -> Any:
    """Return all that the surface tells of a store, but what redaction leaves behind."""
    listed = client.get(f"{ROOT}/{store}/memories", query="view=full").json["data"]
    directories = client.listed(store, depth=1)
    versions = client.versions(store, view="full")
    return (
        client.get(f"{ROOT}/{store}").json,
        listed,
        directories,
        versions,
        len(client.get(ROOT, query="include_archived=true").json["data"]),
    )


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_death_at_any_call_leaves_all_or_nothing_and_can_be_tried_again(
    world: World, name: str, *, applied: bool
) -> None:
    operation, again = OPERATIONS[name]
    key = world.key()
    for number in count(1):
        client, fresh = (type(world.client())(world.handler(), key) for _ in range(2))
        store, memory = prepared(client)
        before = state(fresh, store)
        finished = False
        with kill_at(number, applied=applied), suppress(Killed):
            finished = operation(client, store, memory).status == 200
        audit(world)
        after = state(fresh, store)
        if finished:
            break
        answer = operation(fresh, store, memory)
        assert answer.status in again
        audit(world)
        assert after == before or (answer.status in again and changed_once(before, after))
    world.clock.move(days=2)
    assert world.sweep("reconcile")["errors"] == 0
    assert orphans(world) == set()
    audit(world)


def changed_once(before: Any, after: Any) -> bool:
    """Tell whether what is seen after a death is one whole change: a version more, or another state of the store."""
    added = len(after[3]) - len(before[3])
    redacted = sum(v["redacted_at"] is not None for v in after[3]) - sum(
        v["redacted_at"] is not None for v in before[3]
    )
    return added + redacted + (before[0] != after[0]) + (after[4] - before[4]) == 1


def test_a_redaction_that_died_between_hiding_and_erasing_is_finished_by_the_next_try(world: World) -> None:
    client = world.client()
    store, memory = prepared(client)
    with kill_at(4), pytest.raises(Killed):  # look, head, hide, and then erase beside the log
        redact(client, store, memory)
    stored = [key for key in world.cloud.object_keys() if world.objects.get(key) == b"one"]
    assert stored
    assert redact(client, store, memory).status == 200
    assert stored[0] not in world.cloud.object_keys()
    assert [key for key in world.cloud.object_keys() if key.startswith("keep/erasures/")]


def test_a_redaction_that_died_is_finished_by_the_sweeper_where_nobody_tries_again(world: World) -> None:
    client = world.client()
    store, memory = prepared(client)
    with kill_at(4), pytest.raises(Killed):
        redact(client, store, memory)
    world.sweep()
    assert orphans(world) == set()
    assert [key for key in world.cloud.object_keys() if key.startswith("keep/erasures/")]


READS: dict[str, Operation] = {
    "list": lambda c, s, _: c.get(f"{ROOT}/{s}/memories", query="view=full&depth=1"),
    "retrieve": lambda c, s, m: c.retrieve(s, m["id"]),
    "versions": lambda c, s, _: c.get(f"{ROOT}/{s}/memory_versions", query="view=full"),
    "version": lambda c, s, m: c.get(f"{ROOT}/{s}/memory_versions/{m['memory_version_id']}"),
    "stores": lambda c, *_: c.get(ROOT),
    "store": lambda c, s, _: c.get(f"{ROOT}/{s}"),
    "delete store": lambda c, s, _: c.delete(f"{ROOT}/{s}"),
}


DOWN = [(name, Fault.CONNECT_TIMEOUT) for name in (*OPERATIONS, *READS)]
# What botocore makes of the others is the clients' business; that it arrives is seen on a write and on a read.
DOWN += [
    (name, fault) for name in ("create", "retrieve") for fault in (Fault.THROTTLED, Fault.SERVER_ERROR, Fault.TIMEOUT)
]


@pytest.mark.parametrize(("name", "fault"), DOWN)
def test_a_dependency_that_is_down_is_503_with_retry_after(world: World, name: str, fault: Fault) -> None:
    operation = OPERATIONS[name][0] if name in OPERATIONS else READS[name]
    client = world.client()
    store, memory = prepared(client)
    before = state(client, store)
    for service in ("dynamodb", "s3"):
        with faults(lambda call: fault if call.service == service else None) as calls:  # noqa: B023 - called at once
            answer = operation(client, store, memory)
        if not any(call.service == service for call in calls.made):
            return  # it asks nothing of this one, and has been done
        assert answer.status == 503, (service, answer.content)
        assert answer.json["error"]["type"] == "api_error"
        assert int(answer.headers["retry-after"]) > 0
        assert "Injected" not in answer.content.decode()
        if name == "delete store":
            return  # hidden already; the sweeper goes on with it
        audit(world)
    if name != "redact":
        assert state(client, store) == before


@pytest.mark.parametrize(
    "fault", [Fault.THROTTLED, Fault.SERVER_ERROR, Fault.APPLIED_TIMEOUT, Fault.APPLIED_SERVER_ERROR]
)
@pytest.mark.parametrize("name", OPERATIONS)
def test_one_failure_of_each_call_is_got_over(world: World, name: str, fault: Fault) -> None:
    client = world.client()
    store, memory = prepared(client)
    seen: set[tuple[str, int]] = set()

    def once(call: Call) -> Fault | None:
        if (call.name, call.thread) in seen:
            return None
        seen.add((call.name, call.thread))
        return fault

    with faults(once):
        assert OPERATIONS[name][0](client, store, memory).status == 200
    audit(world)
    versions = client.versions(store)
    assert len(versions) == 3 + (name in {"create", "update", "rename", "move with content", "delete"})
