"""What an accepted Add leaves behind, in how many rounds, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.clock import DAY_MS
from tests.emulator.faults import recorded
from tests.memories.front import ADD, SCOPE, key, message, nothing_is_left, warm

if TYPE_CHECKING:
    from tests.emulator.faults import Calls
    from tests.memories.front import AddClient, Front

BATCH, TRANSACT, PUT_ITEM, GET, UPDATE = (
    f"dynamodb.{name}" for name in ("BatchGetItem", "TransactWriteItems", "PutItem", "GetItem", "UpdateItem")
)
PUT_OBJECT, SEND = "s3.PutObject", "sqs.SendMessage"


def asked(call: Any) -> Calls:
    with recorded() as calls:
        assert call().status in (200, 202)
    return calls


def test_an_add_is_payload_then_task_then_message(front: Front, client: AddClient) -> None:
    calls = asked(client.add)
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, PUT_OBJECT, PUT_ITEM, SEND]), 3)


def test_an_idempotent_add_with_a_quota_takes_no_further_round(front: Front) -> None:
    client = front.client(quotas={"memory_write": 10})
    warm(front, client)
    calls = asked(lambda: client.add(metadata={"idempotency_key": "k"}))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, PUT_OBJECT, UPDATE, TRANSACT, SEND]), 3)


def test_a_status_is_one_read(front: Front, client: AddClient) -> None:
    task = client.accepted()
    assert asked(lambda: client.status(task)).names == [GET]


def test_the_message_names_the_task_and_goes_into_its_users_group(front: Front, client: AddClient) -> None:
    first, second = client.accepted(), client.accepted()
    other = client.accepted(user_id="bob")
    sent = {found["task"]: found for found in front.messages()}
    assert set(sent) == {first, second, other}
    assert sent[first]["work"] == "add"
    assert (sent[first]["tenant"], sent[first]["project"]) == (SCOPE.tenant, SCOPE.project)
    assert sent[first]["MessageGroupId"] == sent[second]["MessageGroupId"] != sent[other]["MessageGroupId"]
    assert sent[first]["MessageDeduplicationId"] == first


def test_a_group_is_one_tenants_projects_and_users(front: Front) -> None:
    for tenant, project, user in (("a", "p", "u"), ("b", "p", "u"), ("a", "q", "u"), ("a", "p", "v")):
        front.client(tenant=tenant, project=project).accepted(user_id=user)
    assert len({found["MessageGroupId"] for found in front.messages()}) == 4


def test_the_message_carries_the_requests_correlation_and_no_text(front: Front, client: AddClient) -> None:
    client.add(message("secret words"), headers={"x-correlation-id": "mine"})
    (sent,) = front.messages()
    assert sent["correlation_id"] == "mine"
    assert "secret" not in str(sent)


def test_a_new_task_is_queued(client: AddClient) -> None:
    told = client.status(client.accepted()).json
    assert told["status"] == "processing"
    assert told["phase"] == "queued"
    assert (told["memory"], told["error"], told["attempts"], told["completed_at"]) == (None, None, 0, None)
    assert told["received_at"] == told["created_at"] == told["updated_at"]


def test_the_status_is_told_bare_and_without_any_text(front: Front, client: AddClient) -> None:
    task = client.accepted(message("secret words"))
    front.end(task, memory={"total": 2}, events=[{"id": "x", "event": "ADD", "memory": "secret"}])
    answer = client.status(task)
    assert answer.json["task_id"] == task
    assert (answer.json["status"], answer.json["phase"], answer.json["memory"]) == ("success", "done", {"total": 2})
    assert b"secret" not in answer.content
    assert client.status(task.upper()).status == 200


def test_a_failed_task_says_why(front: Front, client: AddClient) -> None:
    task = client.accepted()
    front.end(task, "failed", error={"code": "extraction_failed", "message": "The model's answer can't be read."})
    told = client.status(task).json
    assert (told["status"], told["error"]["code"]) == ("failed", "extraction_failed")


def test_a_task_is_told_of_for_a_day_after_its_end(front: Front, client: AddClient) -> None:
    task = client.accepted()
    front.clock.move(days=3)
    assert client.status(task).status == 200
    front.end(task, memory={"total": 0})
    front.clock.move(ms=DAY_MS - 10_000)
    assert client.status(task).status == 200
    front.clock.move(ms=20_000)
    assert client.status(task).status == 404


def test_unknown_and_foreign_tasks_are_alike(front: Front, client: AddClient) -> None:
    task = client.accepted()
    answers = [
        client.status("22222222-2222-4222-8222-222222222222"),
        client.status("abc"),
        client.status("a%2Fb"),
        front.client(tenant="other").status(task),
        front.client(project="other").status(task),
    ]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.json["error"]["message"] for answer in answers}) == 1
    assert answers[0].json["error"]["hint"]


def test_a_tenants_key_names_the_project(front: Front) -> None:
    client = front.client()
    task = client.accepted()
    assert client.get(f"{ADD}/status/{task}", headers={"X-Sandbox-Project-Id": "other"}).status == 404


def test_keys_need_the_permission(front: Front) -> None:
    reader, writer = front.client(permissions=("read",)), front.client(permissions=("write",))
    assert reader.add().status == 403
    task = writer.accepted()
    assert writer.status(task).status == 403
    assert reader.status(task).status == 200


def test_without_a_key_nothing_is_told(front: Front) -> None:
    client = front.client()
    client.key = None
    answer = client.add()
    assert (answer.status, answer.json["error"]["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json["meta"]["request_id"] == answer.headers["request-id"]


def test_without_search_every_route_says_what_to_deploy(front: Front) -> None:
    client = front.set(SEARCH_BACKEND="none").client()
    for answer in (client.add(), client.status("x"), client.post("/v1/memories/search", json_body={})):
        assert (answer.status, answer.json["error"]["code"]) == (503, "search_off")
        assert "SearchBackend" in answer.json["error"]["hint"]
        assert answer.headers["retry-after"] == "3600"
    assert nothing_is_left(front)


def test_unknown_paths_and_verbs_are_told_in_the_surfaces_form(client: AddClient) -> None:
    wrong = client.put(f"{ADD}/status/x")
    assert (wrong.status, wrong.headers["allow"], wrong.json["error"]["code"]) == (405, "GET", "method_not_allowed")
    assert client.put(ADD).status == 405
    assert client.get("/v1/memories/a/b/c").json["error"]["code"] == "not_found"


@pytest.mark.parametrize("verb", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", [ADD, "/v1/memories/search"])
def test_add_and_search_are_no_ids_of_memories(client: AddClient, verb: str, path: str) -> None:
    wrong = client.send(verb, path)
    assert (wrong.status, wrong.headers["allow"], wrong.json["error"]["code"]) == (405, "POST", "method_not_allowed")


def test_a_caller_who_waits_gets_the_events_of_what_is_done(front: Front, client: AddClient) -> None:
    task = client.accepted(**key())
    front.end(task, memory={"total": 1}, events=[{"id": "55555555-5555-8555-8555-555555555555", "event": "ADD"}])
    answer = client.add(**key(), wait=20)
    assert answer.status == 200
    assert answer.json["data"] == {
        "task_id": task,
        "status": "completed",
        "data": [{"id": "55555555-5555-8555-8555-555555555555", "event": "ADD", "data": {"memory": ""}}],
        "balances": [],
    }


def test_a_caller_who_waits_for_what_is_not_done_in_time_or_fails_gets_the_ordinary_answer(
    front: Front, client: AddClient
) -> None:
    answer = client.add(**key(), wait=1)
    assert (answer.status, answer.json["data"]["status"]) == (202, "accepted")
    front.end(answer.json["data"]["task_id"], "failed", error={"code": "x", "message": "y"})
    assert client.add(**key(), wait=20).status == 202
