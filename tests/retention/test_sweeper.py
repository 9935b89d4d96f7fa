from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.writes import Put, Update
from shared.kernel.contention import LostRace
from shared.kernel.errors import Unavailable
from shared.retention.deadline import Deadline
from shared.retention.records import due_bucket, job, moved_bucket
from shared.retention.sweeper import HOUR_MS, STATE
from tests.emulator.faults import Fault, faults
from tests.retention.world import SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from tests.emulator.faults import Call
    from tests.retention.world import World


def add_job(world: World, kind: str, **payload: Any) -> Item:
    item = job(kind, SCOPE, world.clock.now_ms(), **payload)
    world.table.write(Put(item))
    return item


def jobs(world: World) -> list[Item]:
    keys = [(i["pk"]["S"], i["sk"]["S"]) for i in world.cloud.items() if i["sk"]["S"] == "job"]
    return [item for key in keys if (item := world.table.get(key))]


def passed(world: World) -> int:
    state = world.table.get(STATE)
    return state["passed"] if state else 0


def this_hour(world: World) -> int:
    return world.clock.now_ms() - world.clock.now_ms() % HOUR_MS


def test_a_job_is_handed_to_its_kind_once_and_its_row_goes(world: World) -> None:
    seen: list[Item] = []
    world.handlers["note"] = lambda item: seen.append(item) or True  # type: ignore[func-returns-value]
    made = add_job(world, "note", text="x")
    assert world.sweep().items == 1
    assert [item["text"] for item in seen] == ["x"]
    assert world.table.get((made["pk"], made["sk"])) is None
    assert world.sweep().items == 0


def test_what_is_due_later_in_this_hour_is_left_and_handled_in_its_time(world: World) -> None:
    world.clock.move(hours=0.5)
    world.write("t", "0001", 7)
    world.clock.move(days=7, hours=-0.25)
    swept = world.sweep()
    assert (swept.items, swept.unfinished, swept.lag_seconds(world.clock.now_ms())) == (0, 0, 0)
    world.clock.move(hours=0.25)
    assert world.sweep().items >= 1  # and maybe the job that it left behind
    world.sweep()
    world.check_nothing_is_left()


def test_a_task_written_again_is_not_taken_by_its_old_entry_in_the_lagging_index(world: World) -> None:
    world.write("t", "0001", 7)
    world.clock.move(days=6)
    with world.cloud.emulator.stale_global_indexes(world.cloud.table_name):
        world.write("t", "0002", 7)
        world.clock.move(days=2)
        assert world.sweep().items == 0
    world.check_nothing_is_lost()


def test_an_item_that_the_index_shows_only_later_is_found_within_the_slack(world: World) -> None:
    world.sweep()
    with world.cloud.emulator.stale_global_indexes(world.cloud.table_name):
        add_job(world, "remove_object", object="r30/20261119/acme/demo/X")
        world.clock.move(hours=2.9)
        assert world.sweep().items == 0
    assert world.sweep().items == 1


def test_what_was_missed_for_days_is_found_by_a_deep_run(world: World) -> None:
    add_job(world, "remove_object", object="r30/20261119/acme/demo/X")
    world.clock.move(days=4)
    world.table.write(Update(STATE, put={"passed": this_hour(world)}))
    assert world.sweep().items == 0
    assert world.sweep(deep=True).items == 1


def test_the_watermark_passes_full_hours_only(world: World) -> None:
    world.sweep()
    assert passed(world) == this_hour(world)
    world.clock.move(hours=0.5)
    before = passed(world)
    world.sweep()
    assert passed(world) == before
    world.clock.move(hours=0.6)
    world.sweep()
    assert passed(world) == before + HOUR_MS


def test_the_watermark_never_goes_back(world: World) -> None:
    world.sweep()
    ahead = passed(world) + 5 * HOUR_MS
    world.table.write(Update(STATE, put={"passed": ahead}))
    world.sweep()
    assert passed(world) == ahead


def test_after_an_outage_the_sweeper_catches_up_step_by_step(world: World) -> None:
    world.sweep()
    world.write("a", "0001", 7)
    world.clock.move(days=13)
    world.write("b", "0001", 7)
    world.clock.move(days=30)
    runs = 0
    while not (swept := world.sweep()).complete:
        assert swept.lag_seconds(world.clock.now_ms()) > 0
        runs += 1
        assert runs < 10
    world.sweep()
    world.check_nothing_is_left()
    assert runs > 2
    assert passed(world) == this_hour(world)


def poisoned(item: Item) -> bool:
    raise ValueError(item["secret"])


def test_a_poisoned_item_is_kept_counted_and_never_stops_the_others(world: World) -> None:
    world.handlers["poison"] = poisoned
    add_job(world, "poison", secret="alice@example.org")
    done = [add_job(world, "remove_object", object="r30/20261119/acme/demo/X") for _ in range(20)]
    swept = world.sweep()
    assert (swept.items, swept.faults.total()) == (len(done), 1)
    (fault,) = swept.faults
    assert (fault.work, fault.error) == ("poison", "ValueError")
    assert "alice" not in str(fault.told())
    (kept,) = jobs(world)
    assert kept["attempts"] == 1


def test_a_poisoned_item_does_not_hold_the_watermark_and_shows_in_the_lag(world: World) -> None:
    world.handlers["poison"] = poisoned
    add_job(world, "poison", secret="s")
    for _ in range(50):
        swept = world.sweep()
        assert swept.unfinished == 1
        world.clock.move(hours=0.5)
    assert swept.lag_seconds(world.clock.now_ms()) == 25 * 3600
    assert passed(world) >= this_hour(world) - HOUR_MS
    (kept,) = jobs(world)
    assert 20 <= kept["attempts"] <= 30  # after three prompt ones, once an hour
    del world.handlers["poison"]
    world.handlers["poison"] = lambda _: True
    world.clock.move(hours=2)
    assert world.sweep().items == 1


def test_an_item_of_an_unknown_kind_is_kept_for_a_version_that_knows_it(world: World) -> None:
    add_job(world, "from_the_future")
    swept = world.sweep()
    assert [fault.error for fault in swept.faults] == ["UnknownKind"]
    world.handlers["from_the_future"] = lambda _: True
    assert world.sweep().items == 1


def test_a_handler_that_is_not_finished_is_called_again_with_the_next_run(world: World) -> None:
    left = [3]

    def piece(_: Item) -> bool:
        left[0] -= 1
        return left[0] == 0

    world.handlers["long"] = piece
    add_job(world, "long")
    for _ in range(2):
        swept = world.sweep()
        assert (swept.items, swept.unfinished, swept.faults.total()) == (0, 1, 0)
        world.clock.move(hours=3)
    assert world.sweep().items == 1
    assert not jobs(world)


def test_a_lost_race_is_no_error(world: World) -> None:
    def lose(_: Item) -> bool:
        raise LostRace

    world.handlers["racing"] = lose
    add_job(world, "racing")
    swept = world.sweep()
    assert (swept.unfinished, swept.faults.total()) == (1, 0)


def test_an_item_renewed_while_it_failed_keeps_its_new_place(world: World) -> None:
    def renew_and_fail(item: Item) -> bool:
        later = moved_bucket(item["due"], world.clock.now_ms() + 90 * HOUR_MS)
        world.table.write(Update((item["pk"], item["sk"]), put={"due": later}))
        raise Unavailable

    world.handlers["renewed"] = renew_and_fail
    made = add_job(world, "renewed")
    world.clock.move(hours=2)
    world.sweep()
    kept = world.table.get((made["pk"], made["sk"]))
    assert kept is not None
    assert kept["due"] == moved_bucket(made["due"], world.clock.now_ms() + 90 * HOUR_MS)
    assert "attempts" not in kept
    assert world.sweep().unfinished == 0


def throttled_for(kind: str) -> Callable[[Call], Fault | None]:
    return lambda call: Fault.THROTTLED if call.operation == kind else None


@pytest.mark.parametrize("operation", ["TransactWriteItems", "DeleteObject", "BatchGetItem", "Query", "UpdateItem"])
@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.APPLIED_TIMEOUT])
def test_an_outage_of_one_operation_loses_nothing(world: World, operation: str, fault: Fault) -> None:
    for n in range(6):
        world.write(f"t{n}", "0001", 7)
    world.write("lives", "0001", 30)
    world.clock.move(days=8)
    with faults(lambda call: fault if call.operation == operation else None):
        swept = world.sweep()
        assert swept.faults.total() > 0
        world.clock.move(hours=3)
        world.sweep()
    world.check_nothing_is_lost()
    for _ in range(4):
        world.clock.move(hours=1.1)
        world.sweep()
    world.check_nothing_is_left()


def test_throttles_on_some_items_do_not_stop_the_others(world: World) -> None:
    chosen = iter(range(10_000))
    for n in range(20):
        world.write(f"t{n}", "0001", 7)
    world.clock.move(days=8)

    def some(call: Call) -> Fault | None:
        throttled = call.operation == "TransactWriteItems" and next(chosen) // 3 % 4 == 0
        return Fault.THROTTLED if throttled else None

    with faults(some):
        swept = world.sweep()
    assert swept.items > 8
    world.sweep()
    world.sweep()
    world.check_nothing_is_left()


def test_two_sweepers_at_once_do_no_harm(world: World) -> None:
    for n in range(30):
        world.write(f"t{n}", "0001", 7)
        world.write(f"l{n}", "0001", 30)
    world.clock.move(days=8)
    start = threading.Barrier(2)
    errors: list[int] = []

    def sweep() -> None:
        start.wait()
        errors.extend(world.sweep().faults.total() for _ in range(3))

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(errors) == 0
    world.check_nothing_is_lost()
    world.check_nothing_is_left()


class CountedTime:
    """A Lambda whose remaining time is measured in items handled: `left` more, then it must stop."""

    def __init__(self, left: int) -> None:
        self.left = left

    def remaining(self) -> int:
        return self.left

    def __call__(self, _: Item) -> bool:
        self.left -= 1
        return True


def test_a_run_stops_before_its_deadline_and_the_next_goes_on_where_it_stopped(world: World) -> None:
    world.sweep()
    for hour in range(6):
        for _ in range(10):
            add_job(world, "count")
        if hour < 5:
            world.clock.move(hours=1)
    handled, complete = 0, False
    while not complete:
        time = CountedTime(left=17)
        world.handlers["count"] = time
        swept = world.sweep(Deadline(time.remaining, margin_ms=0))
        assert 0 < swept.items <= 17 + 8  # those in hand when the time was up
        handled, complete = handled + swept.items, swept.complete
        assert (swept.lag_seconds(world.clock.now_ms()) > 0) == (handled < 50)
    assert handled == 60
    assert not jobs(world)


def test_a_deadline_that_is_over_does_nothing_and_says_so(world: World) -> None:
    add_job(world, "remove_object", object="r30/20261119/acme/demo/X")
    swept = world.sweep(Deadline(lambda: 0))
    assert (swept.items, swept.complete) == (0, False)
    assert passed(world) == 0
    assert world.sweep().items == 1


def test_ten_thousand_due_items_are_handled_over_several_runs(world: World) -> None:
    moment = world.clock.now_ms()
    rows: list[dict[str, Any]] = []
    for n in range(10_000):
        due = due_bucket(moment + (n % 2) * HOUR_MS, f"{n}")
        rows.append({"pk": {"S": f"N#{n}"}, "sk": {"S": "n"}, "kind": {"S": "many"}, "due": {"S": due}})
    for start in range(0, len(rows), 25):
        requests: Any = {world.table.name: [{"PutRequest": {"Item": row}} for row in rows[start : start + 25]]}
        world.cloud.aws.dynamodb.batch_write_item(RequestItems=requests)
    world.clock.move(hours=3)
    handled: set[str] = set()
    lock = threading.Lock()
    left, table = [0], world.cloud.table

    def many(item: Item) -> bool:
        with lock:
            assert item["pk"] not in handled
            handled.add(item["pk"])
            left[0] -= 1
            table.discard(table.key_of(rows[int(item["pk"][2:])]))  # not by a call: ten thousand take half a minute
        return True

    world.handlers["many"] = many
    runs = 0
    while len(handled) < len(rows):
        left[0] = 2_500
        assert not world.sweep(Deadline(lambda: left[0], margin_ms=0)).faults
        runs += 1
        assert runs < 8
    assert runs > 2


def test_an_old_entry_of_the_lagging_index_does_not_bring_work_forward(world: World) -> None:
    made = add_job(world, "note")
    world.handlers["note"] = lambda _: True
    with world.cloud.emulator.stale_global_indexes(world.cloud.table_name):
        later = moved_bucket(made["due"], world.clock.now_ms() + 5 * HOUR_MS)
        world.table.write(Update((made["pk"], made["sk"]), put={"due": later}))
        assert world.sweep().items == 0
    world.clock.move(hours=5)
    assert world.sweep().items == 1
