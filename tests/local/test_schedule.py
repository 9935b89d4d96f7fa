"""Functions run when the template says."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.instances import Instances
from infra.local.schedule import Scheduler, next_run
from infra.local.stack import Function, Schedule
from infra.local.template import TemplateNotUnderstood

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2026, 11, 30, 2, 17, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("rate(5 minutes)", START + timedelta(minutes=5)),
        ("rate(1 hour)", START + timedelta(hours=1)),
        ("rate(2 days)", START + timedelta(days=2)),
        ("cron(17 2 * * ? *)", datetime(2026, 12, 1, 2, 17, tzinfo=UTC)),
        ("cron(18 2 * * ? *)", datetime(2026, 11, 30, 2, 18, tzinfo=UTC)),
        ("cron(5 * * * ? *)", datetime(2026, 11, 30, 3, 5, tzinfo=UTC)),
        ("cron(0 0 * * ? *)", datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_the_next_run_follows_from_the_expression(expression: str, due: datetime) -> None:
    assert next_run(expression, START) == due


@pytest.mark.parametrize("expression", ["cron(0/5 * * * ? *)", "at(2026-01-01T00:00:00)", "rate(5 fortnights)", ""])
def test_an_expression_of_another_form_is_refused(expression: str) -> None:
    with pytest.raises(TemplateNotUnderstood):
        next_run(expression, START)


def instances(handler: Callable[[dict[str, Any], Any], Any]) -> Instances:
    return Instances(Function("Sweeper", "x.handler", {}, 900, 128), lambda: handler)


def test_what_is_due_runs_with_its_input_and_is_due_again_later() -> None:
    clock = [START]
    seen: list[tuple[dict[str, Any], int]] = []
    sweeper = instances(lambda event, context: seen.append((event, context.get_remaining_time_in_millis() // 100_000)))
    often = (Schedule("rate(5 minutes)", '{"job":"sweep"}'), sweeper)
    nightly = (Schedule("cron(19 2 * * ? *)", '{"job":"reconcile"}'), sweeper)
    scheduler = Scheduler([often, nightly], now=lambda: clock[0])
    scheduler.run_due()
    assert seen == []
    clock[0] += timedelta(minutes=2)
    scheduler.run_due()
    assert seen == [({"job": "reconcile"}, 8)]
    clock[0] += timedelta(minutes=4)
    scheduler.run_due()
    clock[0] += timedelta(minutes=5)
    scheduler.run_due()
    assert [event["job"] for event, _ in seen] == ["reconcile", "sweep", "sweep"]


def test_a_run_that_fails_does_not_stop_the_schedule() -> None:
    clock = [START]
    runs = []

    def failing(_event: dict[str, Any], _context: Any) -> None:
        runs.append(1)
        raise RuntimeError

    scheduler = Scheduler([(Schedule("rate(1 minute)", "{}"), instances(failing))], now=lambda: clock[0])
    for _ in range(3):
        clock[0] += timedelta(minutes=1, seconds=1)
        scheduler.run_due()
    assert len(runs) == 3


def test_the_thread_waits_until_something_is_due_and_ends_when_it_is_told() -> None:
    ran = threading.Event()
    clock = iter([START, *[START + timedelta(minutes=2)] * 20])
    scheduler = Scheduler(
        [(Schedule("rate(1 minute)", "{}"), instances(lambda *_: ran.set()))],
        now=lambda: next(clock, START + timedelta(minutes=2)),
    )
    scheduler.start()
    assert ran.wait(60)
    scheduler.stop()
    scheduler._thread.join(60)
    assert not scheduler._thread.is_alive()
