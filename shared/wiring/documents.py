"""The reader of documents, composed without index, embedder and extractor: its means, and what is told of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.memories.backing import Backing
from shared.memories.files.intake import Intake
from shared.memories.files.reading import Eyes
from shared.tenancy.opening import Opening
from shared.wiring.batches import Batches
from shared.wiring.environment import Environment
from shared.wiring.models import vision_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.memories.outcome import Outcome

SERVICE = "documents"


class Documents:
    """The Lambda handler of the documents queue's batches."""

    def __init__(self, environ: Mapping[str, str], aws: Aws, clock: Clock) -> None:
        self._environ = environ
        self._environment = Environment.of(environ)
        self._aws, self._clock = aws, clock
        self._opening = Opening(Table(aws, self._environment.table_name), clock)
        self._log = Logger(service=SERVICE)

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        """Do the work of a batch, and return which messages are to come again.

        Raises:
            TableClosed: the table is being restored.
        """
        self._opening.check()
        queue = Queue(self._aws, self._environment.documents_queue_url)
        return Batches(queue, self._clock, self.intake, self.tell).work(event, context)

    def intake(self) -> Intake:
        """Return what does the work of messages."""
        return Intake(self.backing, self.eyes, Queue(self._aws, self._environment.dead_letter_queue_url))

    @cached_property
    def backing(self) -> Backing:
        """The stores and the queues."""
        environment = self._environment
        return Backing(
            Table(self._aws, environment.table_name),
            Objects(self._aws, environment.bucket_name),
            self._clock,
            queue=Queue(self._aws, environment.queue_url),
            documents_queue=Queue(self._aws, environment.documents_queue_url),
        )

    @cached_property
    def eyes(self) -> Eyes:
        """The parser and the model that `VISION` names; nothing is loaded before their first file.

        Raises:
            EnvironmentInvalid: it names none.
        """
        from shared.documents.parsing import SubprocessParser  # noqa: PLC0415 - an artifact of its own has it
        from shared.documents.picturing import prepared  # noqa: PLC0415

        parser = SubprocessParser(ocr=self._environment.vision == "local")
        return Eyes(parser, vision_of(self._environ), prepared)

    def tell(self, outcome: Outcome) -> None:
        """Log and count what became of a message; nothing of anybody's text, nor a file's name."""
        job = outcome.job or {}
        names = (
            "tenant",
            "project",
            "task",
            "correlation_id",
            "n",
            "of",
            "extension",
            "size",
            "status",
            "chunks_total",
        )
        self._log.info("message", **outcome.told(*names))
        read = outcome.state.value == "done" and job.get("status") in {"parsed", "success"}
        metrics = EphemeralMetrics(namespace=self._environment.powertools_metrics_namespace, service=SERVICE)
        metrics.add_metric(name="FilesRead", unit=MetricUnit.Count, value=int(read))
        metrics.add_metric(name="FilesFailed", unit=MetricUnit.Count, value=int(job.get("status") == "failed"))
        metrics.add_metric(name="ReadFaults", unit=MetricUnit.Count, value=int(outcome.fault is not None))
        if read and "since" in job:
            took = max(0, self._clock.now_ms() - job["since"])
            metrics.add_metric(name="ReadLatency", unit=MetricUnit.Milliseconds, value=took)
        metrics.flush_metrics()
