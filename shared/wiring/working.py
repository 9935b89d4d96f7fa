"""The worker of memories, composed: batches of messages by Powertools, held while they last, and told of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor

from shared.memories.delivery import Deliveries, Message
from shared.memories.heartbeat import Heartbeat
from shared.memories.work import Outcome, State
from shared.retention.deadline import Deadline
from shared.retention.faults import fault_of
from shared.wiring.memories import Memories

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock

SERVICE = "worker"
MARGIN_MS = 25_000
"""What is kept of a function's time for the piece of work in hand."""


class NotDone(Exception):
    """A message is to come again; Powertools leaves those behind it in its group."""


class Working:
    """The Lambda handler of the queue's batches."""

    def __init__(self, environ: Mapping[str, str], aws: Aws, clock: Clock) -> None:
        self._memories = Memories(environ, aws, clock)
        self._clock = clock
        self._log = Logger(service=SERVICE)

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        """Do the work of a batch, and return which messages are to come again."""
        records = event["Records"]
        deadline = Deadline(context.get_remaining_time_in_millis, margin_ms=MARGIN_MS)
        receipts = [record["receiptHandle"] for record in records]
        with Heartbeat(self._memories.backing.queue, self._clock, receipts) as heart:
            batch = _Batch(self, heart, deadline, records)
            processor = SqsFifoPartialProcessor(skip_group_on_error=True)
            processor.raise_on_entire_batch_failure = False
            with processor(records=records, handler=batch.one):
                processor.process()
            answer = processor.response()
            batch.let_go_untouched(answer)
        return answer

    def deliveries(self) -> Deliveries:
        """Return what does the work of messages.

        Raises:
            SearchIsOff: there is no index.
            IndexMismatch: the index was made for another embedder.
        """
        return Deliveries(self._memories.means, self._memories.dead_letters)

    def tell(self, outcome: Outcome) -> None:
        """Log and count what became of a message; nothing of anybody's text."""
        task = outcome.task or {}
        told: dict[str, Any] = {
            name: task.get(name) for name in ("tenant", "project", "task", "correlation_id", "status", "phase")
        }
        error = task.get("error") or {}
        fault = outcome.fault.told() if outcome.fault else None
        self._log.info("message", **told, outcome=outcome.state.value, error=error.get("code"), fault=fault)
        metrics = EphemeralMetrics(namespace=self._memories.environment.powertools_metrics_namespace, service=SERVICE)
        metrics.add_metric(name="AddsDone", unit=MetricUnit.Count, value=int(task.get("status") == "success"))
        metrics.add_metric(name="AddsFailed", unit=MetricUnit.Count, value=int(task.get("status") == "failed"))
        metrics.add_metric(name="WorkFaults", unit=MetricUnit.Count, value=int(outcome.fault is not None))
        if task.get("status") == "success":
            took = max(0, task["completed_at"] - task["received_at"])
            metrics.add_metric(name="AddLatency", unit=MetricUnit.Milliseconds, value=took)
        metrics.flush_metrics()


@dataclass
class _Batch:
    """One batch in hand."""

    working: Working
    heart: Heartbeat
    deadline: Deadline
    records: list[dict[str, Any]]

    def __post_init__(self) -> None:
        self._deliveries: Deliveries | None = None
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
            self.working.tell(Outcome(State.LEAVE, fault=fault_of("batch", error)))
            raise
        self.working.tell(outcome)
        self.heart.watch(None)
        if outcome.state is State.DONE:
            return  # held on, since it is deleted when the whole batch is done
        self.heart.let_go(record.receipt_handle, outcome.pause if outcome.state is State.LATER else None)
        self._let_go(r for r in self.records if _group_of(r) == _group_of(record.raw_event))
        raise NotDone

    def _take(self, record: SQSRecord) -> Outcome:
        if self._deliveries is None:
            self._deliveries = self.working.deliveries()
        message = Message(record.body, int(record.attributes.approximate_receive_count))
        return self._deliveries.take(message, late=self.deadline.passed, watch=self.heart.watch)

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
