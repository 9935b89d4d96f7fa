"""Batches of messages as a function takes them: by Powertools, held while they last, each told of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor

from shared.memories.heartbeat import Heartbeat
from shared.memories.letters import Message, named_in
from shared.memories.outcome import Outcome, State
from shared.retention.deadline import Deadline
from shared.retention.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

    from shared.aws.queue import Queue
    from shared.kernel.clock import Clock
    from shared.memories.heartbeat import Held

MARGIN_MS = 25_000
"""What is kept of a function's time for the piece of work in hand."""


class NotDone(Exception):
    """A message is to come again; Powertools leaves those behind it in its group."""


class Taker(Protocol):
    """Does the work of messages."""

    def take(self, message: Message, *, late: Callable[[], bool], watch: Callable[[Held], None]) -> Outcome:
        """Do the work of one message; `late` tells when no new piece of it may be begun, `watch` hears of attempts."""


@dataclass(frozen=True)
class Batches:
    """A function's batches: the queue that they come from, who does the work (asked for once a batch), who tells it."""

    queue: Queue
    clock: Clock
    taker: Callable[[], Taker]
    tell: Callable[[Outcome], None]

    def work(self, event: dict[str, Any], context: Any) -> Any:
        """Do the work of a batch, and return which messages are to come again."""
        records = event["Records"]
        deadline = Deadline(context.get_remaining_time_in_millis, margin_ms=MARGIN_MS)
        receipts = [record["receiptHandle"] for record in records]
        with Heartbeat(self.queue, self.clock, receipts) as heart:
            batch = _Batch(self, heart, deadline, records)
            processor = SqsFifoPartialProcessor(skip_group_on_error=True)
            processor.raise_on_entire_batch_failure = False
            with processor(records=records, handler=batch.one):
                processor.process()
            answer = processor.response()
            batch.let_go_untouched(answer)
        return answer


@dataclass
class _Batch:
    """One batch in hand."""

    batches: Batches
    heart: Heartbeat
    deadline: Deadline
    records: list[dict[str, Any]]

    def __post_init__(self) -> None:
        self._taker: Taker | None = None
        self._seen: set[str] = set()

    def one(self, record: SQSRecord) -> None:
        """Do the work of one message.

        Raises:
            NotDone: it is to come again.
        """
        self._seen.add(record.message_id)
        try:
            outcome = self._take(record)
        except Exception as error:  # told here, since Powertools tells nothing; the message comes again by itself
            self._tell(record, Outcome(State.LEAVE, fault=fault_of("batch", error)))
            raise
        self._tell(record, outcome)
        self.heart.watch(None)
        if outcome.state is State.DONE:
            return  # held on, since it is deleted when the whole batch is done
        self.heart.let_go(record.receipt_handle, outcome.pause if outcome.state is State.LATER else None)
        self._let_go(r for r in self.records if _group_of(r) == _group_of(record.raw_event))
        raise NotDone

    def _tell(self, record: SQSRecord, outcome: Outcome) -> None:
        self.batches.tell(replace(outcome, named=named_in(record.body)))

    def _take(self, record: SQSRecord) -> Outcome:
        if self._taker is None:
            self._taker = self.batches.taker()
        message = Message(record.body, int(record.attributes.approximate_receive_count))
        return self._taker.take(message, late=self.deadline.passed, watch=self.heart.watch)

    def let_go_untouched(self, answer: Any) -> None:
        """Let go those that were left because one before them in their group is to come again."""
        again = {item["itemIdentifier"] for item in answer["batchItemFailures"]}
        self._let_go(r for r in self.records if r["messageId"] in again)

    def _let_go(self, records: Iterable[dict[str, Any]]) -> None:
        """Let go messages that nothing was done about: their group waits for no other of the batch."""
        for record in records:
            if record["messageId"] not in self._seen and record["receiptHandle"] in self.heart.receipts:
                self.heart.let_go(record["receiptHandle"], 0)


def _group_of(record: dict[str, Any]) -> Any:
    return record["attributes"].get("MessageGroupId")
