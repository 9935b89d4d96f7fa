from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.cursor import encode
from shared.kernel.scope import Role, Scope
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import Client
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from tests.projects.world import World

TASKS = f"{ROOT}/tasks"


def _walk(client: Client, **query: int) -> list[str]:
    """Return the ids of all pages."""
    seen, cursor = [], None
    while True:
        page = client.get(TASKS, query={**query, **({"cursor": cursor} if cursor else {})}).json
        seen += [t["task_id"] for t in page["tasks"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return seen


def test_an_empty_project_lists_nothing(client: Client) -> None:
    assert client.get(TASKS).json == {"tasks": [], "total": 0, "next_cursor": None}


def test_tasks_come_newest_first_with_exact_counts(client: Client) -> None:
    for task, turn in (("a", 5), ("b", 0), ("a", 3), ("a", 5)):
        client.put(turn_path(task=task, turn=turn), json_body={})
    listed = client.get(TASKS).json
    assert [(t["task_id"], t["latest_turn"], t["turn_count"]) for t in listed["tasks"]] == [("a", 5, 2), ("b", 0, 1)]
    assert listed["total"] == 2
    assert set(listed["tasks"][0]) == {"task_id", "latest_turn", "turn_count", "updated_at", "retain_until"}


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
def test_pages_show_every_task_once(client: Client, limit: int) -> None:
    names = [f"t{n}" for n in range(7)]
    for name in names:
        client.put(turn_path(task=name), json_body={})
    assert _walk(client, limit=limit) == names[::-1]


def test_a_task_that_moves_to_the_front_is_not_repeated(client: Client) -> None:
    for n in range(4):
        client.put(turn_path(task=f"t{n}"), json_body={})
    first = client.get(TASKS, query={"limit": 2}).json
    client.put(turn_path(task="t3"), json_body={})
    rest = client.get(TASKS, query={"limit": 2, "cursor": first["next_cursor"]}).json
    assert [t["task_id"] for t in rest["tasks"]] == ["t1", "t0"]
    assert rest["total"] == 4


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "1.5", "", "1e1", "99999999999999999999"])
def test_a_limit_outside_of_its_range_is_422(client: Client, limit: str) -> None:
    refused = client.get(TASKS, query={"limit": limit})
    assert refused.status == 422
    assert refused.json["detail"][0]["loc"] == ["query", "limit"]


def test_cursors_of_other_lists_and_made_up_ones_are_422(world: World) -> None:
    admin = world.client(role=Role.TENANT_ADMIN)
    for n in range(3):
        admin.put(turn_path(task=f"t{n}"), json_body={})
        admin.put(turn_path(task="t0", turn=n), json_body={})
    cursor = admin.get(TASKS, query={"limit": 1}).json["next_cursor"]
    turns = admin.get(f"{TASKS}/t0", query={"limit": 1}).json["next_cursor"]
    elsewhere = {"X-Sandbox-Project-Id": "elsewhere"}
    for refused in (
        admin.get(TASKS, query={"cursor": cursor}, headers=elsewhere),
        admin.get(TASKS, query={"cursor": turns}),
        admin.get(TASKS, query={"cursor": cursor[:-2]}),
        admin.get(TASKS, query={"cursor": "made,up"}),
        admin.get(TASKS, query={"cursor": "é"}),
        admin.get(f"{TASKS}/t0", query={"cursor": cursor}),
    ):
        assert refused.status == 422
        assert refused.json["detail"][0]["loc"] == ["query", "cursor"]


@pytest.mark.parametrize("position", [None, True, 1.5, {}, "", "x", "\ud800", "0" * 1500, -1, 10_000, [[[[]]]]])
def test_forged_cursors_that_name_no_place_are_422(client: Client, position: Any) -> None:
    client.put(turn_path(), json_body={})
    binding = "acme", "default"
    listed = client.get(TASKS, query={"cursor": encode(position, "tasks", *binding)})
    turns = client.get(f"{TASKS}/t1", query={"cursor": encode(position, "turns", *binding, "t1")})
    assert (listed.status, turns.status) == (422, 422)


def test_the_task_object_has_its_turns_in_order_and_pages(client: Client) -> None:
    for turn in (9, 2, 5):
        client.put(turn_path(turn=turn), json_body={"meta": {"n": turn}, "summary_md": "x" * 2001})
        client.put(artifact_path(turn=turn), body=b"y")
    whole = client.get(f"{TASKS}/t1").json
    assert [t["turn"] for t in whole["turns"]] == [2, 5, 9]
    listed = {"task_id", "latest_turn", "turn_count", "updated_at", "retain_until"}
    assert set(whole) == {*listed, "owner", "created_at", "turns", "next_cursor"}
    assert whole["owner"].startswith("apikey_")
    turn = whole["turns"][0]
    assert turn["summary_md"] == "x" * 2000
    assert turn["summary_truncated"] is True
    assert [a["name"] for a in turn["artifacts"]] == ["log.txt"]
    first = client.get(f"{TASKS}/t1", query={"limit": 2}).json
    second = client.get(f"{TASKS}/t1", query={"limit": 2, "cursor": first["next_cursor"]}).json
    assert first["turns"] + second["turns"] == whole["turns"]
    assert second["next_cursor"] is None


def test_long_task_objects_are_cut_by_size_and_go_on(client: Client) -> None:
    meta = {"x": '"' * (120 << 10)}
    for turn in range(30):
        assert client.put(turn_path(turn=turn), json_body={"meta": meta}).status == 200
    seen, cursor = [], None
    while True:
        page = client.get(f"{TASKS}/t1", query={"cursor": cursor} if cursor else "")
        assert len(page.content) < 4_500_000
        seen += [t["turn"] for t in page.json["turns"]]
        cursor = page.json["next_cursor"]
        if cursor is None:
            break
    assert seen == list(range(30))


def test_an_owner_deletes_and_nothing_is_seen_any_more(client: Client) -> None:
    client.put(turn_path(), json_body={"summary_md": "secret"})
    client.put(artifact_path(), body=b"x")
    deleted = client.delete(f"{TASKS}/t1")
    assert (deleted.status, deleted.content) == (204, b"")
    assert client.get(TASKS).json["total"] == 0
    for path in (f"{TASKS}/t1", turn_path(), artifact_path()):
        assert client.get(path).status == 404
    assert b"secret" not in client.get(f"{ROOT}/project.md").content
    assert client.delete(f"{TASKS}/t1").status == 404


def test_a_task_written_again_after_its_delete_starts_new(client: Client) -> None:
    client.put(turn_path(turn=7), json_body={"summary_md": "old"})
    client.put(artifact_path(turn=7), body=b"old")
    client.delete(f"{TASKS}/t1")
    client.put(turn_path(turn=3), json_body={"summary_md": "new"})
    task = client.get(f"{TASKS}/t1").json
    assert (task["turn_count"], task["latest_turn"]) == (1, 3)
    assert [t["turn"] for t in task["turns"]] == [3]
    assert client.get(turn_path(turn=7)).status == 404
    again = client.put(turn_path(turn=7), json_body={}).json
    assert again["artifacts"] == []
    assert client.get(artifact_path(turn=7)).status == 404


def test_only_the_owner_or_an_admin_deletes(world: World) -> None:
    owner, other = world.client(project="p"), world.client(project="p")
    owner.put(turn_path(), json_body={})
    assert other.delete(f"{TASKS}/t1").status == 403
    assert other.get(f"{TASKS}/t1").status == 200
    assert world.client(project="p", role=Role.PROJECT_ADMIN).delete(f"{TASKS}/t1").status == 204


def test_a_key_of_the_same_principal_owns_what_the_first_one_wrote(world: World) -> None:
    first, second = (world.client(project="p", principal="agent-7") for _ in range(2))
    first.put(turn_path(), json_body={})
    assert first.get(f"{TASKS}/t1").json["owner"] == "agent-7"
    assert second.delete(f"{TASKS}/t1").status == 204


def test_times_are_rfc3339_and_retention_counts_from_the_last_write(client: Client, world: World) -> None:
    world.clock.now = 1_790_000_000_000
    turn = client.put(turn_path(), json_body={}).json
    assert turn["updated_at"].startswith("2026-09-21T")
    assert turn["updated_at"].endswith("Z")
    assert turn["retain_until"].startswith("2026-10-21T")
    world.clock.move(days=10)
    client.put(turn_path(turn=2), json_body={})
    assert client.get(turn_path()).json["retain_until"].startswith("2026-10-31T")


def test_a_task_past_its_time_is_hidden_at_once_and_starts_new(client: Client, world: World) -> None:
    client.put(turn_path(turn=9), json_body={"summary_md": "old"})
    client.put(turn_path(task="other"), json_body={})
    world.clock.move(days=20)
    client.put(turn_path(task="other"), json_body={})
    world.clock.move(days=11)
    listed = client.get(TASKS).json
    assert ([t["task_id"] for t in listed["tasks"]], listed["total"]) == (["other"], 1)
    assert client.get(turn_path(turn=9)).status == 404
    assert client.delete(f"{TASKS}/t1").status == 404
    client.put(turn_path(turn=2), json_body={})
    listed = client.get(TASKS).json
    assert ([t["turn_count"] for t in listed["tasks"]], listed["total"]) == ([1, 1], 2)
    assert client.get(turn_path(turn=9)).status == 404


def test_a_projects_retention_counts_from_the_next_write(client: Client, world: World) -> None:
    projects = tenancy(Environment.of(world.environ), world.cloud.aws, world.clock).projects
    projects.change(Scope("acme", "default"), {"retention_days": 7})
    turn = client.put(turn_path(), json_body={"summary_md": "s" * 40_000}).json
    assert turn["updated_at"] < turn["retain_until"]
    assert world.cloud.object_keys()[0].startswith("r7/")
    assert len(world.cloud.object_keys()) == 1
    world.clock.move(days=8)
    assert client.get(turn_path()).status == 404


def test_other_scopes_see_nothing(world: World) -> None:
    mine = world.client(tenant="acme", project="p")
    mine.put(turn_path(), json_body={})
    mine.put(artifact_path(), body=b"x")
    for stranger in (world.client(tenant="acme", project="p2"), world.client(tenant="acme-corp", project="p")):
        assert stranger.get(TASKS).json["total"] == 0
        for path in (f"{TASKS}/t1", turn_path(), artifact_path()):
            assert stranger.get(path).status == 404
        assert stranger.delete(f"{TASKS}/t1").status == 404


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("X-Sandbox-Project-Id", "p", 200),
        ("X-Sandbox-Project-Id", "q", 403),
        ("X-Sandbox-Tenant-Id", "acme", 200),
        ("X-Sandbox-Tenant-Id", "other", 403),
    ],
)
def test_a_header_must_agree_with_the_key(world: World, header: str, value: str, status: int) -> None:
    assert world.client(project="p").get(TASKS, headers={header: value}).status == status


def test_without_a_good_credential_it_is_401(world: World) -> None:
    for client in (Client(world.handler()), Client(world.handler(), "lsk_wrong")):
        refused = client.get(TASKS)
        assert refused.status == 401
        assert set(refused.json) == {"detail"}


def test_unknown_routes_are_404_and_other_verbs_405(client: Client) -> None:
    assert client.get(f"{ROOT}/nothing").status == 404
    refused = client.post(TASKS)
    assert refused.status == 405
    assert refused.headers["allow"] == "GET"
    assert client.send("OPTIONS", turn_path()).headers["allow"] == "GET, PATCH, PUT"


def test_correlation_ids_are_honoured_or_replaced(client: Client) -> None:
    assert client.get(TASKS, headers={"x-correlation-id": "run 42"}).headers["x-correlation-id"] == "run 42"
    for bad in ("", "x" * 129, "a\tb", "é"):
        made = client.get(TASKS, headers={"x-correlation-id": bad}).headers["x-correlation-id"]
        assert len(made) == 26
    assert client.get(f"{TASKS}/none").headers["request-id"].startswith("req_")
