"""Queues of the local run: SQS's order of groups, and what works them off."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from infra.local.instances import Instances
from infra.local.queues import Poller, failed_of, on_real_queues
from infra.local.stack import Function
from tests.emulator.cloud import emulated_cloud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.local.stack import QueueSource
    from tests.emulator.cloud import Cloud


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with emulated_cloud() as made:
        yield made


def url(cloud: Cloud) -> str:
    return str(cloud.stack.outputs["QueueUrl"])


def send(cloud: Cloud, body: str, *, once: str | None = None) -> None:
    cloud.aws.sqs.send_message(
        QueueUrl=url(cloud), MessageBody=body, MessageGroupId=body[0], MessageDeduplicationId=once or body
    )


def receive(cloud: Cloud, queue: str | None = None, *, count: int = 10, wait: int = 0) -> dict[str, str]:
    """Receive, and return receipts by body, in order."""
    answer: Any = cloud.aws.sqs.receive_message(
        QueueUrl=queue or url(cloud), MaxNumberOfMessages=count, WaitTimeSeconds=wait
    )
    return {message["Body"]: message["ReceiptHandle"] for message in answer.get("Messages", [])}


def delete(cloud: Cloud, receipt: str) -> None:
    cloud.aws.sqs.delete_message(QueueUrl=url(cloud), ReceiptHandle=receipt)


def hide(cloud: Cloud, receipt: str, seconds: int) -> None:
    cloud.aws.sqs.change_message_visibility(QueueUrl=url(cloud), ReceiptHandle=receipt, VisibilityTimeout=seconds)


def test_one_receive_gives_out_a_groups_messages_in_order(cloud: Cloud) -> None:
    for body in ("a1", "b1", "a2", "a3"):
        send(cloud, body)
    assert list(receive(cloud)) == ["a1", "b1", "a2", "a3"]


def test_nothing_of_a_group_is_given_out_while_a_message_of_it_is_in_flight(cloud: Cloud) -> None:
    for body in ("a1", "a2", "b1"):
        send(cloud, body)
    first = receive(cloud, count=1)
    assert list(first) == ["a1"]
    assert list(receive(cloud)) == ["b1"]
    delete(cloud, first["a1"])
    assert list(receive(cloud)) == ["a2"]


def test_a_message_that_failed_comes_before_those_behind_it_when_none_of_them_is_in_flight(cloud: Cloud) -> None:
    for body in ("a1", "a2"):
        send(cloud, body)
    batch = receive(cloud)
    hide(cloud, batch["a1"], 0)
    assert receive(cloud) == {}, "a2 is still in flight"
    hide(cloud, batch["a2"], 0)
    assert list(receive(cloud)) == ["a1", "a2"]


def test_an_old_receipt_changes_no_visibility(cloud: Cloud) -> None:
    send(cloud, "a1")
    old = receive(cloud)["a1"]
    hide(cloud, old, 0)
    new = receive(cloud)["a1"]
    with pytest.raises(cloud.aws.sqs.exceptions.ReceiptHandleIsInvalid):
        hide(cloud, old, 0)
    delete(cloud, new)
    delete(cloud, new)


def test_a_duplicate_is_known_in_its_group_even_when_the_first_is_done(cloud: Cloud) -> None:
    send(cloud, "a1", once="x")
    send(cloud, "a2", once="x")
    send(cloud, "b1", once="x")
    taken = receive(cloud)
    assert list(taken) == ["a1", "b1"]
    delete(cloud, taken["a1"])
    send(cloud, "a3", once="x")
    assert receive(cloud) == {}


@pytest.mark.parametrize("odd", ["\uffff", "\ufffe", "\x00", "\x1b"], ids=ascii)
def test_a_text_that_sqs_takes_for_no_text_is_refused(cloud: Cloud, odd: str) -> None:
    with pytest.raises(ClientError, match="Invalid characters"):
        send(cloud, f"a{odd}", once="x")
    send(cloud, "a\t\r\n\x7f\ue000\ufffd\U0010ffff", once="x")
    assert list(receive(cloud)) == ["a\t\r\n\x7f\ue000\ufffd\U0010ffff"]


def test_a_message_beyond_a_mebibyte_is_refused(cloud: Cloud) -> None:
    send(cloud, "a" * (1 << 20), once="x")
    for text in ("a" * ((1 << 20) + 1), "\u00e9" * (1 << 19) + "x"):
        with pytest.raises(ClientError):
            cloud.aws.sqs.send_message(
                QueueUrl=url(cloud), MessageBody=text, MessageGroupId="a", MessageDeduplicationId="y"
            )


@pytest.mark.parametrize("name", ["a b", "\u00e9", "x" * 129])
def test_a_name_that_sqs_does_not_take_is_refused(cloud: Cloud, name: str) -> None:
    for group, once in ((name, "x"), ("g", name)):
        with pytest.raises(ClientError):
            cloud.aws.sqs.send_message(
                QueueUrl=url(cloud), MessageBody="a", MessageGroupId=group, MessageDeduplicationId=once
            )


def test_a_message_that_was_received_too_often_goes_to_the_dead_letters_and_its_group_goes_on(cloud: Cloud) -> None:
    cloud.aws.sqs.set_queue_attributes(
        QueueUrl=url(cloud), Attributes={"RedrivePolicy": _policy(cloud, max_receives=2)}
    )
    send(cloud, "a1")
    send(cloud, "a2")
    for _ in range(2):
        for receipt in receive(cloud, count=1).values():
            hide(cloud, receipt, 0)
    assert list(receive(cloud)) == ["a2"]
    assert list(receive(cloud, str(cloud.stack.outputs["DeadLetterQueueUrl"]))) == ["a1"]


def _policy(cloud: Cloud, *, max_receives: int) -> str:
    arn = cloud.stack.attribute("DeadLetterQueue", "Arn")
    return f'{{"deadLetterTargetArn": "{arn}", "maxReceiveCount": {max_receives}}}'


def test_of_many_receivers_at_once_each_message_goes_to_one(cloud: Cloud) -> None:
    bodies = [f"{group}{n}" for group in "abcdefgh" for n in range(5)]
    for body in bodies:
        send(cloud, body)
    with ThreadPoolExecutor(8) as pool:
        found = [body for batch in pool.map(lambda _: list(receive(cloud, count=3)), range(24)) for body in batch]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("end", [delete, lambda cloud, receipt: hide(cloud, receipt, 0)])
def test_a_receiver_that_waits_is_woken_when_a_group_is_free(cloud: Cloud, end: Callable[[Cloud, str], None]) -> None:
    send(cloud, "a1")
    send(cloud, "a2")
    first = receive(cloud, count=1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(receive, cloud, wait=20)
        end(cloud, first["a1"])
        assert "a2" in waiting.result(timeout=60)


def source(cloud: Cloud) -> QueueSource:
    (function,) = [f for f in cloud.stack.functions() if f.name == "WorkerFunction"]
    (found,) = function.queues
    return found


class Worker:
    """A function that notes what it was given, and fails what it is told to."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.running: set[str] = set()
        self.met: list[tuple[str, ...]] = []
        self.fail: Callable[[str], bool] = lambda _: False
        self.changed = threading.Condition()

    def __call__(self, event: Any, _: Any) -> Any:
        groups = {record["attributes"]["MessageGroupId"] for record in event["Records"]}
        with self.changed:
            self.met += [(group,) for group in groups & self.running]
            self.running |= groups
        time.sleep(0.01)
        bodies = {record["messageId"]: record["body"] for record in event["Records"]}
        with self.changed:
            self.running -= groups
            self.events.append(event)
            self.changed.notify_all()
        if any(body == "raise" for body in bodies.values()):
            raise RuntimeError
        return {"batchItemFailures": [{"itemIdentifier": i} for i, body in bodies.items() if self.fail(body)]}

    @property
    def bodies(self) -> list[str]:
        return [record["body"] for event in self.events for record in event["Records"]]

    def until(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.bodies) >= count, 120), self.bodies


@pytest.fixture
def worked(cloud: Cloud) -> Iterator[tuple[Cloud, Worker]]:
    worker = Worker()
    instances = Instances(Function("Worker", "x.handler", {}, 150, 1769), lambda: worker)
    poller = Poller(cloud.aws, source(cloud), instances)
    poller.start()
    yield cloud, worker
    poller.stop()
    send(cloud, "wakes_it")
    poller._thread.join(60)
    assert not poller._thread.is_alive()


def left(cloud: Cloud) -> int:
    attributes = cloud.aws.sqs.get_queue_attributes(QueueUrl=url(cloud), AttributeNames=["All"])["Attributes"]
    return int(attributes["ApproximateNumberOfMessages"]) + int(attributes["ApproximateNumberOfMessagesNotVisible"])


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_messages_are_worked_off_as_lambda_hands_them_over(worked: tuple[Cloud, Worker]) -> None:
    cloud, worker = worked
    cloud.aws.sqs.send_message(
        QueueUrl=url(cloud),
        MessageBody="a1",
        MessageGroupId="a",
        MessageDeduplicationId="d",
        MessageAttributes={"n": {"DataType": "String", "StringValue": "v"}},
    )
    worker.until(1)
    (record,) = worker.events[0]["Records"]
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"] == source(cloud).arn
    assert record["awsRegion"]
    assert record["body"] == "a1"
    assert record["md5OfBody"] == "8a8bb7cd343aa2ad99b7d762030857a2"
    assert record["messageAttributes"]["n"]["stringValue"] == "v"
    attributes = record["attributes"]
    assert (attributes["MessageGroupId"], attributes["MessageDeduplicationId"]) == ("a", "d")
    assert attributes["ApproximateReceiveCount"] == "1"
    assert {"SentTimestamp", "SequenceNumber", "SenderId", "ApproximateFirstReceiveTimestamp"} <= attributes.keys()
    until(lambda: left(cloud) == 0)


def test_groups_are_worked_beside_each_other_and_each_in_order(worked: tuple[Cloud, Worker]) -> None:
    cloud, worker = worked
    bodies = [f"{group}{n:02}" for n in range(10) for group in "abcde"]
    for body in bodies:
        send(cloud, body)
    worker.until(len(bodies))
    assert worker.met == []
    assert len({len(event["Records"]) for event in worker.events}) >= 1
    for group in "abcde":
        assert [body for body in worker.bodies if body[0] == group] == [f"{group}{n:02}" for n in range(10)]
    until(lambda: left(cloud) == 0)


def test_what_a_batch_reports_as_failed_stays_and_the_rest_is_deleted(worked: tuple[Cloud, Worker]) -> None:
    cloud, worker = worked
    worker.fail = lambda body: body == "b1"
    send(cloud, "b1")
    send(cloud, "a1")
    worker.until(2)
    until(lambda: left(cloud) == 1)


def test_a_batch_that_raises_stays_whole_and_the_poller_goes_on(worked: tuple[Cloud, Worker]) -> None:
    cloud, worker = worked
    send(cloud, "raise")
    worker.until(1)
    send(cloud, "a1")
    worker.until(2)
    until(lambda: left(cloud) == 1)


def test_a_report_that_cannot_be_read_deletes_nothing() -> None:
    assert failed_of(None) == failed_of({}) == failed_of({"batchItemFailures": []}) == set()
    assert failed_of({"batchItemFailures": [{"itemIdentifier": "m"}]}) == {"m"}
    assert failed_of({"batchItemFailures": [{"itemIdentifier": ""}]}) is None
    assert failed_of({"batchItemFailures": [{}]}) is None


def test_real_queues_are_worked_off_by_the_variable_that_names_them(cloud: Cloud) -> None:
    real = {"QUEUE_URL": "https://work", "DOCUMENTS_QUEUE_URL": "https://documents"}

    def worked_off(named: dict[str, str]) -> dict[str, str]:
        placed = [on_real_queues(function, named) for function in cloud.stack.functions()]
        return {function.name: source.url for function in placed for source in function.queues}

    assert worked_off(real) == {"WorkerFunction": "https://work", "DocumentsFunction": "https://documents"}
    assert worked_off({"QUEUE_URL": "https://work"}) == {"WorkerFunction": "https://work"}
