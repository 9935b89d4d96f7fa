"""Who may do what: every role on every operation, and nobody above itself."""

from __future__ import annotations

from typing import Any

import pytest

from shared.kernel.scope import Role
from tests.clients.events import Client
from tests.platform.world import KEYS, World, made, told

MEMBER, PROJECT_ADMIN, TENANT_ADMIN, OPERATOR = Role
OPERATIONS: dict[str, tuple[str, str, Any]] = {
    "make a key": ("POST", KEYS, {"name": "n", "role": "member", "tenant_id": "acme", "project_id": "blue"}),
    "list keys": ("GET", KEYS, None),
    "read a key": ("GET", f"{KEYS}/{{id}}", None),
    "revoke a key": ("DELETE", f"{KEYS}/{{id}}", None),
    "read a project": ("GET", "/v1/projects/blue", None),
    "set a project": ("PUT", "/v1/projects/blue", {"retention_days": 90}),
    "read usage": ("GET", "/v1/usage", None),
}
MATRIX = {
    "make a key": {OPERATOR: 200, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 403},
    "list keys": {OPERATOR: 200, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 403},
    "read a key": {OPERATOR: 200, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 403},
    "revoke a key": {OPERATOR: 200, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 403},
    "read a project": {OPERATOR: 403, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 200},
    "set a project": {OPERATOR: 403, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 403},
    "read usage": {OPERATOR: 403, TENANT_ADMIN: 200, PROJECT_ADMIN: 200, MEMBER: 200},
}
CASES = [(operation, role, status) for operation, row in MATRIX.items() for role, status in row.items()]


def bound(role: Role) -> dict[str, str]:
    return {"project": "blue"} if role <= PROJECT_ADMIN else {}


def do(world: World, client: Client, operation: str) -> int:
    verb, path, body = OPERATIONS[operation]
    key_id = made(world.client(), project_id="blue").json["id"]
    return client.send(verb, path.format(id=key_id), json_body=body).status


@pytest.mark.parametrize(("operation", "role", "status"), CASES)
def test_each_role_may_do_what_the_contract_says(world: World, operation: str, role: Role, status: int) -> None:
    assert do(world, world.client(role, **bound(role)), operation) == status


@pytest.mark.parametrize(("operation", "role", "status"), [case for case in CASES if case[2] == 200])
def test_a_key_without_the_permission_may_not(world: World, operation: str, role: Role, status: int) -> None:
    needed = "read" if OPERATIONS[operation][0] == "GET" else "write"
    for permission in ("read", "write"):
        client = world.client(role, permissions=(permission,), **bound(role))
        wanted = {"permissions": [permission]} if operation == "make a key" else {}
        verb, path, body = OPERATIONS[operation]
        key_id = made(world.client(), project_id="blue").json["id"]
        sent = client.send(verb, path.format(id=key_id), json_body={**body, **wanted} if body else None)
        assert sent.status == (status if permission == needed else 403)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("key", [None, "lsk_wrong"])
def test_without_a_valid_key_everything_is_401(world: World, operation: str, key: str | None) -> None:
    assert do(world, Client(world.anyone().handler, key), operation) == 401


@pytest.mark.parametrize("maker", Role)
@pytest.mark.parametrize("role", Role)
def test_a_key_can_be_made_of_the_makers_rank_or_below(world: World, maker: Role, role: Role) -> None:
    project = "blue" if role <= PROJECT_ADMIN else None
    answer = made(world.client(maker, **bound(maker)), role=role.name.lower(), tenant_id="acme", project_id=project)
    assert answer.status == (200 if maker > MEMBER and role <= maker else 403)


@pytest.mark.parametrize("role", [TENANT_ADMIN, OPERATOR])
def test_a_bound_admin_that_asks_for_a_higher_rank_is_told_about_the_rank(world: World, role: Role) -> None:
    answer = made(world.client(PROJECT_ADMIN, project="blue"), role=role.name.lower())
    assert answer.status == 403
    assert "rank" in answer.json["error"]["message"]


@pytest.mark.parametrize("asker", [PROJECT_ADMIN, TENANT_ADMIN, OPERATOR])
@pytest.mark.parametrize("role", Role)
def test_a_key_can_be_revoked_by_its_own_rank_or_above(world: World, asker: Role, role: Role) -> None:
    operator = world.client(OPERATOR)
    project = "blue" if role <= PROJECT_ADMIN else None
    target = made(operator, role=role.name.lower(), tenant_id="acme", project_id=project).json["id"]
    answer = world.client(asker, **bound(asker)).delete(f"{KEYS}/{target}")
    assert answer.status == (200 if role <= asker else 404)


def test_an_unbound_project_admin_sees_but_can_not_revoke_its_tenants_admins(world: World) -> None:
    target = made(world.client(), role="tenant_admin").json["id"]
    client = world.client(PROJECT_ADMIN)
    assert client.get(f"{KEYS}/{target}").status == 200
    assert client.delete(f"{KEYS}/{target}").status == 403


@pytest.mark.parametrize("project", ["red", None])
def test_a_project_admin_makes_keys_of_its_own_project_only(world: World, project: str | None) -> None:
    client = world.client(PROJECT_ADMIN, project="blue")
    refused = made(client, project_id=project)
    assert (refused.status, "blue" in told(refused)) == (403, False)
    assert made(client).json["project_id"] == "blue"


def test_a_project_admin_sees_its_projects_keys_only(world: World) -> None:
    admin = world.client()
    hidden = [made(admin, project_id=p).json["id"] for p in ("red", "blue-2", "blu", None)]
    shown = made(admin, project_id="blue").json["id"]
    client = world.client(PROJECT_ADMIN, project="blue")
    assert shown in [k["id"] for k in client.get(KEYS).json["data"]]
    assert {k["project_id"] for k in client.get(KEYS).json["data"]} == {"blue"}
    for key_id in hidden:
        assert client.get(f"{KEYS}/{key_id}").status == 404
        assert client.delete(f"{KEYS}/{key_id}").status == 404


def test_nobody_but_an_operator_makes_keys_of_another_tenant(world: World) -> None:
    for role in (TENANT_ADMIN, PROJECT_ADMIN):
        refused = made(world.client(role), tenant_id="other")
        assert refused.status == 403
    assert made(world.client(OPERATOR), tenant_id="other").json["tenant_id"] == "other"


def test_an_operator_must_say_whose_key_it_makes(world: World) -> None:
    operator = world.client(OPERATOR)
    for absent in ({}, {"tenant_id": None}):
        answer = made(operator, **absent)
        assert answer.status == 400
        assert told(answer).startswith("body.tenant_id")
    assert made(operator, role="operator").json["tenant_id"] is None


def test_an_operator_lists_all_keys_or_those_of_the_tenant_it_names(world: World) -> None:
    operator = world.client(OPERATOR)
    for tenant in ("acme", "acme-corp", "zeta"):
        made(operator, tenant_id=tenant)
    whole = operator.get(KEYS).json["data"]
    assert [k["tenant_id"] for k in whole] == [None, "acme", "acme-corp", "zeta"]
    named = operator.get(KEYS, headers={"X-Sandbox-Tenant-Id": "acme"}).json["data"]
    assert [k["tenant_id"] for k in named] == ["acme"]


def test_a_tenant_admin_never_sees_an_operator_even_one_that_names_its_tenant(world: World) -> None:
    key_id = made(world.client(OPERATOR), role="operator", tenant_id="acme").json["id"]
    admin = world.client()
    assert "operator" not in {k["role"] for k in admin.get(KEYS).json["data"]}
    assert admin.get(f"{KEYS}/{key_id}").status == 404


def test_a_key_can_not_give_a_permission_that_it_lacks(world: World) -> None:
    client = world.client(permissions=("write",))
    assert made(client).status == 403
    assert made(client, permissions=["read"]).status == 403
    assert made(client, permissions=["write"]).json["permissions"] == ["write"]


def test_a_read_only_admin_makes_and_revokes_nothing(world: World) -> None:
    key_id = made(world.client()).json["id"]
    client = world.client(permissions=("read",))
    assert made(client, permissions=["read"]).status == 403
    assert client.delete(f"{KEYS}/{key_id}").status == 403
    assert client.get(f"{KEYS}/{key_id}").json["revoked_at"] is None


def test_a_member_is_refused_before_its_body_is_read(world: World) -> None:
    assert world.client(MEMBER).post(KEYS, body=b"{").status == 403


def test_a_key_may_revoke_itself(world: World) -> None:
    admin = world.client()
    own = admin.get(KEYS).json["data"][0]["id"]
    assert admin.delete(f"{KEYS}/{own}").status == 200
    assert admin.get(KEYS).status == 401
