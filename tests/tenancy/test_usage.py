from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from shared.kernel.scope import Scope
from shared.tenancy import background
from shared.wiring.environment import Environment
from shared.wiring.tenancy import flush_usage, tenancy
from tests.emulator.faults import Fault, faults

if TYPE_CHECKING:
    from tests.tenancy.desk import Desk

BLUE = Scope("acme", "blue")


def stored(desk: Desk, scope: Scope = BLUE) -> dict[str, dict[str, int]]:
    page = desk.tenancy.usage.of_project(scope, desk.issue().record)
    return page.projects[0].stored


def requests(desk: Desk, scope: Scope = BLUE) -> dict[str, int]:
    return desk.tenancy.usage.of_project(scope, desk.issue().record).projects[0].requests


def test_noting_costs_no_call_and_is_written_at_most_once_a_minute(desk: Desk) -> None:
    meter = desk.tenancy.meter
    desk.calls.clear()
    for _ in range(100):
        meter.note(BLUE, "projects", bytes=10, artifacts=1)
        meter.count_request(BLUE, "projects")
    assert desk.calls == []
    desk.deferred.run()
    assert desk.calls == ["dynamodb.UpdateItem"] * 2
    assert stored(desk) == {"projects": {"artifacts": 100, "bytes": 1000}}
    meter.note(BLUE, "projects", bytes=1)
    desk.deferred.run()
    assert stored(desk)["projects"]["bytes"] == 1000
    desk.clock.move(seconds=60)
    meter.note(BLUE, "projects", bytes=1)
    desk.deferred.run()
    assert stored(desk)["projects"]["bytes"] == 1002


def test_the_first_request_of_an_instance_leaves_its_trace_though_no_other_follows(desk: Desk) -> None:
    desk.tenancy.meter.count_request(BLUE, "projects")
    desk.deferred.run()
    desk.tenancy.meter.note(BLUE, "projects", bytes=7)
    desk.deferred.run()
    assert (requests(desk), stored(desk)) == ({"projects": 1}, {"projects": {"bytes": 7}})


def test_what_a_burst_of_writes_left_is_written_by_the_next_request_though_it_only_reads(desk: Desk) -> None:
    for size in (7, 8, 9):
        desk.tenancy.meter.note(BLUE, "projects", bytes=size)
        desk.deferred.run()
    assert stored(desk) == {"projects": {"bytes": 7}}
    desk.clock.move(seconds=60)
    desk.tenancy.meter.count_request(BLUE, "projects")
    desk.deferred.run()
    assert stored(desk) == {"projects": {"bytes": 24}}


def test_a_request_where_nothing_waits_to_be_written_writes_its_own_count_only(desk: Desk) -> None:
    desk.tenancy.meter.note(BLUE, "projects", bytes=7)
    desk.deferred.run()
    desk.clock.move(seconds=60)
    desk.calls.clear()
    desk.tenancy.meter.count_request(BLUE, "projects")
    desk.deferred.run()
    assert desk.calls == ["dynamodb.UpdateItem"]


def test_nothing_that_threads_note_together_is_lost(desk: Desk) -> None:
    def note(_: int) -> None:
        for _ in range(50):
            desk.tenancy.meter.note(BLUE, "projects", bytes=1)
            desk.tenancy.meter.flush()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(note, range(8)))
    assert stored(desk) == {"projects": {"bytes": 400}}


def test_what_could_not_be_written_is_kept_for_the_next_time(desk: Desk) -> None:
    desk.tenancy.meter.note(BLUE, "projects", bytes=5)
    with faults(lambda _: Fault.THROTTLED):
        desk.deferred.run()
    desk.tenancy.meter.note(BLUE, "projects", bytes=1)
    desk.tenancy.meter.flush()
    assert stored(desk) == {"projects": {"bytes": 6}}


def test_changes_of_nothing_write_nothing(desk: Desk) -> None:
    desk.tenancy.meter.note(BLUE, "projects", bytes=0)
    desk.calls.clear()
    desk.tenancy.meter.flush()
    assert desk.calls == []


def test_a_count_that_drifted_below_zero_is_shown_as_zero(desk: Desk) -> None:
    desk.tenancy.meter.note(BLUE, "projects", bytes=-5, tasks=1)
    desk.tenancy.meter.flush()
    assert stored(desk) == {"projects": {"bytes": 0, "tasks": 1}}


def test_all_functions_of_a_process_share_one_tenancy_and_its_end_writes_all(desk: Desk) -> None:
    environment = Environment.of(desk.cloud.environment("ProjectsFunction"))
    one, other = (tenancy(environment, desk.cloud.aws, desk.clock) for _ in range(2))
    assert one is other
    vars(desk.cloud.aws)["tenancies"] = {"only": one}
    one.meter.note(BLUE, "projects", bytes=3)
    one.meter.note(BLUE, "projects", bytes=4)
    flush_usage(desk.cloud.aws)
    assert stored(desk) == {"projects": {"bytes": 7}}


def test_what_runs_beside_requests_has_ended_when_the_process_does() -> None:
    done: list[int] = []
    for n in range(5):
        background.later(lambda n=n: done.append(n))  # type: ignore[misc]
    background.finish()
    assert done == [0, 1, 2, 3, 4]
