from typing import Any

from tests.template.stack import Stack

TWO_WEEKS = 14 * 24 * 3600
WORKER_SECONDS = 150
READING_SECONDS = 600


def queues(stack: Stack) -> dict[str, dict[str, Any]]:
    return stack.of_type("AWS::SQS::Queue")


def test_one_users_messages_are_in_order_and_users_do_not_wait_for_each_other(stack: Stack) -> None:
    for queue in queues(stack).values():
        assert queue["FifoQueue"] is True
        assert queue["QueueName"].endswith(".fifo")
        assert (queue["DeduplicationScope"], queue["FifoThroughputLimit"]) == ("messageGroup", "perMessageGroupId")


def test_messages_are_encrypted_with_the_key_of_the_stack(stack: Stack) -> None:
    assert {queue["KmsMasterKeyId"] for queue in queues(stack).values()} == {"<Data.Outputs.KeyArn>"}


def test_what_no_worker_survives_waits_two_weeks_for_a_person(stack: Stack) -> None:
    policy = {"deadLetterTargetArn": "<DeadLetterQueue.Arn>", "maxReceiveCount": 100}
    assert queues(stack)["Queue"]["RedrivePolicy"] == policy
    assert queues(stack)["DocumentsQueue"]["RedrivePolicy"] == policy
    assert queues(stack)["DeadLetterQueue"]["MessageRetentionPeriod"] == TWO_WEEKS


def test_only_the_queues_of_work_and_of_documents_may_fill_the_dead_letter_queue(stack: Stack) -> None:
    names = [queues(stack)[name]["QueueName"] for name in ("Queue", "DocumentsQueue")]
    assert queues(stack)["DeadLetterQueue"]["RedriveAllowPolicy"] == {
        "redrivePermission": "byQueue",
        "sourceQueueArns": [f"arn:aws:sqs:eu-central-1:111122223333:{name}" for name in names],
    }


def test_a_message_stays_hidden_six_times_as_long_as_its_worker_may_take(stack: Stack) -> None:
    seconds = {}
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        function = stack.of_type("AWS::Lambda::Function")[mapping["FunctionName"].strip("<>")]
        seconds[mapping["EventSourceArn"].removesuffix(".Arn>").strip("<")] = function["Timeout"]
    assert seconds == {"Queue": WORKER_SECONDS, "DocumentsQueue": READING_SECONDS}
    assert all(queues(stack)[name]["VisibilityTimeout"] >= 6 * longest for name, longest in seconds.items())


def test_a_message_is_tried_as_often_as_it_may_be_before_it_expires(any_stack: Stack) -> None:
    for queue in (queues(any_stack)[name] for name in ("Queue", "DocumentsQueue")):
        tries = queue["RedrivePolicy"]["maxReceiveCount"]
        assert queue["VisibilityTimeout"] * tries < queue["MessageRetentionPeriod"] == TWO_WEEKS


def test_queues_refuse_what_does_not_come_over_tls(stack: Stack) -> None:
    (policy,) = stack.of_type("AWS::SQS::QueuePolicy").values()
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert set(policy["Queues"]) == {f"<{name}>" for name in queues(stack)}
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert set(statement["Resource"]) == {f"<{name}.Arn>" for name in queues(stack)}
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
