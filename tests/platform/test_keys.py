from __future__ import annotations

import json
from typing import Any

import pytest

from shared.kernel.clock import rfc3339
from shared.kernel.cursor import encode
from shared.kernel.scope import Role
from tests.clients.events import Client
from tests.platform.world import KEYS, World, made, told

A_DAY = 86_400_000
FIELDS = {
    "type", "id", "name", "tenant_id", "project_id", "role", "principal", "permissions", "expires_at",
    "rate_limit_per_minute", "quotas", "created_at", "created_by", "last_used_at", "revoked_at",
}  # fmt: skip


def test_a_new_key_is_shown_whole_and_its_secret_once(world: World) -> None:
    admin = world.client()
    expires = rfc3339(world.clock.now_ms() + A_DAY)
    answer = made(
        admin,
        name="für den Läufer 跑",
        project_id="blue",
        principal="ann",
        permissions=["write", "read", "read"],
        expires_at=expires,
        rate_limit_per_minute=100,
        quotas={"memory_write": 10, "memory_search": None},
    )
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    record = answer.json
    secret = record.pop("key")
    assert secret.startswith("lsk_")
    assert set(record) == FIELDS
    expected = {
        "type": "api_key",
        "name": "für den Läufer 跑",
        "tenant_id": "acme",
        "project_id": "blue",
        "role": "member",
        "principal": "ann",
        "permissions": ["read", "write"],
        "expires_at": expires,
        "rate_limit_per_minute": 100,
        "quotas": {"memory_write": 10},
        "created_at": rfc3339(world.clock.now_ms()),
        "last_used_at": None,
        "revoked_at": None,
    }
    assert {name: record[name] for name in expected} == expected
    assert record["id"].startswith("apikey_")
    assert record["created_by"].startswith("apikey_")
    assert admin.get(f"{KEYS}/{record['id']}").json == record
    assert secret not in str(admin.get(KEYS).json)


def test_what_is_left_out_of_a_new_key_has_its_default(world: World) -> None:
    record = made(world.client()).json
    assert record["principal"] == record["id"]
    assert record["permissions"] == ["read", "write"]
    assert [record[n] for n in ("project_id", "expires_at", "rate_limit_per_minute", "quotas")] == [None] * 4


def test_a_new_key_works_at_once_and_a_revoked_one_no_more(world: World) -> None:
    admin = world.client()
    answer = made(admin, role="project_admin").json
    client = Client(world.anyone().handler, answer["key"])
    assert client.get("/v1/projects/default").status == 200
    revoked = admin.delete(f"{KEYS}/{answer['id']}")
    assert (revoked.status, revoked.json) == (200, {"id": answer["id"], "type": "api_key_revoked"})
    refused = client.get("/v1/projects/default")
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert told(refused) == "This key is unknown, expired or revoked."


def test_revoking_twice_says_the_same_and_keeps_the_first_time(world: World) -> None:
    admin = world.client()
    path = f"{KEYS}/{made(admin).json['id']}"
    first = admin.delete(path)
    at = admin.get(path).json["revoked_at"]
    world.clock.move(seconds=5)
    assert admin.delete(path).json == first.json
    assert admin.get(path).json["revoked_at"] == at is not None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"name": 5}, "name"),
        ({"name": None}, "name"),
        ({"role": "admin"}, "role"),
        ({"role": "MEMBER"}, "role"),
        ({"role": None}, "role"),
        ({"tenant_id": "a#b"}, "tenant_id"),
        ({"tenant_id": ""}, "tenant_id"),
        ({"tenant_id": "a" * 65}, "tenant_id"),
        ({"project_id": "-x"}, "project_id"),
        ({"project_id": "a\n"}, "project_id"),
        ({"principal": ""}, "principal"),
        ({"principal": "a\u0000b"}, "principal"),
        ({"principal": "x" * 256}, "principal"),
        ({"permissions": []}, "permissions"),
        ({"permissions": None}, "permissions"),
        ({"permissions": ["admin"]}, "permissions"),
        ({"permissions": "read"}, "permissions"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": "2031-01-01"}, "expires_at"),
        ({"expires_at": "2031-01-01T00:00:00"}, "expires_at"),
        ({"expires_at": 1924992000}, "expires_at"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-23:59"}, "expires_at"),
        ({"rate_limit_per_minute": 0}, "rate_limit_per_minute"),
        ({"rate_limit_per_minute": -1}, "rate_limit_per_minute"),
        ({"rate_limit_per_minute": True}, "rate_limit_per_minute"),
        ({"rate_limit_per_minute": "60"}, "rate_limit_per_minute"),
        ({"rate_limit_per_minute": 1.5}, "rate_limit_per_minute"),
        ({"rate_limit_per_minute": 10**30}, "rate_limit_per_minute"),
        ({"quotas": {"memory_read": 5}}, "quotas.memory_read"),
        ({"quotas": {"memory_write": -1}}, "quotas.memory_write"),
        ({"quotas": []}, "quotas"),
        ({"scopes": ["all"]}, "scopes"),
        ({"role": "tenant_admin", "project_id": "blue"}, "project_id"),
    ],
)
def test_a_broken_rule_is_400_names_the_field_and_makes_nothing(world: World, body: dict[str, Any], field: str) -> None:
    admin = world.client()
    answer = made(admin, **body)
    assert answer.status == 400
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert told(answer).startswith(f"body.{field}")
    assert len(admin.get(KEYS).json["data"]) == 1


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b'{"name":"\xff","role":"member"}', "application/json", 400),
        (b'{"name":"\\ud800","role":"member"}', "application/json", 400),
        (b'{"name":NaN,"role":"member"}', "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b'{"name":"x","role":"member"}', "text/plain", 415),
        (b" " * (64 << 10) + b"{}", "application/json", 413),
    ],
)
def test_a_body_that_can_not_be_read_is_a_clear_4xx(world: World, body: bytes, kind: str, status: int) -> None:
    answer = world.client().post(KEYS, body=body, headers={"Content-Type": kind})
    assert answer.status == status
    assert told(answer)


@pytest.mark.parametrize("body", [[], None, "name", {"name": "n", "role": "member", "quotas": []}])
def test_what_should_be_an_object_is_told_so_in_the_words_of_json(world: World, body: Any) -> None:
    answer = world.client().post(KEYS, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    assert told(answer).endswith(": Input should be an object")


def test_a_role_that_has_no_project_is_told_so(world: World) -> None:
    answer = made(world.client(Role.OPERATOR), role="operator", project_id="blue")
    assert told(answer) == "body.project_id: A key with the role operator is bound to no project; leave it out"


@pytest.mark.parametrize("key_id", ["x", "apikey_", "apikey_" + "0" * 26, "apikey_" + "é" * 26, "%00", "a" * 4000])
@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_an_unknown_id_of_whatever_form_is_404(world: World, verb: str, key_id: str) -> None:
    answer = world.client().send(verb, f"{KEYS}/{key_id}")
    assert (answer.status, answer.json["error"]["type"]) == (404, "not_found_error")


def test_another_verb_is_405_and_names_those_that_are_there(world: World) -> None:
    answer = world.client().put(KEYS)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")
    assert told(answer) == "Method Not Allowed"


def test_a_list_is_walked_page_by_page_without_skip_or_repeat(world: World) -> None:
    admin = world.client()
    for n in range(7):
        made(admin, name=f"key {n}", project_id=None if n % 2 else "blue")
    whole = [k["id"] for k in admin.get(KEYS, query={"limit": 100}).json["data"]]
    walked, page = [], None
    while True:
        answer = admin.get(KEYS, query={"limit": 3} | ({"page": page} if page else {})).json
        walked += [k["id"] for k in answer["data"]]
        page = answer["next_page"]
        if page is None:
            break
    assert walked == whole
    assert len(set(walked)) == 8


def test_revoked_keys_are_listed_only_when_asked_for_and_in_their_place(world: World) -> None:
    admin = world.client()
    ids = []
    for _ in range(6):
        world.clock.move(seconds=1)
        ids.append(made(admin).json["id"])
    for key_id in ids[::2]:
        admin.delete(f"{KEYS}/{key_id}")
    assert [k["id"] for k in admin.get(KEYS).json["data"]][1:] == ids[1::2]
    walked: list[str] = []
    page = ""
    while page is not None:
        answer = admin.get(KEYS, query={"limit": 2, "include_revoked": "true", "page": page}).json
        walked += [k["id"] for k in answer["data"]]
        page = answer["next_page"]
    assert walked[1:] == ids


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=101",
        "limit=x",
        "limit=1.5",
        "limit=",
        "limit=%31%20",
        "include_revoked=1",
        "page=x",
    ],
)
def test_a_broken_list_parameter_is_400(world: World, query: str) -> None:
    answer = world.client().get(KEYS, query=query)
    assert answer.status == 400
    assert told(answer).startswith(f"query.{query.partition('=')[0]}")


def test_a_cursor_of_another_tenant_or_a_forged_one_opens_nothing(world: World) -> None:
    for client in (world.client(tenant="acme-corp"), world.client(tenant="aaa")):
        for _ in range(2):
            made(client)
    theirs = world.client(tenant="acme-corp").get(KEYS, query={"limit": 1}).json["next_page"]
    admin = world.client()
    forged: list[Any] = ["", "!", "aaa#", "acme#zz", "zzz##apikey_" + "0" * 26, 5, None, ["a"], {"a": 1}, "\ud800"]
    for page in (theirs, *(encode(p, "api_keys", "acme", "") for p in forged)):
        assert admin.get(KEYS, query={"page": page}).status == 400


@pytest.mark.parametrize(
    ("role", "project"), [(Role.TENANT_ADMIN, None), (Role.PROJECT_ADMIN, "blue"), (Role.PROJECT_ADMIN, None)]
)
def test_no_key_of_another_tenant_is_seen_read_or_revoked(world: World, role: Role, project: str | None) -> None:
    others = [
        made(world.client(tenant=tenant), project_id=project).json
        for tenant in ("acme-corp", "acm", "acme.x", "acme-", "ACME", "acme0")
    ]
    client = world.client(role, project=project)
    assert [k["tenant_id"] for k in client.get(KEYS, query={"limit": 100}).json["data"]] == ["acme"]
    for other in others:
        path = f"{KEYS}/{other['id']}"
        assert [client.get(path).status, client.delete(path).status] == [404, 404]
        assert Client(world.anyone().handler, other["key"]).get("/v1/projects/" + (project or "x")).status == 200
