"""What every request has in common: credentials, dialects, bodies, ids of the request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from shared.stores.pages import token
from tests.clients.events import Client
from tests.stores.world import FIRST, NEWEST, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Answer
    from tests.stores.world import StoreClient, World

UNKNOWN = "memstore_01M3250V06YW639FSPCZQ3TJW5"
BOTH = {"anthropic-beta": f"x,{FIRST['anthropic-beta']}, {NEWEST['anthropic-beta']}"}
OPERATIONS = [
    ("POST", ROOT, {"name": "n"}),
    ("GET", ROOT, None),
    ("GET", f"{ROOT}/{UNKNOWN}", None),
    ("POST", f"{ROOT}/{UNKNOWN}", {}),
    ("DELETE", f"{ROOT}/{UNKNOWN}", None),
    ("POST", f"{ROOT}/{UNKNOWN}/archive", None),
    ("POST", f"{ROOT}/{UNKNOWN}/memories", {"path": "/a", "content": "x"}),
    ("GET", f"{ROOT}/{UNKNOWN}/memories", None),
    ("GET", f"{ROOT}/{UNKNOWN}/memories/mem_x", None),
    ("POST", f"{ROOT}/{UNKNOWN}/memories/mem_x", {}),
    ("DELETE", f"{ROOT}/{UNKNOWN}/memories/mem_x", None),
    ("GET", f"{ROOT}/{UNKNOWN}/memory_versions", None),
    ("GET", f"{ROOT}/{UNKNOWN}/memory_versions/memver_x", None),
    ("POST", f"{ROOT}/{UNKNOWN}/memory_versions/memver_x/redact", None),
]


def every_operation(client: Client, **headers: str) -> Iterator[Answer]:
    for method, path, body in OPERATIONS:
        yield client.send(method, path, json_body=body, headers=headers)


def kinds(answers: Iterator[Answer]) -> set[tuple[int, str]]:
    found = list(answers)
    assert len(found) == 14
    for answer in found:
        assert answer.json["request_id"] == answer.headers["request-id"]
        assert answer.headers["request-id"].startswith("req_")
        assert answer.headers["content-type"] == "application/json"
    return {(a.status, a.json["error"]["type"]) for a in found}


def test_every_operation_needs_a_credential(world: World) -> None:
    stranger = Client(world.handler())
    assert kinds(every_operation(stranger)) == {(401, "authentication_error")}
    assert kinds(every_operation(stranger, Authorization="Bearer lsk_wrong")) == {(401, "authentication_error")}


def test_the_key_may_come_in_any_of_its_headers(world: World) -> None:
    key = world.key()
    for headers in ({"X-Api-Key": key}, {"Authorization": f"Bearer {key}"}, {"Authorization": f"Token {key}"}):
        assert Client(world.handler(), headers=headers).get(ROOT).status == 200


def test_both_dialects_at_once_are_refused_by_every_operation(client: StoreClient) -> None:
    assert kinds(every_operation(client, **BOTH)) == {(400, "invalid_request_error")}


@pytest.mark.parametrize("beta", ["", "x", "message-batches-2024-09-24,prompt-caching-2024-07-31", "x, ,y"])
def test_other_betas_are_ignored(client: StoreClient, beta: str) -> None:
    assert client.get(ROOT, headers={"anthropic-beta": beta}).status == 200
    newest = {"anthropic-beta": f"{beta},{NEWEST['anthropic-beta']}"}
    assert client.get(f"{ROOT}/{client.store()}/memories", query="path_prefix=/no", headers=newest).status == 400


def test_a_reader_may_read_and_a_writer_write(world: World) -> None:
    store = world.client().store()
    reader, writer = world.client(permissions=("read",)), world.client(permissions=("write",))
    assert reader.get(f"{ROOT}/{store}/memories").status == 200
    refused = reader.create(store, "/a")
    assert (refused.status, refused.json["error"]["type"]) == (403, "permission_error")
    assert writer.create(store, "/a").status == 200
    assert writer.get(f"{ROOT}/{store}/memories").status == 403


def test_what_the_sdks_add_is_ignored(client: StoreClient) -> None:
    noise = {"x-stainless-retry-count": "2", "x-stainless-lang": "NOT_GIVEN", "anthropic-version": "2023-06-01"}
    store = client.post(ROOT, json_body={"name": "n"}, query="beta=true", headers=noise).json["id"]
    assert client.create(store, "/a", query="beta=true", headers=noise).status == 200
    assert client.get(f"{ROOT}/{store}/memories", query="beta=true&limit=1", headers=noise).status == 200


def test_the_workspace_header_names_the_project(world: World) -> None:
    client, bound = world.client(), world.client(project="blue")
    store = bound.store()
    assert client.get(f"{ROOT}/{store}", headers={"anthropic-workspace-id": "blue"}).status == 200
    assert client.get(f"{ROOT}/{store}").status == 404
    refused = bound.get(f"{ROOT}/{store}", headers={"anthropic-workspace-id": "red"})
    assert (refused.status, refused.json["error"]["type"]) == (403, "permission_error")


@pytest.mark.parametrize("kind", [None, "application/json", "application/json; charset=utf-8", "text/plain"])
def test_a_body_is_json_whatever_it_says_of_itself(client: StoreClient, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    made = client.post(ROOT, body=json.dumps({"name": "né"}, ensure_ascii=False).encode(), headers=headers)
    assert (made.status, made.json["name"]) == (200, "né")


@pytest.mark.parametrize("body", [b"", b"{}", b" {} "])
def test_archive_redact_and_delete_take_no_body_or_an_empty_one(client: StoreClient, body: bytes) -> None:
    store = client.store()
    memory = client.memory(store, "/a")
    client.update(store, memory["id"], content="new")
    headers = {"Content-Type": "application/json"}
    for kind in ({}, headers):
        version = f"{ROOT}/{store}/memory_versions/{memory['memory_version_id']}/redact"
        assert client.post(version, body=body, headers=kind).status == 200
        assert client.post(f"{ROOT}/{store}/archive", body=body, headers=kind).status == 200
    assert client.delete(f"{ROOT}/{store}/memories/{memory['id']}", body=body, headers=headers).status == 200
    assert client.delete(f"{ROOT}/{store}", body=body, headers=headers).status == 200


def test_an_archive_with_fields_is_refused(client: StoreClient, store: str) -> None:
    assert client.post(f"{ROOT}/{store}/archive", json_body={"archived": True}).status == 400
    assert client.get(f"{ROOT}/{store}").json["archived_at"] is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"null",
        b'{"path":"/a","content":"\\ud800"}',
        b'{"path":"/\\udc00","content":"x"}',
        b'{"path":"/a","content":NaN}',
        b"[" * 200 + b"]" * 200,
        b'{"path":"/a","content":"x","mode":1}',
    ],
)
def test_a_body_that_is_none_is_refused(client: StoreClient, store: str, body: bytes) -> None:
    answer = client.post(f"{ROOT}/{store}/memories", body=body, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.json["error"]["type"]) == (400, "invalid_request_error")
    assert client.listed(store) == []


def test_a_body_over_one_mebibyte_is_refused_before_it_is_read(client: StoreClient, store: str) -> None:
    fits = json.dumps({"path": "/a", "content": "x"}).encode().ljust(1 << 20)
    assert client.post(f"{ROOT}/{store}/memories", body=fits).status == 200
    for headers in ({}, {"Content-Type": "application/json"}):
        answer = client.post(f"{ROOT}/{store}/memories", body=fits + b" ", headers=headers)
        assert (answer.status, answer.json["error"]["type"]) == (413, "request_too_large")


def test_the_form_is_checked_before_the_store_and_the_store_before_the_rest(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a")
    client.post(f"{ROOT}/{store}/archive")
    broken: dict[str, Any] = {"path": "no slash"}
    assert client.update(UNKNOWN, memory["id"], **broken).status == 400
    assert client.update(UNKNOWN, memory["id"], content="x").status == 404
    assert client.update(store, "mem_x", content="x").status == 400
    assert client.create(store, "/a").status == 400


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"fine": "v", "team": 1}, "body.metadata: The value of 'team': Input should be a valid string"),
        ({"team": None}, "body.metadata: The value of 'team': Input should be a valid string"),
        ({"team": "v" * 513}, "body.metadata: The value of 'team': String should have 0 to 512 characters"),
        ({"k" * 65: "v"}, "body.metadata: A key: String should have 1 to 64 characters"),
    ],
)
def test_metadata_that_breaks_a_rule_is_told_which_pair_and_which_part_of_it(
    client: StoreClient, metadata: dict[str, Any], told: str
) -> None:
    answer = client.post(ROOT, json_body={"name": "n", "metadata": metadata})
    assert answer.json["error"]["message"] == told


def test_unknown_routes_and_verbs_answer_in_our_shape(client: StoreClient, store: str) -> None:
    for path in (f"{ROOT}/{store}/nothing", f"{ROOT}/{store}/memories/mem_x/more"):
        answer = client.get(path)
        assert (answer.status, answer.json["error"]["type"]) == (404, "not_found_error")
    refused = client.patch(f"{ROOT}/{store}", json_body={})
    assert (refused.status, refused.json["type"]) == (405, "error")
    assert refused.headers["allow"] == "DELETE, GET, POST"


FORGED = [5, None, "", "\ud800", "x" * 2000, ["/a"], {"a": 1}, True, "/\x00", "mem_x", "9" * 15 + "#mem_x", "٣" * 15]


@pytest.mark.parametrize("position", FORGED, ids=repr)
def test_a_forged_token_is_refused(client: StoreClient, store: str, position: Any) -> None:
    address = ("M#acme#default", store)
    lists = {
        ROOT: ("stores", "acme", "default", "None", "None", "False"),
        f"{ROOT}/{store}/memories": ("memories", *address, "first", "/b", "0", "path", "False"),
        f"{ROOT}/{store}/memories?": ("memories", *address, "first", "/b", "0", "created_at", "False"),
        f"{ROOT}/{store}/memories??": ("memories", *address, "first", "/b", "0", "updated_at", "False"),
        f"{ROOT}/{store}/memory_versions": ("versions", *address, "None", "None", "None", "None"),
    }
    for path, binding in lists.items():
        query = {"page": token(position, binding), "path_prefix": "/b"}
        if binding[0] == "memories":
            query["order_by"] = binding[-2]
        answer = client.get(path.rstrip("?"), query=query)
        assert (answer.status, answer.json["error"]["type"]) == (400, "invalid_request_error"), path


def test_a_true_token_of_these_lists_is_taken(client: StoreClient, store: str) -> None:
    binding = "memories", "M#acme#default", store, "first", "/b", "0", "path", "False"
    assert (
        client.get(f"{ROOT}/{store}/memories", query={"page": token("/b/a", binding), "path_prefix": "/b"}).status
        == 200
    )
