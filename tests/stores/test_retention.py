"""Versions that go some days after they were replaced, where the stack says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.items import decode_item
from shared.stores.backing import Backing
from shared.stores.removal import Removal
from shared.tenancy.usage import stored_partition
from shared.wiring.environment import EnvironmentInvalid
from tests.emulator.faults import Killed, kill_at
from tests.projects.upkeep import sweep
from tests.stores.audit import audit, orphans
from tests.stores.world import ROOT, store_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.stores.world import StoreClient, World

DAYS = 30


@pytest.fixture
def world() -> Iterator[World]:
    with store_world(settings={"VERSION_RETENTION_DAYS": str(DAYS)}) as made:
        yield made


def pass_days(world: World, days: int) -> None:
    """Let days pass, and then the sweeper catch up."""
    world.clock.move(days=days)
    sweep(world)


def contents(client: StoreClient, store: str, **query: Any) -> list[Any]:
    return [version["content"] for version in client.versions(store, view="full", **query)]


def test_a_version_goes_days_after_it_was_replaced_and_a_head_never(
    client: StoreClient, store: str, world: World
) -> None:
    memory = client.memory(store, "/a", "first")["id"]
    pass_days(world, 2 * DAYS)
    assert client.update(store, memory, content="second").status == 200
    pass_days(world, DAYS - 1)
    assert client.update(store, memory, path="/b").status == 200
    assert contents(client, store) == ["second", "second", "first"]
    pass_days(world, 2)
    assert contents(client, store) == ["second", "second"]
    pass_days(world, DAYS - 1)
    assert contents(client, store) == ["second"]
    assert client.retrieve(store, memory).json["content"] == "second"
    assert len(world.cloud.object_keys()) == 1
    audit(world)


def test_all_versions_of_a_deleted_memory_go_and_others_stay(client: StoreClient, store: str, world: World) -> None:
    gone, kept = client.memory(store, "/d/gone", "gone"), client.memory(store, "/d/kept", "kept")
    client.update(store, gone["id"], content="going")
    assert client.post(f"{ROOT}/{store}/memory_versions/{gone['memory_version_id']}/redact").status == 200
    client.remove(store, gone["id"])
    pass_days(world, DAYS - 1)
    assert contents(client, store, memory_id=gone["id"]) == [None, "going", None]
    pass_days(world, 2)
    assert contents(client, store, memory_id=gone["id"]) == []
    version = f"{ROOT}/{store}/memory_versions/{gone['memory_version_id']}"
    assert client.get(version).status == client.post(f"{version}/redact").status == 404
    assert contents(client, store) == ["kept"]
    assert client.retrieve(store, kept["id"]).json["content"] == "kept"
    assert orphans(world) == set()
    audit(world)
    world.flush_usage()
    usage = world.table.get((stored_partition("acme"), "default")) or {}
    assert [usage[f"stores__{name}"] for name in ("memories", "versions", "bytes")] == [1, 1, 4]


def test_without_a_period_versions_stay_as_long_as_their_store(world: World) -> None:
    world.settings.clear()
    client = world.client()
    store = client.store()
    memory = client.memory(store, "/a", "first")["id"]
    client.update(store, memory, content="second")
    client.remove(store, memory)
    pass_days(world, 400)
    assert contents(client, store) == [None, "second", "first"]


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_sweeper_that_dies_at_a_version_leaves_no_bytes_behind(world: World, *, applied: bool) -> None:
    client, store = (first := world.client()), first.store()
    memory = client.memory(store, "/a", "first")["id"]
    client.update(store, memory, content="second")
    (row,) = [row for row in map(decode_item, world.cloud.items()) if "expires_at" in row]
    removal = Removal(Backing(world.table, world.objects, world.clock))
    with kill_at(1, applied=applied), pytest.raises(Killed):
        removal.expire_version(row)
    assert contents(client, store) == (["second"] if applied else ["second", "first"])
    assert removal.expire_version(row)
    assert contents(client, store) == ["second"]
    pass_days(world, 1)
    assert len(world.cloud.object_keys()) == 1
    audit(world)


def test_a_version_that_is_redacted_as_its_time_ends_goes_with_its_bytes(
    client: StoreClient, store: str, world: World
) -> None:
    memory = client.memory(store, "/a", "first")
    client.update(store, memory["id"], content="second")
    (row,) = [row for row in map(decode_item, world.cloud.items()) if "expires_at" in row]
    with kill_at(4), pytest.raises(Killed):  # hidden, not yet erased
        client.post(f"{ROOT}/{store}/memory_versions/{memory['memory_version_id']}/redact")
    assert Removal(Backing(world.table, world.objects, world.clock)).expire_version(row)
    pass_days(world, 1)
    assert [key for key in world.cloud.object_keys() if not key.startswith("keep/erasures/")] == [
        client_object(world, store)
    ]


def client_object(world: World, store: str) -> str:
    """Return the key of the object of the store's one memory."""
    (head,) = [row for row in map(decode_item, world.cloud.items()) if row.get("kind") == "memory"]
    assert head["pk"].endswith(store)
    return str(head["content"])


def test_a_period_that_is_no_number_is_refused(world: World) -> None:
    world.settings["VERSION_RETENTION_DAYS"] = "-1"
    with pytest.raises(EnvironmentInvalid, match="VERSION_RETENTION_DAYS"):
        world.handler()
