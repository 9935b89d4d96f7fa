"""The queue of memories and its worker, by the clock of the test: what Lambda's poller does, without its waiting."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from infra.local.queues import event_of, failed_of
from shared.aws.queue import Queue
from shared.memories.tasks import message_of
from shared.wiring.memories import Memories
from shared.wiring.working import Working
from tests.memories.works import works

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.memories.works import Works

SECOND = 1000


@dataclass
class Line:
    """A queue with its worker; `means` replaces parts of what the worker works with."""

    world: Works
    means: dict[str, Any] = field(default_factory=dict)
    remaining_ms: int = 150_000

    @property
    def environ(self) -> dict[str, str]:
        folder = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(self.world.folder)}
        return {**self.world.cloud.environment("WorkerFunction"), **folder}

    def send(self, *tasks: str) -> None:
        """Send the messages of tasks."""
        for task_id in tasks:
            task = self.world.row(task_id)
            self.world.queue.send(message_of(task), group=task["group"], once=task_id)

    def send_body(self, body: Mapping[str, Any] | str, group: str = "somebody") -> None:
        """Send any message."""
        aws, url = self.world.cloud.aws, self.world.queue.url
        if isinstance(body, str):
            name = sha256(body.encode()).hexdigest()
            aws.sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=name)
        else:
            Queue(aws, url).send(body, group=group, once=str(self.world.clock.now_ms()))

    def add(self, *texts: Any, **fields: Any) -> str:
        """Add, and send its message."""
        task_id = self.world.task(*texts, **fields)
        self.send(task_id)
        return task_id

    def receive(self, most: int = 10) -> list[Any]:
        """Receive a batch, as the poller would: hidden for the queue's own time."""
        answer: Any = self.world.cloud.aws.sqs.receive_message(
            QueueUrl=self.world.queue.url,
            MaxNumberOfMessages=most,
            WaitTimeSeconds=0,
            MessageSystemAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def work(self, messages: list[Any]) -> set[str]:
        """Let a new worker do a batch, remove what it has done, and return the ids of what is to come again."""
        context = SimpleNamespace(get_remaining_time_in_millis=lambda: self.remaining_ms)
        with patch.object(Memories, "means", self.world.means(**self.means)):
            working = Working(self.environ, self.world.cloud.aws, self.world.clock)
            result = working(event_of(messages, "arn:aws:sqs:eu-central-1:123456789012:work.fifo"), context)
        again = failed_of(result) or set()
        for message in messages:
            if message["MessageId"] not in again:
                self.world.cloud.aws.sqs.delete_message(
                    QueueUrl=self.world.queue.url, ReceiptHandle=message["ReceiptHandle"]
                )
        return again

    def run(self, seconds: int = 300) -> int:
        """Work off the queue for so long by its clock, and return after how many seconds it was empty."""
        for second in range(seconds):
            while messages := self.receive():
                self.work(messages)
            if self.is_empty():
                return second
            self.world.clock.move(ms=SECOND)
        return seconds

    def is_empty(self) -> bool:
        return self._count(self.world.queue.url) == 0

    def letters(self) -> list[str]:
        """Take the dead letters."""
        answer: Any = self.world.cloud.aws.sqs.receive_message(
            QueueUrl=self.environ["DEAD_LETTER_QUEUE_URL"], MaxNumberOfMessages=10, WaitTimeSeconds=0
        )
        return [message["Body"] for message in answer.get("Messages", [])]

    def _count(self, url: str) -> int:
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.world.cloud.aws.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(number) for number in found.values())


@contextmanager
def line(**given: Any) -> Iterator[Line]:
    """Start a world with a queue whose time is the world's clock."""
    with works() as world:
        now = lambda: float(world.clock.now)  # noqa: E731
        with (
            patch("moto.sqs.models.unix_time_millis", now),
            patch("moto.sqs.models.unix_time", lambda *_: now() / 1000),
            patch("infra.local.messages._now_ms", now),
        ):
            yield Line(world, **given)
