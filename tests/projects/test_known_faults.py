"""Faults that users of memory services have really met, and what is right here instead.

Lost updates, double creations and crossing deletes of many at once are raced in `test_races`; what a crash or a failing
dependency may leave is in `test_crashes` and `test_faults`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.scope import Role
from tests.clients.events import Client
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from tests.projects.world import World

TASKS, TASK, DIGEST = f"{ROOT}/tasks", f"{ROOT}/tasks/t1", f"{ROOT}/project.md"
ROUTES = [
    ("GET", DIGEST),
    ("GET", TASKS),
    ("GET", TASK),
    ("DELETE", TASK),
    ("GET", turn_path()),
    ("PUT", turn_path()),
    ("PATCH", turn_path()),
    ("GET", artifact_path()),
    ("HEAD", artifact_path()),
    ("PUT", artifact_path()),
    ("POST", f"{artifact_path()}/upload"),
    ("POST", f"{artifact_path()}/complete"),
]
BODY = {"Content-Type": "application/json"}


def _send(client: Client, method: str, path: str, **how: Any) -> Any:
    body = b"{}" if method in {"PUT", "PATCH", "POST"} else b""
    return client.send(method, path, body=body, headers=BODY, **how)


# ---- tenants, projects, names


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_answers_without_a_key_whatever_it_names(world: World, method: str, path: str) -> None:
    world.client().put(turn_path(), json_body={})
    assert _send(Client(world.handler()), method, path).status == 401


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("role", [Role.MEMBER, Role.TENANT_ADMIN, Role.OPERATOR])
def test_no_route_shows_or_changes_what_another_tenant_has(world: World, role: Role, method: str, path: str) -> None:
    mine = world.client(tenant="acme")
    mine.put(turn_path(), json_body={"summary_md": "secret"})
    mine.put(artifact_path(), body=b"secret")
    before = mine.get(TASK).json
    stranger = world.client(tenant=None if role is Role.OPERATOR else "acme-corp", role=role)
    answer = _send(stranger, method, path)
    assert answer.status < 500
    assert b"secret" not in answer.content
    assert b"acme" not in answer.content.replace(b"acme-corp", b"")
    assert mine.get(TASK).json == before


@pytest.mark.parametrize("tenants", [("acme", "acme-corp"), ("a", "a.b"), ("a-b", "a"), ("a_b", "a")])
def test_a_tenant_or_project_whose_name_begins_like_anothers_sees_only_its_own(
    world: World, tenants: tuple[str, str]
) -> None:
    for ours, theirs in (tenants, tenants[::-1]):
        one, other = world.client(tenant=ours, project=theirs), world.client(tenant=theirs, project=ours)
        one.put(turn_path(ours), json_body={"summary_md": "of one"})
        assert other.get(TASKS).json["total"] == 0
        assert b"of one" not in other.get(DIGEST).content
        one.delete(f"{TASKS}/{ours}")


def test_tasks_turns_and_artifacts_whose_names_begin_alike_are_apart(client: Client, world: World) -> None:
    for task in ("t", "t1", "t.1", "t-1", "t_1", "T"):
        for turn in (1, 10, 100, 1000):
            for name in ("a", "a.b", "a-b", "1", "1000"):
                client.put(artifact_path(task, turn, name), body=f"{task} {turn} {name}".encode())
    assert client.delete(f"{TASKS}/t").status == 204
    world.sweep()
    assert client.get(TASKS).json["total"] == 5
    assert client.get(artifact_path("t1", 1, "a")).content == b"t1 1 a"
    assert client.get(artifact_path("t.1", 100, "1000")).content == b"t.1 100 1000"
    assert [a["name"] for a in client.get(turn_path("t1", 10)).json["artifacts"]] == ["1", "1000", "a", "a-b", "a.b"]


@pytest.mark.parametrize(
    "name",
    ["%", "*", "a&run=b", "a=b", "a:b", "a,b", "a#b", "a|b", "a/b", "' OR 1=1 --", '"}', "..", "a b", "a\tb", "é", ""],
)
def test_a_name_is_never_a_pattern_a_path_or_two_names(world: World, name: str) -> None:
    admin = world.client(role=Role.TENANT_ADMIN)
    admin.put(turn_path(), json_body={"summary_md": "secret"}, headers={"X-Sandbox-Project-Id": "a"})
    refused = admin.get(TASKS, headers={"X-Sandbox-Project-Id": name})
    assert refused.status in {403, 422}
    assert b"secret" not in refused.content


@pytest.mark.parametrize(
    "raw", ["%25", "*", "a%26run%3Db", "a%23b", "a%7Cb", "a%2Fb", "%27%20OR%201%3D1", "%00", "a%0Ab", "%ff"]
)
def test_an_odd_task_id_is_422_on_every_route_and_makes_nothing(client: Client, raw: str) -> None:
    for method, path in ROUTES[2:]:
        answer = _send(client, method, path.replace("t1", raw))
        assert answer.status == 422, (method, path)
    assert client.get(TASKS).json["total"] == 0


@pytest.mark.parametrize("cursor", ["' OR 1=1 --", "*", '"}', "%", "0", "[]", "a,b", "😀", "A" * 5000, "bnVsbA"])
def test_an_odd_cursor_is_422_never_500(client: Client, cursor: str) -> None:
    client.put(turn_path(), json_body={})
    for path in (TASKS, TASK):
        assert client.get(path, query={"cursor": cursor}).status == 422


def test_who_wrote_it_is_kept_as_sent(client: Client) -> None:
    meta = {"agent_id": "agent-7", "actor_id": "someone", "user_id": 7, "tenant": "other"}
    assert client.put(turn_path(), json_body={"meta": meta}).json["meta"] == meta
    assert client.get(turn_path()).json["meta"] == meta


def test_writes_of_many_tenants_at_once_do_not_cross(world: World) -> None:
    clients = {f"tenant{n}": world.client(tenant=f"tenant{n}") for n in range(8)}

    def write(pair: tuple[str, Client]) -> None:
        name, client = pair
        for turn in range(4):
            client.put(turn_path(turn=turn), json_body={"summary_md": name})
            client.put(artifact_path(turn=turn), body=name.encode())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, clients.items()))
    for name, client in clients.items():
        turns = client.get(TASK).json["turns"]
        assert {turn["summary_md"] for turn in turns} == {name}
        assert {client.get(artifact_path(turn=turn)).content for turn in range(4)} == {name.encode()}


# ---- repeats, growth, nothing made by looking


def test_what_is_sent_twice_is_there_once(client: Client) -> None:
    for _ in range(3):
        client.put(turn_path(), json_body={"summary_md": "s", "meta": {"model": "m"}})
        client.put(artifact_path(), body=b"x")
    assert client.get(TASKS).json["tasks"][0]["turn_count"] == 1
    (turn,) = client.get(TASK).json["turns"]
    assert (turn["summary_md"], turn["meta"], len(turn["artifacts"])) == ("s", {"model": "m"}, 1)


def test_a_text_that_only_grows_never_loses_what_was_there(client: Client) -> None:
    client.put(turn_path(), json_body={})
    text, facts = "", 0
    for slice_ in range(9):
        text += "".join(f"fact {facts + n}\n" for n in range(10 ** (slice_ // 2)))
        facts = text.count("\n")
        assert (
            client.patch(turn_path(), json_body={"summary_md": text, "meta": {f"k{slice_}": "v" * 28_000}}).status
            == 200
        )
        read = client.get(turn_path()).json
        assert read["summary_md"].count("\n") == facts
        assert len(read["meta"]) == slice_ + 1
    assert len(text) > 100_000


def test_a_turn_far_above_what_an_item_may_hold_reads_whole(client: Client) -> None:
    summary, meta = "é" * (512 << 10), {"x": "y" * (250 << 10)}
    assert client.put(turn_path(), json_body={"summary_md": summary, "meta": meta}).status == 200
    read = client.get(turn_path()).json
    assert (read["summary_md"], read["meta"]) == (summary, meta)


@pytest.mark.parametrize(
    "lengths", [(32 << 10, 32 << 10), ((32 << 10) - 9, 32 << 10), ((32 << 10) + 1, 0), (0, (32 << 10) + 1)]
)
def test_texts_around_the_size_that_stays_in_the_table_read_whole(client: Client, lengths: tuple[int, int]) -> None:
    meta, summary = {"x": "m" * lengths[0]}, "s" * lengths[1]
    client.put(turn_path(), json_body={"meta": meta, "summary_md": summary})
    read = client.get(turn_path()).json
    assert (read["meta"], read["summary_md"]) == (meta, summary)


@pytest.mark.parametrize(
    ("method", "path"), [route for route in ROUTES if route[0] in {"GET", "HEAD", "PATCH", "DELETE"}]
)
def test_looking_for_what_is_missing_makes_nothing(client: Client, world: World, method: str, path: str) -> None:
    client.get(TASKS)
    before = world.leftovers()
    answer = _send(client, method, path)
    assert answer.status == (200 if path in {DIGEST, TASKS} else 404)
    assert world.leftovers() == before == ([], [])
    assert client.get(TASKS).json["total"] == 0


@pytest.mark.parametrize(
    "upload_id",
    ["abc", "upload_01ARZ3NDEKTSV4RRFFQ69G5FAV", "../x", "upload_\x00", "", "a" * 3_000, "upload_" + "é" * 600],
)
def test_completing_an_unknown_upload_is_404(client: Client, upload_id: str) -> None:
    assert client.post(f"{artifact_path()}/complete", json_body={"upload_id": upload_id}).status == 404


@pytest.mark.parametrize("upload_id", [7, None, {}, ["a"], True, 1.5])
def test_an_upload_id_of_another_type_is_422(client: Client, upload_id: Any) -> None:
    assert client.post(f"{artifact_path()}/complete", json_body={"upload_id": upload_id}).status == 422


@pytest.mark.parametrize(
    "turn", ["abc", "1e3", "0x1", "-1", "10000", "1.0", "%20", "\uff11", "00000000000000000000000001"]
)
def test_a_turn_that_is_no_number_in_range_is_422(client: Client, turn: str) -> None:
    assert client.get(turn_path(turn=turn)).status == 422


@pytest.mark.parametrize("limit", ["0", "-1", "-0", "201", "1000000000000000000000", "true", "null", "%00", "1;2"])
@pytest.mark.parametrize("path", [TASKS, TASK])
def test_a_limit_that_makes_no_page_is_422(client: Client, path: str, limit: str) -> None:
    client.put(turn_path(), json_body={})
    assert client.get(path, query=f"limit={limit}").status == 422


@pytest.mark.parametrize("body", [b"null", b"{}", b"[]", b"\xff\xfe", b"x" * 10_000])
def test_a_delete_with_any_body_deletes(client: Client, body: bytes) -> None:
    client.put(turn_path(), json_body={})
    assert client.delete(TASK, body=body, headers=BODY).status == 204
    assert client.get(TASKS).json["total"] == 0


def test_what_is_deleted_is_in_no_list_count_digest_or_304(client: Client) -> None:
    client.put(turn_path("kept"), json_body={"summary_md": "stays"})
    client.put(turn_path(), json_body={"summary_md": "goes"})
    seen = client.get(DIGEST)
    assert client.delete(TASK).status == 204
    listed = client.get(TASKS).json
    assert (listed["total"], [t["task_id"] for t in listed["tasks"]]) == (1, ["kept"])
    again = client.get(DIGEST, headers={"If-None-Match": seen.etag})
    assert again.status == 200
    assert b"goes" not in again.content
    assert b"stays" in again.content


def test_reads_right_after_a_write_do_not_wait_for_an_index_that_lags(client: Client, world: World) -> None:
    with world.cloud.emulator.stale_global_indexes(world.cloud.table_name):
        client.put(turn_path(), json_body={"summary_md": "at once"})
        client.put(artifact_path(), body=b"at once")
        assert client.get(turn_path()).json["summary_md"] == "at once"
        assert client.get(artifact_path()).content == b"at once"
        assert client.get(TASKS).json["total"] == 1
        assert len(client.get(TASK).json["turns"]) == 1
        assert b"at once" in client.get(DIGEST).content
        client.delete(TASK)
        assert client.get(TASKS).json == {"tasks": [], "total": 0, "next_cursor": None}
        assert client.get(turn_path()).status == 404
