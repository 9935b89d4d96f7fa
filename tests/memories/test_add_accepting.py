"""What an accepted Add leaves behind: once, in order, and never half."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.transactions import Conflicts
from shared.aws.writes import Update
from shared.kernel.clock import DAY_MS
from shared.memories.records import UserAddress
from shared.tenancy import background
from tests.emulator.faults import Fault, Killed, faults, kill_at, recorded
from tests.memories.front import ADD, SCOPE, body, front_world, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.emulator.faults import Call, Calls
    from tests.memories.front import AddClient, Front

BATCH, TRANSACT, PUT_ITEM, GET, UPDATE = (
    f"dynamodb.{name}" for name in ("BatchGetItem", "TransactWriteItems", "PutItem", "GetItem", "UpdateItem")
)
PUT_OBJECT, SEND = "s3.PutObject", "sqs.SendMessage"


@pytest.fixture
def front() -> Iterator[Front]:
    with front_world() as made:
        yield made


@pytest.fixture
def client(front: Front) -> AddClient:
    made = front.client()
    warm(front, made)
    return made


def warm(front: Front, client: AddClient) -> None:
    """Have the key known and the usage written, which are beside what is counted."""
    client.get(f"{ADD}/status/x")
    background.finish()
    front.messages()


def asked(front: Front, call: Any) -> Calls:
    del front
    with recorded(pause=0.05) as calls:
        assert call().status in (200, 202)
    return calls


def nothing_is_left(front: Front) -> bool:
    return not front.tasks() and not front.cloud.object_keys() and not front.messages()


def test_an_add_is_payload_then_task_then_message(front: Front, client: AddClient) -> None:
    calls = asked(front, client.add)
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, PUT_OBJECT, PUT_ITEM, SEND]), 3)


def test_an_idempotent_add_with_a_quota_takes_no_further_round(front: Front) -> None:
    client = front.client(quotas={"memory_write": 10})
    warm(front, client)
    calls = asked(front, lambda: client.add(metadata={"idempotency_key": "k"}))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, PUT_OBJECT, UPDATE, TRANSACT, SEND]), 3)


def test_a_status_is_one_read(front: Front, client: AddClient) -> None:
    task = client.accepted()
    assert asked(front, lambda: client.status(task)).names == [GET]


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


# ---- Idempotency


def key(name: str = "k") -> dict[str, Any]:
    return {"metadata": {"idempotency_key": name}}


def test_a_repeated_request_is_answered_with_the_same_task(front: Front, client: AddClient) -> None:
    first = client.add(**key())
    again = [client.add(**key()) for _ in range(3)]
    by_header = client.add(**key(), headers={"Idempotency-Key": "k"})
    assert {a.json["data"]["task_id"] for a in (*again, by_header)} == {first.json["data"]["task_id"]}
    assert front.tasks() == [first.json["data"]["task_id"]]
    assert len(front.cloud.object_keys()) == 1
    assert len(front.messages()) == 1


def test_a_repetition_may_wait_or_come_with_another_key_of_the_project(front: Front, client: AddClient) -> None:
    task = client.accepted(**key())
    front.end(task, memory={"total": 0}, events=[])
    answer = front.client().add(**key(), wait=1)
    assert (answer.status, answer.json["data"]["task_id"]) == (200, task)


def test_another_request_under_the_same_key_is_a_conflict(front: Front, client: AddClient) -> None:
    task = client.accepted(**key())
    answer = client.add(message("something else"), **key())
    assert (answer.status, answer.json["error"]["code"]) == (409, "idempotency_conflict")
    assert front.tasks() == [task]
    assert len(front.cloud.object_keys()) == 1


def test_a_key_belongs_to_its_project_and_user(front: Front, client: AddClient) -> None:
    tasks = {
        client.accepted(**key()),
        client.accepted(user_id="bob", **key()),
        front.client(project="other").accepted(**key()),
        front.client(tenant="other").accepted(**key()),
        client.accepted(**key("other")),
    }
    assert len(tasks) == 5


def test_a_key_is_forgotten_after_a_day(front: Front, client: AddClient) -> None:
    task = client.accepted(**key())
    front.clock.move(ms=DAY_MS - 60_000)
    assert client.accepted(**key()) == task
    front.clock.move(ms=120_000)
    assert client.add(message("something else"), **key()).status == 202
    assert len(front.tasks()) == 2


def test_what_was_forgotten_since_is_added_anew_by_the_same_request(front: Front, client: AddClient) -> None:
    task = client.accepted(**key())
    ann = UserAddress(SCOPE, "ann")
    front.table.write(Update(ann.generation_key, add={ann.generation_name: 1}))
    anew = client.accepted(**key())
    assert anew != task
    assert client.accepted(**key()) == anew


def test_two_different_keys_in_one_request_are_refused(client: AddClient) -> None:
    answer = client.add(**key("a"), headers={"Idempotency-Key": "b"})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "metadata")
    assert client.add(headers={"Idempotency-Key": "x" * 256}).status == 422


def test_a_repetition_has_a_task_sent_again_that_nobody_began(front: Front, client: AddClient) -> None:
    task = client.accepted(**key())
    with recorded() as calls:
        assert client.accepted(**key()) == task
    assert SEND in calls.names
    front.end(task)
    with recorded() as calls:
        client.accepted(**key())
    assert SEND not in calls.names


def test_of_many_equal_requests_at_once_one_is_done() -> None:
    with front_world(conflicts=Conflicts()) as front:
        secret = front.key(quotas={"memory_write": 100})
        clients = [front.client() for _ in range(8)]
        for client in clients:
            client.key = secret
        with ThreadPoolExecutor(len(clients)) as pool:
            answers = list(pool.map(lambda c: c.add(**key()), clients))
        assert {a.status for a in answers} == {202}
        assert len({a.json["data"]["task_id"] for a in answers}) == 1
        assert front.tasks() == [answers[0].json["data"]["task_id"]]
        assert len(front.cloud.object_keys()) == 1
        assert len(front.messages()) == 1
        assert clients[0].add(**key()).json["data"]["balances"][0]["reserved"] == 1


# ---- Quotas


def test_balances_are_told_of_a_key_with_a_quota(front: Front) -> None:
    client = front.client(quotas={"memory_write": 3})
    assert client.add().json["data"]["balances"] == [
        {
            "product_code": "memory_api",
            "feature_code": "memory_write",
            "spec_key": "calls",
            "quota_unit": "times",
            "quota_limit": 3,
            "reserved": 1,
            "consumed": 0,
            "remaining": 2,
        }
    ]


def test_beyond_the_quota_adds_are_answered_429_and_leave_nothing(front: Front) -> None:
    client = front.client(quotas={"memory_write": 1})
    task = client.accepted()
    refused = client.add()
    assert (refused.status, refused.json["error"]["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) > 0
    assert front.tasks() == [task]
    assert len(front.cloud.object_keys()) == 1


def test_a_repetition_takes_no_call_and_is_answered_when_none_is_left(front: Front) -> None:
    client = front.client(quotas={"memory_write": 1})
    task = client.accepted(**key())
    again = client.add(**key())
    assert (again.status, again.json["data"]["task_id"]) == (202, task)
    assert again.json["data"]["balances"][0]["remaining"] == 0
    assert client.add(message("else"), **key()).status == 409


def test_what_is_refused_takes_no_call(front: Front) -> None:
    client = front.client(quotas={"memory_write": 1})
    client.refused(user_id=5)
    client.accepted()


def test_the_quota_is_exact_under_concurrency() -> None:
    with front_world(conflicts=Conflicts()) as front:
        secret = front.key(quotas={"memory_write": 5})
        clients = [front.client() for _ in range(12)]
        for client in clients:
            client.key = secret
        with ThreadPoolExecutor(len(clients)) as pool:
            answers = list(pool.map(lambda c: c.add(), clients))
        assert sorted(a.status for a in answers) == [202] * 5 + [429] * 7
        assert len(front.tasks()) == len(front.messages()) == len(front.cloud.object_keys()) == 5


# ---- Waiting


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


# ---- Faults


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.THROTTLED, Fault.CONNECT_TIMEOUT])
@pytest.mark.parametrize("operation", ["PutObject", "BatchGetItem", "TransactWriteItems", "SendMessage"])
def test_a_service_that_is_down_is_answered_503_and_nothing_is_kept(fault: Fault, operation: str) -> None:
    with front_world() as front:
        client = front.client(quotas={"memory_write": 1})
        warm(front, client)
        # Of transactions the first alone, with its repetitions: the second one takes the task back.
        left = iter(range(3 if operation == "TransactWriteItems" else 100))
        with faults(lambda call: fault if call.operation == operation and next(left, None) is not None else None):
            answer = client.add(**key())
        assert (answer.status, answer.json["error"]["code"]) == (503, "unavailable")
        assert answer.headers["retry-after"]
        assert nothing_is_left(front)
        assert client.add(**key()).status == 202, "the call was not given back"


def test_an_answer_that_was_lost_after_the_commit_is_found_to_be_ours(front: Front, client: AddClient) -> None:
    lost = iter([Fault.APPLIED_TIMEOUT])
    with faults(lambda call: next(lost, None) if call.operation == "TransactWriteItems" else None):
        answer = client.add(**key())
    assert answer.status == 202
    assert front.tasks() == [answer.json["data"]["task_id"]]


def test_a_message_whose_answer_was_lost_is_sent_once(front: Front, client: AddClient) -> None:
    lost = iter([Fault.APPLIED_TIMEOUT])
    with faults(lambda call: next(lost, None) if call.operation == "SendMessage" else None):
        task = client.accepted()
    assert [sent["task"] for sent in front.messages()] == [task]


def test_a_task_that_could_be_neither_sent_nor_taken_back_answers_its_repetition(
    front: Front, client: AddClient
) -> None:
    def down(call: Call) -> Fault | None:
        late = call.operation == "TransactWriteItems" and front.tasks()
        return Fault.SERVER_ERROR if call.operation == "SendMessage" or late else None

    with faults(down):
        assert client.add(**key()).status == 503
    (task,) = front.tasks()
    assert client.accepted(**key()) == task
    assert [sent["task"] for sent in front.messages()] == [task]


@pytest.mark.parametrize("applied", [False, True])
def test_a_function_that_dies_at_any_call_leaves_what_a_repetition_completes(*, applied: bool) -> None:
    for number in range(1, 7):
        with front_world() as front:
            client = front.client(quotas={"memory_write": 2})
            warm(front, client)
            with kill_at(number, applied=applied) as calls, suppress(Killed):
                client.add(**key())
            assert calls.total <= 6
            background.finish()
            task = client.accepted(**key())
            assert front.tasks() == [task], (number, calls.names)
            assert [sent["task"] for sent in front.messages()] == [task], (number, calls.names)
            assert front.payload(task)["user_id"] == "ann"


def test_the_body_decides_whether_a_request_is_the_same_and_not_how_it_is_written(front: Front) -> None:
    client = front.client()
    first = client.post(ADD, json_body=body(**key()))
    turned = dict(reversed(body(**key()).items()))
    assert client.post(ADD, json_body=turned).json["data"]["task_id"] == first.json["data"]["task_id"]
