"""Dead letters of memories' work: seen, taken back, and their tasks begun again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from functions.memories import redrive
from shared.aws.queue import Queue
from shared.aws.writes import Update
from shared.memories.records import task_key
from tests.emulator.faults import Fault, faults
from tests.memories.front import SCOPE, front_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.front import AddClient, Front


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:
    monkeypatch.setattr(redrive, "WAIT_SECONDS", 0)
    with front_world() as made:
        yield made


@pytest.fixture
def client(front: Front) -> AddClient:
    return front.client()


def dead(front: Front) -> Queue:
    return Queue(front.cloud.aws, str(front.cloud.stack.outputs["DeadLetterQueueUrl"]))


def given_up(front: Front, client: AddClient, user: str = "ann") -> str:
    """Add, and let the worker give it up: its message becomes a dead letter with the reason."""
    task_id = client.accepted(user_id=user)
    (sent,) = [found for found in front.messages() if found["task"] == task_id]
    body = {name: sent[name] for name in ("work", "tenant", "project", "task", "user", "correlation_id")}
    dead(front).send({**body, "reason": "internal_error"}, group=sent["MessageGroupId"], once=task_id)
    front.end(task_id, "failed", error={"code": "internal_error", "message": "no"})
    return task_id


def run(front: Front, *arguments: str) -> int:
    outputs = front.cloud.stack.outputs
    named = [f"--{name}={outputs[output]}" for name, output in redrive.NAMED.items()]
    return redrive.main([*named, *arguments], front.cloud.aws)


def letters(front: Front, output: str = "DeadLetterQueueUrl") -> list[str]:
    answer: Any = front.cloud.aws.sqs.receive_message(
        QueueUrl=front.cloud.stack.outputs[output], MaxNumberOfMessages=10, VisibilityTimeout=0
    )
    return [message["Body"] for message in answer.get("Messages", [])]


def test_a_dead_letter_is_sent_again_in_its_group_and_its_task_begins_again(
    front: Front, client: AddClient, capsys: pytest.CaptureFixture[str]
) -> None:
    task = given_up(front, client)
    assert run(front) == 0
    told = capsys.readouterr().out
    assert f"task={task}" in told
    assert "reason=internal_error" in told
    (sent,) = front.messages()
    assert sent["task"] == task
    assert "reason" not in sent
    status = client.status(task).json
    assert (status["status"], status["phase"], status["error"]) == ("processing", "queued", None)
    assert letters(front) == []


def test_listing_shows_and_changes_nothing(front: Front, client: AddClient, capsys: pytest.CaptureFixture[str]) -> None:
    task = given_up(front, client)
    assert run(front, "--list") == 0
    assert f"task={task}" in capsys.readouterr().out
    assert len(letters(front)) == 1
    assert client.status(task).json["status"] == "failed"


def test_one_task_can_be_named(front: Front, client: AddClient) -> None:
    task, other = given_up(front, client), given_up(front, client, "bob")
    assert run(front, "--task", task) == 0
    assert [sent["task"] for sent in front.messages()] == [task]
    assert [json.loads(body)["task"] for body in letters(front)] == [other]


def test_a_letter_whose_task_is_gone_or_done_is_forgotten(
    front: Front, client: AddClient, capsys: pytest.CaptureFixture[str]
) -> None:
    task = given_up(front, client)
    front.end(task, "success")
    assert run(front) == 0
    assert "nothing left to do" in capsys.readouterr().out
    assert (front.messages(), letters(front)) == ([], [])


def test_a_run_that_was_cut_short_before_it_sent_is_made_good_by_the_next(front: Front, client: AddClient) -> None:
    task = given_up(front, client)
    front.table.write(Update(task_key(SCOPE, task), put={"status": "processing", "phase": "queued"}))
    assert run(front) == 0
    assert [sent["task"] for sent in front.messages()] == [task]


def test_what_is_no_letter_of_ours_is_left_and_told_of(front: Front, capsys: pytest.CaptureFixture[str]) -> None:
    front.cloud.aws.sqs.send_message(
        QueueUrl=dead(front).url, MessageBody="{broken", MessageGroupId="g", MessageDeduplicationId="d"
    )
    assert run(front) == 0
    assert "left: unreadable" in capsys.readouterr().out
    assert letters(front) == ["{broken"]


def test_other_work_is_sent_again_as_it_was(front: Front) -> None:
    body = {"work": "erase", "tenant": "acme", "project": "default", "user_id": "ann", "generation": 1, "erasure": "e"}
    dead(front).send({**body, "reason": "x"}, group="g", once="d")
    assert run(front) == 0
    (sent,) = front.messages()
    assert {name: sent[name] for name in body} == body


def test_what_is_to_be_read_goes_back_to_the_queue_of_documents(front: Front) -> None:
    body = {"work": "read", "tenant": "acme", "project": "default", "task": "t", "user": "ann", "n": 0}
    dead(front).send({**body, "reason": "x"}, group="t#0", once="d")
    assert run(front) == 0
    assert (front.messages(), letters(front)) == ([], [])
    assert list(map(json.loads, letters(front, "DocumentsQueueUrl"))) == [body]


def test_a_queue_that_does_not_answer_ends_the_command_with_a_reason(
    front: Front, capsys: pytest.CaptureFixture[str]
) -> None:
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == "sqs" else None):
        assert run(front) == 1
    assert capsys.readouterr().err.startswith("redrive: ")


def test_the_command_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        redrive.main([])
    assert "--dead" in capsys.readouterr().err
