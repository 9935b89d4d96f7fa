"""What goes wrong between an Add and AWS: nothing is told that is not kept, and nothing is kept that was not told."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shared.aws.writes import Delete
from shared.kernel.scope import Scope
from shared.memories.records import UserAddress, task_key
from shared.tenancy import background
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.emulator.twins import late_puts
from tests.memories.front import front_world, key, nothing_is_left, warm

if TYPE_CHECKING:
    from tests.emulator.faults import Call
    from tests.memories.front import AddClient, Front


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


def test_what_a_repetition_was_answered_is_kept_though_the_first_request_gives_up(
    front: Front, client: AddClient
) -> None:
    told: list[str] = []
    begun: list[Call] = []
    other = replace(client, handler=front.client().handler)

    def down(call: Call) -> Fault | None:
        """Let the repetition come when the first request is about to send, and send; the first one never can."""
        if call.operation != "SendMessage" or len(begun) == 1 != len(told):
            return None
        begun.append(call)
        if not told:
            told.append(other.accepted(**key()))
        return Fault.SERVER_ERROR

    with faults(down):
        assert client.add(**key()).status == 503
    assert front.tasks() == told
    assert [sent["task"] for sent in front.messages()] == told


def test_a_repetition_that_comes_as_the_first_request_is_taken_back_is_told_to_try_again(
    front: Front, client: AddClient
) -> None:
    told: list[int] = []

    def late(call: Call) -> Fault | None:
        if call.operation == "GetItem" and not told and front.tasks():
            told.append(0)
            (task,) = front.tasks()
            front.table.write(Delete(task_key(Scope("acme", "default"), task)))
        return None

    client.accepted(**key())
    with faults(late):
        assert client.add(**key()).status == 503


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


def test_a_task_that_arrives_once_more_is_not_begun_anew(front: Front, client: AddClient) -> None:
    with late_puts(front.cloud.aws) as arrive:
        task = client.accepted()
    front.end(task, memory={"total": 0}, events=[])
    before = front.task(task)
    assert arrive() == 1
    assert front.task(task) == before


@pytest.mark.parametrize("operation", ["GetItem", "BatchGetItem"])
def test_what_is_accepted_and_can_not_be_waited_for_is_202_so_that_nobody_adds_it_again(
    front: Front, client: AddClient, operation: str
) -> None:
    task = client.accepted(**key())
    memory = UserAddress(Scope("acme", "default"), "ann").memory_id(task, "raw", 0)
    front.end(task, events=[{"id": memory, "event": "ADD"}])
    seen: list[str] = []

    def down(call: Call) -> Fault | None:
        seen.append(call.operation)
        is_look_of_accept = call.operation == "BatchGetItem" and seen.count("BatchGetItem") == 1
        return Fault.SERVER_ERROR if call.operation == operation and not is_look_of_accept else None

    if operation == "GetItem":  # what is accepted anew is read for the first time when it is waited for
        with faults(down):
            answer = client.add(wait=1)
    else:
        with faults(down):
            answer = client.add(**key(), wait=1)
    assert (answer.status, answer.json["data"]["status"]) == (202, "accepted")
