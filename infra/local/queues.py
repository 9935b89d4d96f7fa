"""The template's queues: a thread each that receives, invokes the function as Lambda's poller does, and deletes.

Where the developer guide is silent, this follows Lambda: what a batch reports as failed, and all of a batch that
raised, is left to its visibility; the rest is deleted. A group is in one batch at a time, since SQS gives nothing
out behind a message in flight.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infra.local.instances import FunctionFailed
from infra.local.stack import REGION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.local.instances import Instances
    from infra.local.stack import Function, QueueSource
    from shared.aws.clients import Aws

WIDTH = 2
"""So many batches at a time, at most: the rest of the machine answers requests."""

WAIT_SECONDS = 5
"""How long one receive waits: below the clients' own time-out. Waiting takes no time of the processor."""

PAUSE_SECONDS = 2.0
STOP_SECONDS = 2.0

log = logging.getLogger(__name__)


class Poller:
    """Works off one queue with the instances of a function."""

    def __init__(self, aws: Aws, source: QueueSource, instances: Instances) -> None:
        self._aws = aws
        self._source = source
        self._instances = instances
        width = min(source.width, WIDTH)
        self._free = threading.Semaphore(width)
        self._workers = ThreadPoolExecutor(width, thread_name_prefix="queue")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="poller", daemon=True)
        self._running = 0
        self._ended = threading.Condition()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more messages, and wait a moment for those in hand; what is not done then comes again."""
        self._stopped.set()
        with self._ended:
            self._ended.wait_for(lambda: self._running == 0, STOP_SECONDS)
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _work(self) -> None:
        while not self._stopped.is_set():
            self._free.acquire()
            if not self._take():
                self._free.release()

    def _take(self) -> bool:
        """Receive a batch and hand it over; False when there is none."""
        try:
            messages = self._receive()
        except Exception:
            if not self._stopped.wait(PAUSE_SECONDS):
                log.warning("the queue does not answer", exc_info=True)
            return False
        if not messages or self._stopped.is_set():
            return False
        with self._ended:
            self._running += 1
        self._workers.submit(self._hand_over, messages)
        return True

    def _receive(self) -> list[Any]:
        answer = self._aws.sqs.receive_message(
            QueueUrl=self._source.url,
            MaxNumberOfMessages=self._source.batch,
            WaitTimeSeconds=WAIT_SECONDS,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def _hand_over(self, messages: list[Any]) -> None:
        try:
            result = self._instances.run(event_of(messages, self._source.arn))
            self._delete(messages, failed_of(result))
        except FunctionFailed:
            log.warning("a batch failed", extra={"function": self._instances.function.name})
        except Exception:
            log.exception("a batch could not be ended")
        finally:
            self._free.release()
            with self._ended:
                self._running -= 1
                self._ended.notify_all()

    def _delete(self, messages: list[Any], failed: set[str] | None) -> None:
        done = [m for m in messages if failed is not None and m["MessageId"] not in failed]
        entries: Any = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(done)]
        if entries:
            self._aws.sqs.delete_message_batch(QueueUrl=self._source.url, Entries=entries)


def on_real_queues(function: Function, real: Mapping[str, str]) -> Function:
    """Return a function that works off the queues that `real` has under their variables, and no others."""
    named = {url: real.get(variable) for variable, url in function.environment.items()}
    found = [(source, named.get(source.url)) for source in function.queues]
    return replace(function, queues=[replace(source, url=url) for source, url in found if url])


def event_of(messages: list[Any], arn: str) -> dict[str, Any]:
    """Return the event in which Lambda hands messages to a function."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "messageAttributes": {
                    name: _attribute(value) for name, value in message.get("MessageAttributes", {}).items()
                },
                "md5OfBody": hashlib.md5(message["Body"].encode(), usedforsecurity=False).hexdigest(),
                "eventSource": "aws:sqs",
                "eventSourceARN": arn,
                "awsRegion": REGION,
            }
            for message in messages
        ]
    }


def failed_of(result: Any) -> set[str] | None:
    """Return the messages that a function reports as failed, or None for all: a report that can't be read."""
    if result is None or result == {}:
        return set()
    failures = result.get("batchItemFailures") if isinstance(result, dict) else None
    if failures is None:
        return set()
    named = {failure.get("itemIdentifier") for failure in failures}
    return named if all(isinstance(name, str) and name for name in named) else None


def _attribute(value: Any) -> dict[str, Any]:
    kind = value["DataType"]
    held = {"stringValue": value["StringValue"]} if "StringValue" in value else {"binaryValue": value["BinaryValue"]}
    return {**held, "stringListValues": [], "binaryListValues": [], "dataType": kind}
