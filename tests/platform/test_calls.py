"""What each operation costs: AWS calls one after the other, and in all. A figure here may fall, never rise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.scope import Role
from tests.emulator.faults import recorded
from tests.platform.world import KEYS, made

if TYPE_CHECKING:
    from tests.platform.world import World

COSTS: dict[str, tuple[str, str, Any, int, int]] = {
    # operation: verb, path, body, sequential, total
    "create_api_key": ("POST", KEYS, {"name": "n", "role": "member"}, 1, 1),
    "list_api_keys": ("GET", KEYS, None, 1, 1),
    "list_api_keys with revoked ones": ("GET", f"{KEYS}?include_revoked=true", None, 1, 2),
    "read_api_key": ("GET", f"{KEYS}/{{id}}", None, 2, 2),
    "revoke_api_key": ("DELETE", f"{KEYS}/{{id}}", None, 4, 4),
    "read_project": ("GET", "/v1/projects/blue", None, 1, 1),
    "put_project": ("PUT", "/v1/projects/blue", {"retention_days": 7}, 1, 1),
    "read_usage": ("GET", "/v1/usage", None, 2, 3),
    "health": ("GET", "/health", None, 0, 0),
    "ready": ("GET", "/ready", None, 1, 3),
    "openapi_json": ("GET", "/openapi.json", None, 0, 0),
    "docs": ("GET", "/docs", None, 0, 0),
}


@pytest.mark.parametrize("operation", COSTS)
def test_an_operation_of_a_warm_function_costs_no_more_than_this(world: World, operation: str) -> None:
    verb, path, body, sequential, total = COSTS[operation]
    admin = world.client()
    key_id = made(admin).json["id"]
    path, _, query = path.format(id=key_id).partition("?")
    with recorded() as calls:
        answer = admin.send(verb, path, query=query, json_body=body)
    assert answer.status == 200
    assert (calls.sequential, calls.total) == (sequential, total)


def test_a_members_usage_is_read_at_once(world: World) -> None:
    client = world.client(Role.MEMBER)
    client.get("/v1/usage")
    with recorded() as calls:
        assert client.get("/v1/usage").status == 200
    assert (calls.sequential, calls.total) == (1, 3)


def test_a_key_with_a_limit_costs_one_write_and_with_a_projects_limit_two(world: World) -> None:
    world.client().put("/v1/projects/blue", json_body={"rate_limit_per_minute": 100})
    for project, writes in (("red", 1), ("blue", 2)):
        client = world.client(Role.MEMBER, project=project, rate_limit=100)
        client.get(f"/v1/projects/{project}")
        with recorded() as calls:
            client.get(f"/v1/projects/{project}")
        assert calls.names == ["dynamodb.UpdateItem"] * writes + ["dynamodb.GetItem"]
