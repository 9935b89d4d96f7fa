"""The worker of memories, composed: what its batches are done with, and what is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from shared.aws.table import Table
from shared.memories.delivery import Deliveries
from shared.tenancy.opening import Opening
from shared.wiring.batches import Batches
from shared.wiring.memories import Memories

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.memories.outcome import Outcome

SERVICE = "worker"


class Working:
    """The Lambda handler of the queue's batches."""

    def __init__(self, environ: Mapping[str, str], aws: Aws, clock: Clock) -> None:
        self._memories = Memories(environ, aws, clock)
        self._clock = clock
        self._opening = Opening(Table(aws, self._memories.environment.table_name), clock)
        self._log = Logger(service=SERVICE)

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        """Do the work of a batch, and return which messages are to come again.

        Raises:
            TableClosed: the table is being restored.
        """
        self._opening.check()
        return Batches(self._memories.backing.queue, self._clock, self.deliveries, self.tell).work(event, context)

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
        names = ("tenant", "project", "task", "correlation_id", "status", "phase", "n")
        self._log.info("message", **outcome.told(*names))
        metrics = EphemeralMetrics(namespace=self._memories.environment.powertools_metrics_namespace, service=SERVICE)
        metrics.add_metric(name="AddsDone", unit=MetricUnit.Count, value=int(task.get("status") == "success"))
        metrics.add_metric(name="AddsFailed", unit=MetricUnit.Count, value=int(task.get("status") == "failed"))
        metrics.add_metric(name="WorkFaults", unit=MetricUnit.Count, value=int(outcome.fault is not None))
        if task.get("status") == "success":
            took = max(0, task["completed_at"] - task["received_at"])
            metrics.add_metric(name="AddLatency", unit=MetricUnit.Milliseconds, value=took)
        metrics.flush_metrics()
