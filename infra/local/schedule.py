"""The template's schedules: EventBridge's `rate(…)`, and `cron(…)` at a minute of every day or hour, in UTC."""

from __future__ import annotations

import heapq
import json
import logging
import re
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from infra.local.instances import FunctionFailed
from infra.local.template import TemplateNotUnderstood

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from infra.local.instances import Instances
    from infra.local.stack import Schedule

RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
CRON = re.compile(r"cron\((\d+) (\d+|\*) [*?] \* [*?] \*\)")

log = logging.getLogger(__name__)


def next_run(expression: str, after: datetime) -> datetime:
    """Return when a schedule runs next.

    Raises:
        TemplateNotUnderstood: an expression of another form.
    """
    if rate := RATE.fullmatch(expression):
        return after + timedelta(**{f"{rate[2]}s": int(rate[1])})
    if cron := CRON.fullmatch(expression):
        daily = cron[2] != "*"
        first = after.replace(minute=int(cron[1]), second=0, microsecond=0)
        first = first.replace(hour=int(cron[2])) if daily else first
        step = timedelta(days=1) if daily else timedelta(hours=1)
        return first if first > after else first + step
    raise TemplateNotUnderstood(f"{expression} is a schedule that the local run does not know")


def _now() -> datetime:
    return datetime.now(UTC)


class Scheduler:
    """Runs functions on their schedules in one thread, which sleeps until the next one is due."""

    def __init__(self, schedules: Iterable[tuple[Schedule, Instances]], now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="scheduler", daemon=True)
        self._due = [
            (next_run(schedule.expression, now()), number, schedule, instances)
            for number, (schedule, instances) in enumerate(schedules)
        ]
        heapq.heapify(self._due)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Run nothing any more; what runs now is left to itself."""
        self._stopped.set()

    def _work(self) -> None:
        while self._due and not self._stopped.wait(max(0.0, (self._due[0][0] - self._now()).total_seconds())):
            self.run_due()

    def run_due(self) -> None:
        """Run what is due by now."""
        now = self._now()
        while self._due and self._due[0][0] <= now:
            _, number, schedule, instances = heapq.heappop(self._due)
            try:
                instances.run(json.loads(schedule.input))
            except FunctionFailed:
                log.warning("a scheduled run failed", extra={"function": instances.function.name})
            heapq.heappush(self._due, (next_run(schedule.expression, self._now()), number, schedule, instances))
