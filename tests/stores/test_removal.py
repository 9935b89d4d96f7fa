"""What a deleted store leaves behind, and how the sweeper removes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.aws.items import decode_item
from shared.kernel.scope import Scope
from shared.retention.erasures import ErasureLog
from shared.stores.backing import Backing
from shared.stores.records import StoreAddress
from shared.stores.removal import REMOVE_STORE, Removal
from shared.tenancy.usage import stored_partition
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.stores.world import ROOT

if TYPE_CHECKING:
    from tests.stores.world import StoreClient, World

ROWS = ("M#", "H#", "N#", "V#", "J#")


def left(world: World) -> list[str]:
    """Return what is stored of memory stores: rows, jobs, and objects but the erasure log."""
    rows = [item["pk"]["S"] for item in world.cloud.items() if item["pk"]["S"].startswith(ROWS)]
    return rows + [key for key in world.cloud.object_keys() if not key.startswith("keep/erasures/")]


def fill(client: StoreClient, store: str) -> None:
    for number in range(5):
        memory = client.memory(store, f"/a/{number}/deep", str(number))
        client.update(store, memory["id"], content="newer")
    client.remove(store, memory["id"])
    version = client.versions(store, memory_id=memory["id"])[-1]["id"]
    assert client.post(f"{ROOT}/{store}/memory_versions/{version}/redact").status == 200


def test_nothing_is_left_of_a_deleted_store(client: StoreClient, store: str, world: World) -> None:
    fill(client, store)
    client.delete(f"{ROOT}/{store}")
    assert len(left(world)) > 20
    told = world.sweep()
    assert (told["errors"], told["unfinished"]) == (0, 0)
    assert left(world) == []


def test_another_store_is_left_alone(client: StoreClient, store: str, world: World) -> None:
    other = client.store("other")
    memory = client.memory(other, "/a/b", "stays")
    fill(client, store)
    client.delete(f"{ROOT}/{store}")
    world.sweep()
    assert client.retrieve(other, memory["id"]).json["content"] == "stays"
    assert client.listed(other, depth=1) == ["/a/"]
    assert len(client.versions(other)) == 1


def test_a_deleted_store_is_in_the_erasure_log_before_its_answer(client: StoreClient, store: str, world: World) -> None:
    client.delete(f"{ROOT}/{store}")
    (entry,) = ErasureLog(world.objects).replay(0)
    assert (entry.kind, entry.scope, entry.ids) == ("memory_store", Scope("acme", "default"), {"store": store})


def test_a_delete_that_can_not_be_logged_is_not_acknowledged_and_is_finished_all_the_same(
    client: StoreClient, store: str, world: World
) -> None:
    client.memory(store, "/a")
    with faults(lambda call: Fault.SERVER_ERROR if call.name == "s3.PutObject" else None):
        assert client.delete(f"{ROOT}/{store}").status == 503
    assert client.get(f"{ROOT}/{store}").status == 404
    world.sweep()
    assert left(world) == []
    assert [entry.ids for entry in ErasureLog(world.objects).replay(0)] == [{"store": store}]


def test_a_removal_that_must_stop_goes_on_where_it_was(client: StoreClient, store: str, world: World) -> None:
    fill(client, store)
    client.delete(f"{ROOT}/{store}")
    (work,) = [item for item in world.cloud.items() if item.get("kind") == {"S": "remove_memory_store"}]
    job = world.table.get((work["pk"]["S"], work["sk"]["S"]))
    assert job is not None
    looks = iter([False, False, True])
    removal = Removal(Backing(world.table, world.objects, world.clock), lambda: next(looks))
    assert removal.remove_store(job) is False
    assert left(world)
    assert Removal(Backing(world.table, world.objects, world.clock)).remove_store(job) is True
    assert all(name.startswith("J#") for name in left(world))


def test_usage_falls_to_nothing_when_a_store_is_gone(client: StoreClient, store: str, world: World) -> None:
    fill(client, store)
    client.delete(f"{ROOT}/{store}")
    world.sweep()
    world.flush_usage()
    usage = world.table.get((stored_partition("acme"), "default")) or {}
    counts = {name: value for name, value in usage.items() if name.startswith("stores__")}
    assert set(counts) == {"stores__stores", "stores__memories", "stores__versions", "stores__bytes"}
    assert set(counts.values()) == {0}


def test_orphans_of_writes_that_died_go_by_night_and_what_is_owned_stays(
    client: StoreClient, store: str, world: World
) -> None:
    memory = client.memory(store, "/a", "mine")
    address = StoreAddress(Scope("acme", "default"), store)
    orphan = world.cloud.object_keys()[0][:-26] + "0" * 26
    world.objects.put(orphan, b"nobody's", owner=f"{address.versions}|memver_none")
    world.clock.move(days=2)
    told = world.sweep("reconcile")
    assert (told["errors"], told["removed"]) == (0, 1)
    assert client.retrieve(store, memory["id"]).json["content"] == "mine"
    assert orphan not in world.cloud.object_keys()


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_death_while_a_store_is_deleted_leaves_it_whole_or_gone(world: World, *, applied: bool) -> None:
    client, fresh = world.client(), world.client()
    for number in (1, 2):
        store = client.store()
        fill(client, store)
        with kill_at(number, applied=applied), pytest.raises(Killed):
            client.delete(f"{ROOT}/{store}")
        if fresh.get(f"{ROOT}/{store}").status == 200:
            assert len(fresh.listed(store)) == 4
            assert fresh.delete(f"{ROOT}/{store}").status == 200
        client = world.client()
    world.sweep()
    assert left(world) == []
    assert len(list(ErasureLog(world.objects).replay(0))) == 4  # two stores, and a version redacted in each


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_sweeper_that_dies_anywhere_in_a_removal_is_followed_by_one_that_ends_it(
    world: World, *, applied: bool
) -> None:
    client, number = world.client(), 0
    died = True
    while died:
        number += 3
        store = client.store()
        fill(client, store)
        client.delete(f"{ROOT}/{store}")
        job = next(
            i for i in map(decode_item, world.cloud.items()) if i.get("store") == store and i["kind"] == REMOVE_STORE
        )
        died = False
        with kill_at(number, applied=applied):
            try:
                Removal(Backing(world.table, world.objects, world.clock)).remove_store(job)
            except Killed:
                died = True
    world.sweep()
    assert left(world) == []
