"""Repeated requests, and the calls that a quota has: each counts once, under any concurrency."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from infra.local.transactions import Conflicts
from shared.aws.writes import Update
from shared.kernel.clock import DAY_MS
from shared.memories.records import UserAddress
from shared.memories.tasks import reservation_of
from shared.tenancy.quotas import Quotas
from tests.emulator.faults import recorded
from tests.memories.front import ADD, SCOPE, body, front_world, key, message

if TYPE_CHECKING:
    from tests.memories.front import AddClient, Front

SEND = "sqs.SendMessage"


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


def test_the_body_decides_whether_a_request_is_the_same_and_not_how_it_is_written(front: Front) -> None:
    client = front.client()
    first = client.post(ADD, json_body=body(**key()))
    turned = dict(reversed(body(**key()).items()))
    assert client.post(ADD, json_body=turned).json["data"]["task_id"] == first.json["data"]["task_id"]


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


def test_the_call_of_an_add_that_was_waited_for_is_consumed_and_no_longer_reserved(front: Front) -> None:
    client = front.client(quotas={"memory_write": 3})
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.add, wait=20)
        while not front.tasks():
            assert not waiting.done()
        task = front.task(front.tasks()[0])
        assert task is not None
        taken = reservation_of(task)
        assert taken is not None
        Quotas(front.table, front.clock).settle(taken)
        front.end(task["task"], memory={"total": 0}, events=[])
        answer = waiting.result()
    (balance,) = answer.json["data"]["balances"]
    assert (answer.status, answer.json["data"]["status"]) == (200, "completed")
    assert (balance["reserved"], balance["consumed"], balance["remaining"]) == (0, 1, 2)


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
