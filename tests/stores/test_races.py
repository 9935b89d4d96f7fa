"""Writers at the same time, with DynamoDB's real conflicts of transactions."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.clock import SystemClock
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import Conflict
from tests.projects.racing import slow_time
from tests.stores.world import ROOT, StoreClient, store_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.clients.events import Answer
    from tests.stores.world import World

WRITERS = 32


@pytest.fixture
def world() -> Iterator[World]:
    with slow_time() as conflicts, store_world(conflicts=conflicts, clock=SystemClock()) as made:
        yield made


@pytest.fixture
def clients(world: World) -> list[StoreClient]:
    """Return clients with one key and an instance of the function each, as Lambda has it."""
    key = world.key()
    return [StoreClient(world.handler(), key) for _ in range(WRITERS)]


def at_once(calls: Sequence[Callable[[], Answer]]) -> list[Answer]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return [future.result() for future in [threads.submit(call) for call in calls]]


def each(clients: list[StoreClient], call: Callable[[StoreClient, int], Answer]) -> list[Answer]:
    return at_once([lambda c=client, n=n: call(c, n) for n, client in enumerate(clients)])


def statuses(answers: list[Answer]) -> list[int]:
    return sorted(answer.status for answer in answers)


def test_many_creates_in_one_new_directory_all_succeed(clients: list[StoreClient], world: World) -> None:
    store = clients[0].store()
    started = time.monotonic()
    answers = each(clients, lambda client, n: client.create(store, f"/a/b/{n:02d}"))
    print(f"{WRITERS} creates in {time.monotonic() - started:.2f} s, {conflicts_of(world)} conflicts")
    assert statuses(answers) == [200] * WRITERS
    assert conflicts_of(world) > 0
    assert clients[0].listed(store) == [f"/a/b/{n:02d}" for n in range(WRITERS)]
    assert clients[0].listed(store, depth=1) == ["/a/"]
    deletes = each(clients, lambda client, n: client.remove(store, answers[n].json["id"]))
    assert statuses(deletes) == [200] * WRITERS
    assert clients[0].listed(store, depth=1) == []
    assert not [item for item in world.cloud.items() if item["pk"]["S"].startswith(("N#", "H#"))]


def conflicts_of(world: World) -> int:
    conflicts = world.cloud.emulator.conflicts
    assert conflicts is not None
    return conflicts.count


def test_of_many_creates_at_one_path_one_wins_and_the_others_name_it(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    answers = each(clients[:12], lambda client, n: client.create(store, "/a", str(n)))
    (won,) = [answer.json for answer in answers if answer.status == 200]
    lost = [answer.json["error"] for answer in answers if answer.status != 200]
    assert {error["conflicting_memory_id"] for error in lost} == {won["id"]}
    assert len(clients[0].versions(store)) == 1


def test_a_path_is_a_file_or_a_directory_never_both(clients: list[StoreClient]) -> None:
    client = clients[0]
    for _ in range(5):
        store = client.store()
        answers = each(clients[:8], lambda c, n: c.create(store, ["/a", "/a/b", "/a/b/c", "/a/b/c/d"][n % 4]))  # noqa: B023
        assert statuses(answers) == [200, *[409] * 7]
        assert len(client.listed(store)) == 1


def test_a_store_never_holds_more_than_its_limit(world: World) -> None:
    world.settings["MEMORIES_A_STORE"] = "10"
    key = world.key()
    clients = [StoreClient(world.handler(), key) for _ in range(16)]
    store = clients[0].store()
    answers = each(clients, lambda client, n: client.create(store, f"/{n}"))
    assert statuses(answers) == [200] * 10 + [400] * 6
    assert len(clients[0].listed(store)) == 10


def test_of_guarded_updates_one_wins(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    memory = clients[0].memory(store, "/a", "old")
    condition = {"type": "content_sha256", "content_sha256": memory["content_sha256"]}
    answers = each(
        clients[:16], lambda client, n: client.update(store, memory["id"], content=f"{n}", precondition=condition)
    )
    assert statuses(answers) == [200, *[409] * 15]
    assert {a.json["error"]["type"] for a in answers if a.status == 409} == {"memory_precondition_failed_error"}
    assert len(clients[0].versions(store)) == 2


def test_unguarded_updates_all_succeed_and_each_has_its_version(clients: list[StoreClient], world: World) -> None:
    store = clients[0].store()
    memory = clients[0].memory(store, "/a", "old")
    answers = each(clients[:16], lambda client, n: client.update(store, memory["id"], content=f"{n}"))
    assert statuses(answers) == [200] * 16
    versions = clients[0].versions(store, view="full")
    assert sorted(v["content"] for v in versions) == sorted([*map(str, range(16)), "old"])
    assert [v["created_at"] for v in versions] == sorted({v["created_at"] for v in versions}, reverse=True)
    head = clients[0].retrieve(store, memory["id"]).json
    assert (head["memory_version_id"], head["content"]) == (versions[0]["id"], versions[0]["content"])
    owned = {item["object"]["S"] for item in world.cloud.items() if "object" in item}
    assert set(world.cloud.object_keys()) == owned


def test_the_same_update_from_many_makes_one_version(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    memory = clients[0].memory(store, "/a", "old")
    answers = each(clients[:12], lambda client, _: client.update(store, memory["id"], content="same"))
    assert statuses(answers) == [200] * 12
    assert len({a.json["memory_version_id"] for a in answers}) == 1
    assert len(clients[0].versions(store)) == 2


def test_renames_into_each_others_way_leave_a_tree(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    memories = [clients[0].memory(store, f"/{n}/x") for n in range(6)]
    targets = ["/t", "/t/u", "/t/u/v", "/0", "/0/x/y", "/t"]
    answers = each(clients[:6], lambda client, n: client.update(store, memories[n]["id"], path=targets[n]))
    assert set(statuses(answers)) <= {200, 409}
    check_tree(clients[0], store, count=6)


def check_tree(client: StoreClient, store: str, *, count: int) -> None:
    """Hold what is stored to the tree's rules, and the directories to what lies in them."""
    paths = client.listed(store)
    assert len(paths) == len(set(paths)) == count
    for path in paths:
        assert not [other for other in paths if other.startswith(f"{path}/")]
    level = ["/"]
    found: list[str] = []
    while level:
        entries = [entry for prefix in level for entry in client.listed(store, depth=1, path_prefix=prefix)]
        found += [entry for entry in entries if not entry.endswith("/")]
        level = [entry for entry in entries if entry.endswith("/")]
    assert sorted(found) == sorted(paths)


def test_reads_and_writes_race_with_the_delete_of_their_store(clients: list[StoreClient], world: World) -> None:
    store = clients[0].store()
    memories = [clients[0].memory(store, f"/d/{n}") for n in range(8)]

    def act(client: StoreClient, n: int) -> Answer:
        if n == 8:
            return client.delete(f"{ROOT}/{store}")
        calls: list[Callable[[], Answer]] = [
            lambda: client.update(store, memories[n]["id"], content="new"),
            lambda: client.update(store, memories[n]["id"], path=f"/e/{n}"),
            lambda: client.remove(store, memories[n]["id"]),
            lambda: client.create(store, f"/f/{n}"),
        ]
        return calls[n % 4]()

    answers = each(clients[:9], act)
    assert set(statuses(answers)) <= {200, 404}
    assert answers[8].status == 200
    assert clients[0].get(f"{ROOT}/{store}").status == 404
    world.sweep()
    assert not [i for i in world.cloud.items() if i["pk"]["S"].startswith(("M#", "H#", "N#", "V#", "J#"))]


def test_a_store_is_archived_however_many_keep_changing_it(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    memories = [clients[0].memory(store, f"/{n}")["id"] for n in range(12)]

    def change(client: StoreClient, n: int) -> Answer:
        for number in range(40):
            answer = client.update(store, memories[n], content=f"{number}")
            if answer.status != 200:
                break
        return answer

    calls = [lambda c=client, n=n: change(c, n) for n, client in enumerate(clients[1:13])]
    *changed, archived = at_once([*calls, lambda: clients[0].post(f"{ROOT}/{store}/archive")])
    assert archived.status == 200, archived.content
    assert statuses(changed) == [400] * 12


def test_redaction_races_with_updates_and_only_ever_takes_what_is_past(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    memory = clients[0].memory(store, "/a", "v0")
    for number in range(4):
        head = clients[0].retrieve(store, memory["id"]).json
        version = f"{ROOT}/{store}/memory_versions/{head['memory_version_id']}/redact"
        answers = at_once(
            [
                lambda n=number: clients[1].update(store, memory["id"], content=f"w{n}"),
                lambda v=version: clients[2].post(v),
                lambda v=version: clients[3].post(v),
                lambda n=number: clients[4].update(store, memory["id"], path=f"/p{n}"),
            ]
        )
        assert statuses([answers[0], answers[3]]) == [200, 200]
        assert {answers[1].status, answers[2].status} <= {200, 400}
        assert clients[0].retrieve(store, memory["id"]).json["content"] == f"w{number}"


def test_metadata_patches_at_once_are_all_kept(clients: list[StoreClient]) -> None:
    store = clients[0].store()
    answers = each(
        clients[:8], lambda client, n: client.post(f"{ROOT}/{store}", json_body={"metadata": {f"k{n}": "v"}})
    )
    assert statuses(answers) == [200] * 8
    assert clients[0].get(f"{ROOT}/{store}").json["metadata"] == {f"k{n}": "v" for n in range(8)}


def test_contention_that_outlasts_the_retries_is_a_conflict_worth_retrying(
    clients: list[StoreClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never() -> Any:
        raise LostRace

    with pytest.raises(Conflict):
        persist(never, budget=0)
    store = clients[0].store()
    monkeypatch.setattr("shared.stores.writing.persist", lambda _: persist(never, budget=0))
    answer = clients[0].create(store, "/a")
    assert (answer.status, answer.json["error"]["type"]) == (409, "conflict_error")
    assert "x-should-retry" not in answer.headers
