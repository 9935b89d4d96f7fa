"""Stores: create, list, retrieve, update, archive, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.twins import late_puts
from tests.stores.world import ROOT

if TYPE_CHECKING:
    from tests.stores.world import StoreClient, World


def path(store: str, *rest: str) -> str:
    return "/".join((ROOT, store, *rest))


def names(client: StoreClient, **query: Any) -> list[str]:
    found: list[str] = []
    while True:
        page = client.get(ROOT, query=query).json
        found += [store["name"] for store in page["data"]]
        assert page["data"] or not page["next_page"]
        if not page["next_page"]:
            return found
        query["page"] = page["next_page"]


def test_a_new_store_is_answered_with_every_field(client: StoreClient) -> None:
    made = client.post(ROOT, json_body={"name": "Notes", "description": "Of the team", "metadata": {"k": "v"}})
    store = made.json
    assert made.status == 200
    assert store["id"].startswith("memstore_")
    assert store["created_at"] == store["updated_at"]
    known = {name: store[name] for name in ("type", "name", "description", "metadata", "archived_at")}
    assert known == {
        "type": "memory_store",
        "name": "Notes",
        "description": "Of the team",
        "metadata": {"k": "v"},
        "archived_at": None,
    }
    assert client.get(path(store["id"])).json == store


def test_description_is_empty_and_metadata_an_object_when_unset(client: StoreClient) -> None:
    store = client.post(ROOT, json_body={"name": "n"}).json
    assert (store["description"], store["metadata"]) == ("", {})


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": None},
        {"name": 1},
        {"name": "x" * 256},
        {"name": "a\nb"},
        {"name": "n", "description": "x" * 1025},
        {"name": "n", "description": 1},
        {"name": "n", "metadata": []},
        {"name": "n", "metadata": {"": "v"}},
        {"name": "n", "metadata": {"k" * 65: "v"}},
        {"name": "n", "metadata": {"k": "v" * 513}},
        {"name": "n", "metadata": {"k": 1}},
        {"name": "n", "metadata": {"k": None}},
        {"name": "n", "metadata": {str(n): "v" for n in range(17)}},
        {"name": "n", "colour": "red"},
        [],
        "name",
    ],
)
def test_a_store_that_breaks_a_rule_is_refused_and_not_made(client: StoreClient, body: Any) -> None:
    answer = client.post(ROOT, json_body=body)
    assert (answer.status, answer.json["error"]["type"]) == (400, "invalid_request_error")
    assert names(client) == []


def test_limits_are_in_characters_and_reached(client: StoreClient) -> None:
    body = {
        "name": "😀" * 255,
        "description": "é" * 1024,
        "metadata": {f"{n:02d}" + "é" * 62: "😀" * 512 for n in range(16)},
    }
    answer = client.post(ROOT, json_body=body)
    assert answer.status == 200
    assert {name: answer.json[name] for name in body} == body


def test_stores_are_listed_newest_first_in_pages(client: StoreClient) -> None:
    for number in range(7):
        client.store(f"s{number}")
    assert names(client) == [f"s{n}" for n in range(6, -1, -1)]
    assert names(client, limit=2) == names(client)


def test_a_page_of_large_stores_has_all_that_it_was_asked_for(client: StoreClient) -> None:
    metadata = {f"{n:02}".ljust(64, "é"): "\U0001f600" * 512 for n in range(16)}
    for number in range(35):
        client.store(f"s{number}", metadata=metadata)
    expected = [f"s{n}" for n in range(34, -1, -1)]
    assert [store["name"] for store in client.get(ROOT, query={"limit": 100}).json["data"]] == expected
    assert names(client, limit=34) == expected


def test_creation_time_filters_the_list_and_its_bounds_count(client: StoreClient, world: World) -> None:
    moments = []
    for number in range(4):
        moments.append(client.post(ROOT, json_body={"name": f"s{number}"}).json["created_at"])
        world.clock.move(ms=1000)
    assert names(client, **{"created_at[gte]": moments[1]}) == ["s3", "s2", "s1"]
    assert names(client, **{"created_at[lte]": moments[1]}) == ["s1", "s0"]
    assert names(client, **{"created_at[gte]": moments[1], "created_at[lte]": moments[2], "limit": 1}) == ["s2", "s1"]
    just_after = moments[1].replace("Z", "001+00:00")
    assert names(client, **{"created_at[gte]": just_after}) == ["s3", "s2"]
    assert names(client, **{"created_at[lte]": just_after}) == ["s1", "s0"]
    assert names(client, **{"created_at[gte]": "9999-01-01T00:00:00Z"}) == []
    assert names(client, **{"created_at[lte]": "1960-01-01T00:00:00Z"}) == []
    assert names(client, **{"created_at[gte]": "1960-01-01T00:00:00"}) == ["s3", "s2", "s1", "s0"]


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "1767225600"])
def test_a_time_that_is_none_is_refused(client: StoreClient, moment: str) -> None:
    assert client.get(ROOT, query={"created_at[gte]": moment}).status == 400


@pytest.mark.parametrize("name", ["created_at[gt]", "created_at[lt]", "created_at[eq]", "created_at"])
def test_a_bound_that_is_not_known_is_refused_and_not_ignored(client: StoreClient, name: str) -> None:
    answer = client.get(ROOT, query={name: "2099-01-01T00:00:00Z"})
    assert answer.status == 400
    assert answer.json["error"]["message"].startswith(f"query.{name}: ")


@pytest.mark.parametrize(
    "query", [*({"limit": n} for n in (0, -1, 101, "x", "")), {"include_archived": "maybe"}, {"page": "page_x"}]
)
def test_a_list_that_breaks_a_rule_is_refused(client: StoreClient, query: dict[str, Any]) -> None:
    assert client.get(ROOT, query=query).status == 400


def test_an_update_changes_what_it_names_and_moves_updated_at(client: StoreClient, store: str) -> None:
    before = client.get(path(store)).json
    changed = client.post(path(store), json_body={"description": "new"}).json
    assert changed == {**before, "description": "new", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > before["updated_at"]
    assert client.post(path(store), json_body={"description": ""}).json["description"] == ""


def test_metadata_is_patched(client: StoreClient) -> None:
    store = client.store(metadata={"a": "1", "b": "2"})
    changed = client.post(path(store), json_body={"metadata": {"b": None, "c": "3", "never": None}}).json
    assert changed["metadata"] == {"a": "1", "c": "3"}
    full = {f"k{n}": "v" for n in range(14)}
    assert client.post(path(store), json_body={"metadata": full}).status == 200
    assert client.post(path(store), json_body={"metadata": {"one": "more"}}).status == 400
    assert client.post(path(store), json_body={"metadata": {"one": "more", "a": None}}).status == 200


@pytest.mark.parametrize("body", [{}, {"name": None, "description": None, "metadata": None}, {"name": "notes"}])
def test_an_update_that_changes_nothing_leaves_updated_at(client: StoreClient, store: str, body: Any) -> None:
    before = client.get(path(store)).json
    assert client.post(path(store), json_body=body).json == before


@pytest.mark.parametrize("body", [{"name": ""}, {"description": "x" * 1025}, {"metadata": {"k": 1}}, {"x": 1}, []])
def test_an_update_that_breaks_a_rule_is_refused(client: StoreClient, store: str, body: Any) -> None:
    before = client.get(path(store)).json
    assert client.post(path(store), json_body=body).status == 400
    assert client.get(path(store)).json == before


def test_an_archived_store_stays_archived_and_leaves_the_default_list(client: StoreClient, store: str) -> None:
    before = client.get(path(store)).json
    archived = client.post(path(store, "archive"))
    assert archived.status == 200
    assert archived.json["archived_at"] == archived.json["updated_at"] > before["updated_at"]
    assert client.post(path(store, "archive")).json == archived.json == client.get(path(store)).json
    assert names(client) == []
    assert names(client, include_archived="true") == ["notes"]


def test_an_archived_store_refuses_changes_but_not_reads_deletes_and_redactions(
    client: StoreClient, store: str
) -> None:
    one, two = client.memory(store, "/one"), client.memory(store, "/two")
    client.update(store, one["id"], content="newer")
    client.post(path(store, "archive"))
    refused = [
        client.post(path(store), json_body={"name": "other"}),
        client.create(store, "/three"),
        client.update(store, one["id"], content="newest"),
        client.update(store, one["id"], path="/elsewhere"),
        client.update(store, "mem_unknown", content="newest"),
    ]
    assert [(a.status, a.json["error"]["type"]) for a in refused] == [(400, "invalid_request_error")] * 5
    assert client.retrieve(store, one["id"]).json["content"] == "newer"
    assert client.listed(store) == ["/one", "/two"]
    assert client.remove(store, two["id"]).status == 200
    assert client.post(path(store, "memory_versions", one["memory_version_id"], "redact")).status == 200
    assert client.delete(path(store)).status == 200


def test_a_deleted_store_is_gone_with_all_that_is_in_it_at_once(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a/b")
    deleted = client.delete(path(store))
    assert deleted.json == {"id": store, "type": "memory_store_deleted"}
    gone = [
        client.get(path(store)),
        client.post(path(store), json_body={"name": "n"}),
        client.post(path(store, "archive")),
        client.delete(path(store)),
        client.create(store, "/c"),
        client.get(path(store, "memories")),
        client.retrieve(store, memory["id"]),
        client.update(store, memory["id"], content="x"),
        client.remove(store, memory["id"]),
        client.get(path(store, "memory_versions")),
        client.get(path(store, "memory_versions", memory["memory_version_id"])),
        client.post(path(store, "memory_versions", memory["memory_version_id"], "redact")),
    ]
    assert [(a.status, a.json["error"]["type"]) for a in gone] == [(404, "not_found_error")] * len(gone)
    assert names(client, include_archived="true") == []


def test_a_store_of_another_scope_answers_as_if_it_did_not_exist(world: World) -> None:
    owner = world.client()
    alike = [world.client(tenant=name) for name in ("other", "acme-corp", "acm", "acme.x", "ACME", "acme-default")]
    store = owner.store()
    memory = owner.memory(store, "/a")
    unknown = owner.get(path("memstore_01M3250V06YW639FSPCZQ3TJW5")).json["error"]
    for client in (*alike, world.client(project="blue"), world.client(project="default2")):
        assert client.get(path(store)).json["error"] == unknown
        assert client.retrieve(store, memory["id"]).status == 404
        assert client.delete(path(store)).status == 404
        assert names(client, include_archived="true") == []
    assert owner.get(path(store)).status == 200


def test_a_memory_is_not_found_through_another_store(client: StoreClient) -> None:
    one, two = client.store("one"), client.store("two")
    memory = client.memory(one, "/a")
    assert client.retrieve(two, memory["id"]).status == 404
    assert client.update(two, memory["id"], content="x").status == 404
    assert client.get(path(two, "memory_versions", memory["memory_version_id"])).status == 404


def test_a_creation_that_arrives_once_more_changes_nothing(client: StoreClient, world: World) -> None:
    with late_puts(world.cloud.aws) as arrive:
        store = client.store("first")
    client.memory(store, "/a")
    client.post(path(store), json_body={"name": "second"})
    before = world.cloud.items()
    assert arrive() == 1
    assert world.cloud.items() == before
