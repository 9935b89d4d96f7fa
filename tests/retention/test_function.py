from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from functions.platform import sweeper
from shared.aws.writes import Put
from shared.kernel.errors import Unavailable
from shared.retention.records import job
from tests.emulator.faults import Fault, faults
from tests.retention.world import SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.retention.world import World


def invoke(world: World, name: str, *, remaining: Callable[[], int] = lambda: 900_000) -> dict[str, Any]:
    environ = world.cloud.environment("SweeperFunction")
    context = SimpleNamespace(get_remaining_time_in_millis=remaining)
    told: dict[str, Any] = sweeper.build(environ, world.cloud.aws, world.clock)({"job": name}, context)
    return told


def add(world: World, kind: str, **payload: Any) -> None:
    world.table.write(Put(job(kind, SCOPE, world.clock.now_ms(), **payload)))


def test_a_sweep_does_due_work_and_tells_it_in_one_line(world: World, caplog: pytest.LogCaptureFixture) -> None:
    key = world.store(30, world.part_key("t", "0001"))
    add(world, "remove_object", object=key)
    told = invoke(world, "sweep")
    assert told == {
        "job": "sweep",
        "swept": 1,
        "unfinished": 0,
        "removed": 0,
        "renewed": 0,
        "errors": 0,
        "lag_seconds": 0,
        "complete": True,
    }
    assert world.cloud.object_keys() == []
    (line,) = caplog.records
    assert told.items() <= vars(line).items()


def test_its_metrics_are_those_that_the_alarms_watch(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    add(world, "unknown")
    world.clock.move(hours=1.5)
    invoke(world, "sweep")
    (emf,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert (emf["SweptItems"], emf["SweepErrors"], emf["SweepLag"]) == ([0], [1], [5400])
    (described,) = emf["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == world.cloud.environment("SweeperFunction")["POWERTOOLS_METRICS_NAMESPACE"]
    assert described["Dimensions"] == [["service"]]
    assert emf["service"] == "sweeper"


def test_an_error_is_told_with_its_code_and_without_data(world: World, caplog: pytest.LogCaptureFixture) -> None:
    add(world, "remove_object", object="r30/20261119/acme/demo/SECRET")
    with faults(lambda call: Fault.SERVER_ERROR if call.operation == "DeleteObject" else None):
        world.store(30, world.part_key("t", "0001"))
        add(world, "remove_object", object=world.cloud.object_keys()[0])
        assert invoke(world, "sweep")["errors"] == 1
    warning, _ = caplog.records
    told = {name: vars(warning)[name] for name in ("work", "error", "code", "times")}
    assert told == {"work": "remove_object", "error": "Unavailable", "code": "InternalError", "times": 1}
    assert "SECRET" not in str(vars(warning))
    assert "acme" not in str(vars(warning))


def test_the_nightly_job_plans_reconciles_and_renews(world: World) -> None:
    invoke(world, "reconcile")
    world.store(30, world.part_key("t", "0001"))
    world.clock.move(days=2)
    told = invoke(world, "reconcile")
    assert (told["removed"], told["complete"]) == (1, True)


def test_what_the_night_leaves_the_next_sweep_goes_on_with(world: World) -> None:
    for _ in range(3):
        world.store(30, world.part_key("t", "0001"))
    world.clock.move(days=2)
    assert invoke(world, "reconcile", remaining=lambda: 0)["complete"] is False
    assert len(world.cloud.object_keys()) == 3
    assert invoke(world, "sweep")["removed"] == 3


def test_a_run_that_can_not_read_where_it_was_fails_loudly(world: World) -> None:
    with faults(lambda _: Fault.THROTTLED), pytest.raises(Unavailable):
        invoke(world, "sweep")


def test_rounds_that_fail_do_not_hide_what_was_swept(world: World) -> None:
    add(world, "remove_object", object="r30/20261119/acme/demo/X")
    reads = iter(range(100))  # whether the table is open, and the watermark, can be read
    with faults(lambda call: Fault.THROTTLED if call.operation == "GetItem" and next(reads) > 1 else None):
        told = invoke(world, "sweep")
    assert (told["swept"], told["complete"]) == (1, False)
    assert told["errors"] >= 1


@pytest.mark.parametrize("event", [{}, {"job": "other"}])
def test_an_unknown_job_is_refused(world: World, event: dict[str, Any]) -> None:
    handler = sweeper.build(world.cloud.environment("SweeperFunction"), world.cloud.aws, world.clock)
    with pytest.raises(ValueError, match="neither sweep nor reconcile"):
        handler(event, SimpleNamespace(get_remaining_time_in_millis=lambda: 900_000))
