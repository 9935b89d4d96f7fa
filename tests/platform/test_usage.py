from __future__ import annotations

import pytest

from shared.kernel.cursor import encode
from shared.kernel.scope import Role, Scope
from tests.clients.events import Client
from tests.platform.world import World, made

USAGE = "/v1/usage"


def noted(world: World, **projects: int) -> None:
    """Store one artifact of so many bytes in each project of `acme`, and let it be written."""
    for project, size in projects.items():
        world.tenancy.meter.note(Scope("acme", project), "projects", artifacts=1, bytes=size)
    world.tenancy.meter.flush()


def test_usage_tells_what_is_stored_and_asked_by_project_and_surface(world: World) -> None:
    client = world.client()
    for _ in range(3):
        client.get("/v1/projects/default")
    noted(world, default=100, blue=20)
    noted(world, default=-40)
    answer = client.get(USAGE).json
    assert answer == {
        "type": "usage",
        "tenant_id": "acme",
        "month": "2026-11",
        "data": [
            {"project_id": "blue", "stored": {"projects": {"artifacts": 1, "bytes": 20}}, "requests": {}, "quotas": []},
            {
                "project_id": "default",
                "stored": {"projects": {"artifacts": 2, "bytes": 60}},
                "requests": {"platform": 3},
                "quotas": [],
            },
        ],
        "quotas": [],
        "next_page": None,
    }


def test_requests_start_anew_each_month_and_what_is_stored_does_not(world: World) -> None:
    client = world.client()
    client.get("/v1/projects/default")
    noted(world, default=5)
    world.clock.move(seconds=31 * 86_400)
    answer = client.get(USAGE).json
    assert answer["month"] == "2026-12"
    assert answer["data"][0]["stored"]["projects"]["bytes"] == 5
    assert answer["data"][0]["requests"] == {}


@pytest.mark.parametrize("role", [Role.MEMBER, Role.PROJECT_ADMIN])
def test_members_and_project_admins_see_their_project(world: World, role: Role) -> None:
    noted(world, default=1, blue=2, red=3)
    bound = world.client(role, project="blue")
    assert [(p["project_id"], p["stored"]["projects"]["bytes"]) for p in bound.get(USAGE).json["data"]] == [("blue", 2)]
    unbound = world.client(role)
    assert [p["project_id"] for p in unbound.get(USAGE).json["data"]] == ["default"]
    named = unbound.get(USAGE, headers={"X-Sandbox-Project-Id": "red"}).json["data"]
    assert [p["project_id"] for p in named] == ["red"]


def test_a_project_without_usage_is_shown_empty(world: World) -> None:
    answer = world.client(Role.MEMBER, project="blue").get(USAGE).json["data"]
    assert answer == [{"project_id": "blue", "stored": {}, "requests": {}, "quotas": []}]


def test_usage_is_walked_page_by_page(world: World) -> None:
    names = ["a", "a-b", "a.b", "a0", "ab", "b", "Z"]
    noted(world, **dict.fromkeys(names, 1))
    client = world.client()
    walked: list[str] = []
    page: str | None = ""
    while page is not None:
        answer = client.get(USAGE, query={"limit": 2} | ({"page": page} if page else {})).json
        walked += [p["project_id"] for p in answer["data"]]
        page = answer["next_page"]
    assert walked == sorted(names)


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=101", "limit=x", "page=x"])
def test_a_broken_parameter_is_400(world: World, query: str) -> None:
    assert world.client().get(USAGE, query=query).status == 400


def test_a_forged_cursor_opens_nothing(world: World) -> None:
    client = world.client()
    for position in ("", "#", "é", 5, None, "a" * 65, "\ud800"):
        assert client.get(USAGE, query={"page": encode(position, "usage", "acme")}).status == 400
    assert client.get(USAGE, query={"page": encode("zzz", "usage", "acme")}).json["data"] == []


def test_no_other_tenants_usage_is_seen(world: World) -> None:
    for tenant in ("acme-corp", "acm", "acme.x"):
        world.tenancy.meter.note(Scope(tenant, "default"), "projects", bytes=7)
    world.tenancy.meter.flush()
    assert world.client().get(USAGE).json["data"] == []
    assert world.client(Role.MEMBER).get(USAGE).json["data"][0]["stored"] == {}


def test_quotas_are_shown_where_their_keys_are_bound(world: World) -> None:
    admin = world.client()
    ids = {}
    for project in ("blue", None):
        key = made(admin, project_id=project, quotas={"memory_write": 3, "memory_search": 9}).json
        ids[project] = key["id"]
        record = world.tenancy.keys.authenticated(key["key"])
        assert record is not None
        for _ in range(2):
            assert world.tenancy.quotas.reserve(record, "memory_write")
    noted(world, blue=1)
    answer = admin.get(USAGE).json
    shown = {"quota": "memory_write", "limit": 3, "used": 0, "reserved": 2}
    assert answer["quotas"] == [{"api_key_id": ids[None], **shown}]
    assert answer["data"][0]["quotas"] == [{"api_key_id": ids["blue"], **shown}]


def test_an_unbound_member_sees_its_own_quotas_and_no_one_elses(world: World) -> None:
    admin = world.client()
    keys = [made(admin, quotas={"memory_search": 9}).json for _ in range(2)]
    answer = Client(world.anyone().handler, keys[0]["key"]).get(USAGE).json
    assert answer["quotas"] == [
        {"api_key_id": keys[0]["id"], "quota": "memory_search", "limit": 9, "used": 0, "reserved": 0}
    ]
