from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.kernel.clock import rfc3339
from shared.kernel.scope import Role
from tests.platform.world import World, told

BLUE = "/v1/projects/blue"


def test_a_project_that_was_never_set_has_the_defaults(world: World) -> None:
    answer = world.client(Role.MEMBER).get(BLUE)
    assert answer.status == 200
    assert answer.json == {
        "type": "project",
        "id": "blue",
        "retention_days": 30,
        "rate_limit_per_minute": None,
        "updated_at": None,
    }


@pytest.mark.parametrize("days", [7, 30, 90, 365])
def test_retention_can_be_each_of_the_classes(world: World, days: int) -> None:
    admin = world.client()
    answer = admin.put(BLUE, json_body={"retention_days": days, "rate_limit_per_minute": 100})
    assert answer.json == {
        "type": "project",
        "id": "blue",
        "retention_days": days,
        "rate_limit_per_minute": 100,
        "updated_at": rfc3339(world.clock.now_ms()),
    }
    assert admin.get(BLUE).json == answer.json


def test_what_a_put_leaves_out_stays_so_that_a_new_limit_never_shortens_retention(world: World) -> None:
    admin = world.client()
    admin.put(BLUE, json_body={"retention_days": 365})
    assert admin.put(BLUE, json_body={"rate_limit_per_minute": 5}).json["retention_days"] == 365
    assert admin.put(BLUE, json_body={"retention_days": 7}).json["rate_limit_per_minute"] == 5
    assert admin.put(BLUE, json_body={}).json["retention_days"] == 7
    assert admin.put(BLUE, json_body={"rate_limit_per_minute": None}).json["rate_limit_per_minute"] is None


def test_a_whole_number_is_one_however_json_writes_it(world: World) -> None:
    body = b'{"retention_days": 90.0, "rate_limit_per_minute": 6e1}'
    answer = world.client().put(BLUE, body=body, headers={"Content-Type": "application/json"})
    assert (answer.json["retention_days"], answer.json["rate_limit_per_minute"]) == (90, 60)


def test_concurrent_puts_of_different_settings_both_count(world: World) -> None:
    clients = [world.client() for _ in range(8)]
    bodies = [{"retention_days": 90}, {"rate_limit_per_minute": 1000}] * 4
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda c, b: c.put(BLUE, json_body=b).status, clients, bodies))
    assert answers == [200] * 8
    settings = world.client().get(BLUE).json
    assert (settings["retention_days"], settings["rate_limit_per_minute"]) == (90, 1000)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"retention_days": 31}, "retention_days"),
        ({"retention_days": None}, "retention_days"),
        ({"retention_days": "30"}, "retention_days"),
        ({"retention_days": True}, "retention_days"),
        ({"rate_limit_per_minute": 0}, "rate_limit_per_minute"),
        ({"rate_limit_per_minute": "5"}, "rate_limit_per_minute"),
        ({"retention": 30}, "retention"),
    ],
)
def test_a_broken_rule_is_400_and_changes_nothing(world: World, body: dict[str, Any], field: str) -> None:
    admin = world.client()
    answer = admin.put(BLUE, json_body={"rate_limit_per_minute": 9, "retention_days": 90} | body)
    assert answer.status == 400
    assert told(answer).startswith(f"body.{field}")
    assert admin.get(BLUE).json["updated_at"] is None


@pytest.mark.parametrize("project", ["-x", "a%23b", "a%20b", "%C3%A9", "a" * 65])
def test_an_impossible_project_is_400(world: World, project: str) -> None:
    answer = world.client().get(f"/v1/projects/{project}")
    assert answer.status == 400
    assert told(answer).startswith("path.project_id")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.PROJECT_ADMIN])
def test_a_bound_key_reaches_its_own_project_only(world: World, role: Role) -> None:
    client = world.client(role, project="blue")
    assert client.get(BLUE).status == 200
    for other in ("red", "blue-2", "blu"):
        assert client.get(f"/v1/projects/{other}").status == 403
        assert client.put(f"/v1/projects/{other}", json_body={"retention_days": 7}).status == 403


def test_a_project_of_the_same_name_in_another_tenant_is_another(world: World) -> None:
    world.client(tenant="acme-corp").put(BLUE, json_body={"retention_days": 7})
    assert world.client().get(BLUE).json["updated_at"] is None


def test_a_projects_limit_holds_at_once_and_says_when_to_come_back(world: World) -> None:
    admin, client = world.client(), world.client(Role.MEMBER, project="blue")
    assert client.get(BLUE).status == 200
    admin.put(BLUE, json_body={"rate_limit_per_minute": 2})
    assert [client.get(BLUE).status for _ in range(3)] == [200, 200, 429]
    refused = client.get(BLUE)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.json["error"]["type"] == "rate_limit_error"
    assert admin.get(BLUE).status == 200, "the admin's own request is of the project default"
    world.clock.move(seconds=int(refused.headers["retry-after"]))
    assert client.get(BLUE).status == 200
