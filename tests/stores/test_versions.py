"""Versions: their list and its filters, retrieve, redact, and who wrote them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.scope import Scope
from shared.retention.erasures import ErasureLog
from shared.stores.backing import Backing
from shared.stores.records import StoreAddress
from shared.stores.versions import VersionList, Versions
from tests.stores.world import ROOT

if TYPE_CHECKING:
    from tests.clients.events import Answer
    from tests.stores.world import StoreClient, World

SESSION = {"X-Sandbox-Session-Id": "sesn_one"}


def redact(client: StoreClient, store: str, version: str) -> Answer:
    return client.post(f"{ROOT}/{store}/memory_versions/{version}/redact")


def read(client: StoreClient, store: str, version: str, **how: Any) -> Answer:
    return client.get(f"{ROOT}/{store}/memory_versions/{version}", **how)


def test_every_change_writes_one_version_and_the_list_is_newest_first(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a", "one")
    updated = client.update(store, memory["id"], content="two").json
    renamed = client.update(store, memory["id"], path="/b").json
    client.remove(store, memory["id"])
    versions = client.versions(store)
    assert [(v["operation"], v["path"], v["content_size_bytes"]) for v in versions] == [
        ("deleted", "/b", None),
        ("modified", "/b", 3),
        ("modified", "/a", 3),
        ("created", "/a", 3),
    ]
    assert [v["id"] for v in versions[1:]] == [m["memory_version_id"] for m in (renamed, updated, memory)]
    assert [v["created_at"] for v in versions[1:]] == [m["updated_at"] for m in (renamed, updated, memory)]
    assert {v["memory_id"] for v in versions} == {memory["id"]}
    assert {v["memory_store_id"] for v in versions} == {store}
    assert {v["content"] for v in versions} == {None}
    assert [v["content"] for v in client.versions(store, view="full")] == [None, "two", "two", "one"]


def test_a_version_is_read_with_its_content_by_default(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a", "one")
    client.update(store, memory["id"], content="two")
    version = read(client, store, memory["memory_version_id"])
    assert (version.status, version.json["type"], version.json["content"]) == (200, "memory_version", "one")
    assert version.json["content_sha256"] == memory["content_sha256"]
    basic = read(client, store, memory["memory_version_id"], query="view=basic").json
    assert basic == {**version.json, "content": None}
    assert set(basic) == {
        *("id", "type", "memory_id", "memory_store_id", "operation", "path", "content", "content_size_bytes"),
        *("content_sha256", "created_at", "created_by", "redacted_at", "redacted_by"),
    }


def test_a_version_is_by_the_key_or_by_the_session_that_the_caller_names(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a")
    client.post(f"{ROOT}/{store}/memories/{memory['id']}", json_body={"content": "two"}, headers=SESSION)
    client.remove(store, memory["id"], headers=SESSION)
    deleted, modified, created = client.versions(store)
    assert created["created_by"] == {"type": "api_actor", "api_key_id": created["created_by"]["api_key_id"]}
    assert created["created_by"]["api_key_id"].startswith("apikey_")
    assert modified["created_by"] == deleted["created_by"] == {"type": "session_actor", "session_id": "sesn_one"}


@pytest.mark.parametrize("session", ["", "x" * 256, "tab\there", "é"])
def test_a_session_that_is_not_printable_is_refused(client: StoreClient, store: str, session: str) -> None:
    assert client.create(store, "/a", headers={"X-Sandbox-Session-Id": session}).status == 400


def test_filters_narrow_the_list_and_combine(client: StoreClient, store: str, world: World) -> None:
    memories = [client.memory(store, f"/{n}") for n in range(3)]
    world.clock.move(ms=1000)
    for memory in memories:
        path = f"{ROOT}/{store}/memories/{memory['id']}"
        changed = client.post(path, json_body={"content": "new"}, headers=SESSION).json
    key = client.versions(store)[-1]["created_by"]["api_key_id"]

    def found(**query: Any) -> list[tuple[str, str]]:
        listed = client.versions(store, **query)
        assert client.versions(store, **query, limit=1) == listed
        return [(v["memory_id"], v["operation"]) for v in listed]

    ids = [memory["id"] for memory in memories]
    newest = [*[(i, "modified") for i in ids[::-1]], *[(i, "created") for i in ids[::-1]]]
    assert found() == newest
    assert found(memory_id=ids[1]) == [(ids[1], "modified"), (ids[1], "created")]
    assert found(operation="created") == newest[3:]
    assert found(session_id="sesn_one") == newest[:3]
    assert found(api_key_id=key) == newest[3:]
    assert found(memory_id=ids[0], session_id="sesn_one") == [(ids[0], "modified")]
    assert found(memory_id=ids[0], operation="deleted") == []
    assert found(session_id="sesn_one", api_key_id=key) == []
    assert found(service_account_id="svac_1") == found(session_id="sesn") == found(session_id="x" * 2000) == []
    assert found(memory_id="mem_x") == found(memory_id="x" * 2000) == []
    assert found(**{"created_at[lte]": memories[1]["created_at"]}) == newest[4:]
    assert found(**{"created_at[gte]": changed["updated_at"], "operation": "modified"}) == newest[:1]
    assert found(**{"created_at[gte]": changed["updated_at"], "memory_id": ids[0]}) == []


@pytest.mark.parametrize(
    "query",
    [
        {"operation": "renamed"},
        {"view": "x"},
        {"limit": -1},
        {"limit": 101},
        {"created_at[gte]": "x"},
        {"created_at[gt]": "2026-01-01T00:00:00Z"},
        {"page": "page_x"},
    ],
)
def test_a_list_that_breaks_a_rule_is_refused(client: StoreClient, store: str, query: dict[str, Any]) -> None:
    assert client.get(f"{ROOT}/{store}/memory_versions", query=query).status == 400


def test_a_token_is_good_for_its_own_filters_only(client: StoreClient, store: str) -> None:
    for number in range(3):
        client.memory(store, f"/{number}")
    path = f"{ROOT}/{store}/memory_versions"
    token = client.get(path, query={"limit": 1}).json["next_page"]
    assert client.get(path, query={"limit": 2, "page": token}).status == 200
    assert client.get(path, query={"operation": "created", "page": token}).status == 400


def test_full_pages_of_versions_have_twenty_items_at_most(client: StoreClient, store: str) -> None:
    for number in range(22):
        client.memory(store, f"/{number}", str(number))
    page = client.get(f"{ROOT}/{store}/memory_versions", query={"view": "full", "limit": 50}).json
    assert [v["content"] for v in page["data"]] == [str(n) for n in range(21, 1, -1)]
    assert len(client.versions(store, view="full")) == 22


def test_a_filter_that_finds_little_reads_on_and_gives_up_after_a_while(
    client: StoreClient, store: str, world: World
) -> None:
    memory = client.memory(store, "/rare")
    client.remove(store, memory["id"])
    for number in range(3):
        client.memory(store, f"/{number}")
    assert [v["operation"] for v in client.versions(store, operation="deleted", limit=1)] == ["deleted"]
    ticks = iter(range(0, 1000, 11))
    from shared.stores import versions as module  # noqa: PLC0415

    backing = Backing(world.table, world.objects, world.clock)
    impatient = Versions(backing, monotonic=lambda: next(ticks))
    address, wanted = StoreAddress(Scope("acme", "default"), store), VersionList(2, operation="deleted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_READ_ON", 2)
        pages = [impatient.page(address, wanted)]
        while pages[-1].next_page:
            pages.append(impatient.page(address, VersionList(2, pages[-1].next_page, operation="deleted")))
    assert pages[0].data == []
    assert [v["operation"] for page in pages for v in page.data] == ["deleted"]


def test_a_page_that_gave_up_is_cut_where_it_would_not_fit_an_answer(
    client: StoreClient, store: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        client.memory(store, f"/{number}", "x" * 1000)
    monkeypatch.setattr("shared.stores.versions._READ_ON", 4)
    monkeypatch.setattr("shared.stores.pages.ANSWER_BYTES", 3500)
    ticks = iter(range(0, 1000, 11))
    impatient = Versions(Backing(world.table, world.objects, world.clock), monotonic=lambda: next(ticks))
    address, wanted = StoreAddress(Scope("acme", "default"), store), VersionList(20, operation="created", full=True)
    pages = [impatient.page(address, wanted)]
    while pages[-1].next_page:
        pages.append(impatient.page(address, replace(wanted, page=pages[-1].next_page)))
    assert [[version["path"] for version in page.data] for page in pages] == [["/3", "/2"], ["/1", "/0"]]


def test_redaction_erases_content_and_path_and_keeps_the_rest(client: StoreClient, store: str, world: World) -> None:
    memory = client.memory(store, "/secret", "swordfish")
    client.update(store, memory["id"], content="harmless")
    before = read(client, store, memory["memory_version_id"]).json
    key = next(k for k in world.cloud.object_keys() if world.objects.get(k) == b"swordfish")
    redacted = redact(client, store, memory["memory_version_id"])
    assert redacted.status == 200
    gone = dict.fromkeys(("content", "path", "content_size_bytes", "content_sha256"))
    times = {"redacted_at": redacted.json["redacted_at"], "redacted_by": before["created_by"]}
    assert redacted.json == {**before, **gone, **times}
    assert redacted.json["redacted_at"] > before["created_at"]
    assert key not in world.cloud.object_keys()
    assert b"swordfish" not in str(world.cloud.items()).encode()
    assert read(client, store, memory["memory_version_id"]).json == redacted.json
    assert client.versions(store, view="full")[1] == redacted.json
    assert client.retrieve(store, memory["id"]).json["content"] == "harmless"


def test_redacting_twice_changes_nothing(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a")
    client.update(store, memory["id"], content="new")
    first = redact(client, store, memory["memory_version_id"])
    again = redact(client, store, memory["memory_version_id"])
    assert (again.status, again.json) == (200, first.json)


def test_the_head_of_a_live_memory_is_not_redacted_until_it_is_one_no_more(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a")
    refused = redact(client, store, memory["memory_version_id"])
    assert (refused.status, refused.json["error"]["type"]) == (400, "invalid_request_error")
    client.remove(store, memory["id"])
    assert redact(client, store, memory["memory_version_id"]).status == 200
    deleted = client.versions(store)[0]
    assert redact(client, store, deleted["id"]).json["path"] is None


def test_a_rename_has_its_own_bytes_so_that_each_version_is_redacted_alone(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a", "same")
    renamed = client.update(store, memory["id"], path="/b").json
    redact(client, store, memory["memory_version_id"])
    assert read(client, store, renamed["memory_version_id"]).json["content"] == "same"
    assert client.retrieve(store, memory["id"]).json["content"] == "same"


def test_a_redaction_is_in_the_erasure_log(client: StoreClient, store: str, world: World) -> None:
    memory = client.memory(store, "/a")
    client.remove(store, memory["id"])
    redact(client, store, memory["memory_version_id"])
    (entry,) = ErasureLog(world.objects).replay(0)
    assert (entry.kind, entry.scope) == ("memory_version", Scope("acme", "default"))
    by = client.versions(store)[-1]["redacted_by"]
    assert entry.ids == {"store": store, "version": memory["memory_version_id"], "by": by}


def test_the_sweeper_forgets_a_redactions_work(client: StoreClient, store: str, world: World) -> None:
    memory = client.memory(store, "/a")
    client.remove(store, memory["id"])
    redact(client, store, memory["memory_version_id"])
    assert world.sweep()["errors"] == 0
    assert not [item for item in world.cloud.items() if item["pk"]["S"].startswith("J#")]
    assert redact(client, store, memory["memory_version_id"]).status == 200


def test_unknown_versions_are_404(client: StoreClient, store: str) -> None:
    for version in ("memver_01M3250V06YW639FSPCZQ3TJW5", "memver_x", "x" * 3000):
        assert read(client, store, version).status == 404
        assert redact(client, store, version).status == 404
