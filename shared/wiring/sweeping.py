"""The sweeper, composed: its handlers by kind of due item, its nightly rounds, its log line and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.memories.backing import Backing as MemoryBacking
from shared.memories.erasing import Receipts
from shared.memories.files.uploads import Lapsing
from shared.memories.settling import Settling
from shared.projects.backing import Backing
from shared.projects.removal import Removal
from shared.retention.deadline import MARGIN_MS, Deadline
from shared.retention.faults import isolated
from shared.retention.ownership import Ownership
from shared.retention.reconciliation import Reconciliation
from shared.retention.removal import ObjectRemoval
from shared.retention.renewal import Renewal
from shared.retention.rounds import RECONCILE, RENEW, Rounds, Walked
from shared.retention.sweeper import Sweeper, Swept
from shared.stores.backing import Backing as StoreBacking
from shared.stores.removal import Removal as StoreRemoval
from shared.tenancy.opening import open_new
from shared.wiring.environment import Environment
from shared.wiring.memories import SURFACE as MEMORIES
from shared.wiring.projects import SURFACE as PROJECTS
from shared.wiring.stores import SURFACE as MEMORY_STORES
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.retention.rounds import Step
    from shared.retention.sweeper import Handler
    from shared.tenancy.usage import UsageMeter

SERVICE = "sweeper"
SWEEP_MS = 4 * 60_000
"""How long the five-minute job works, so that it has ended when the next one begins."""


@dataclass(frozen=True)
class Stores:
    """What handlers of due items work on."""

    table: Table
    objects: Objects
    clock: Clock
    queue: Queue
    documents_queue: Queue


def handlers(stores: Stores, deadline: Deadline, meter: UsageMeter) -> Mapping[str, Handler]:
    """Return the handler of each kind of due item; a long one stops at `deadline` and returns False.

    A domain room registers its kinds here.
    """
    projects = Backing(stores.table, stores.objects, stores.clock, partial(meter.note, surface=PROJECTS))
    memory_stores = StoreBacking(stores.table, stores.objects, stores.clock, partial(meter.note, surface=MEMORY_STORES))
    note = partial(meter.note, surface=MEMORIES)
    queues = {"queue": stores.queue, "documents_queue": stores.documents_queue}
    memories = MemoryBacking(stores.table, stores.objects, stores.clock, note, **queues)
    return {
        "remove_object": ObjectRemoval(stores.table, stores.objects),
        **Removal(projects, deadline.passed).handlers(),
        **StoreRemoval(memory_stores, deadline.passed).handlers(),
        **Settling(memories).handlers(),
        **Receipts(memories).handlers(),
        **Lapsing(memories).handlers(),
    }


class Sweeping:
    """The Lambda handler of both jobs: `{"job": "sweep"}` and `{"job": "reconcile"}`."""

    def __init__(self, environ: Mapping[str, str], aws: Aws, clock: Clock) -> None:
        environment = Environment.of(environ)
        table, objects = Table(aws, environment.table_name), Objects(aws, environment.bucket_name)
        queues = (Queue(aws, url) for url in (environment.queue_url, environment.documents_queue_url))
        self._stores = Stores(table, objects, clock, *queues)
        self._meter = tenancy(environment, aws, clock).meter
        self._namespace = environment.powertools_metrics_namespace
        self._log = Logger(service=SERVICE)

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Run a job until it is done or the time is used up, and return what its log line says.

        Raises:
            ValueError: an unknown job.
            TableClosed: the table is being restored.
        """
        job = event.get("job")
        open_new(self._stores.table)
        whole = Deadline(context.get_remaining_time_in_millis, margin_ms=MARGIN_MS)
        if job == "sweep":
            return self._run(job, whole.within(SWEEP_MS))
        if job == "reconcile":
            self._rounds().plan()
            return self._run(job, whole)
        raise ValueError("The job is neither sweep nor reconcile.")

    def _run(self, job: str, deadline: Deadline) -> dict[str, Any]:
        stores = self._stores
        sweeper = Sweeper(stores.table, handlers(stores, deadline, self._meter), stores.clock)
        swept = sweeper.sweep(deadline, deep=job == "reconcile")
        walked = isolated("rounds", swept.faults, lambda: self._rounds().walk(deadline)) or Walked()
        isolated("usage", swept.faults, self._meter.flush)
        return self._tell(job, swept, walked)

    def _rounds(self) -> Rounds:
        table, objects, clock = self._stores.table, self._stores.objects, self._stores.clock
        ownership = Ownership(table, objects)
        steps: dict[str, Step] = {
            RENEW: Renewal(table, objects, clock, ownership=ownership),
            RECONCILE: Reconciliation(ownership, objects),
        }
        return Rounds(table, objects, steps, clock=clock)

    def _tell(self, job: str, swept: Swept, walked: Walked) -> dict[str, Any]:
        faults = swept.faults + walked.faults
        told: dict[str, Any] = {
            "job": job,
            "swept": swept.items,
            "unfinished": swept.unfinished,
            "removed": walked.removed,
            "renewed": walked.renewed,
            "errors": faults.total(),
            "lag_seconds": swept.lag_seconds(self._stores.clock.now_ms()),
            "complete": swept.complete and walked.complete,
        }
        for fault, times in faults.items():
            self._log.warning("could not", times=times, **fault.told())
        self._log.info("run", **told)
        self._measure(swept.items + walked.removed, told["errors"], told["lag_seconds"])
        return told

    def _measure(self, items: int, errors: int, lag: int) -> None:
        metrics = EphemeralMetrics(namespace=self._namespace, service=SERVICE)
        metrics.add_metric(name="SweptItems", unit=MetricUnit.Count, value=items)
        metrics.add_metric(name="SweepErrors", unit=MetricUnit.Count, value=errors)
        metrics.add_metric(name="SweepLag", unit=MetricUnit.Seconds, value=lag)
        metrics.flush_metrics()
