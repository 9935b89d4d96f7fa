from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shared.aws.writes import Put, Update
from shared.kernel.clock import DAY_MS, day_of
from shared.kernel.contention import LostRace
from shared.kernel.ids import ulid
from shared.retention.deadline import Deadline
from shared.retention.records import DAYS, KEEP, job, object_key, owner_of, scope_of
from shared.retention.rounds import CLASSES, STATE
from tests.emulator.faults import Fault, faults, recorded
from tests.retention.world import NEVER, SCOPE, World

if TYPE_CHECKING:
    from shared.aws.objects import Head
    from shared.aws.writes import Write
    from tests.emulator.faults import Call


class Calls:
    """A Lambda whose remaining time is measured in the times it is asked for."""

    def __init__(self, left: int) -> None:
        self.left = left

    def remaining(self) -> int:
        self.left -= 1
        return self.left


def plant(world: World, count: int, class_name: str = "r30") -> list[str]:
    """Store orphans of today."""
    keys = [object_key(class_name, world.clock.now_ms(), SCOPE) for _ in range(count)]
    for key in keys:
        world.objects.put(key, b"lost", owner=owner_of(world.part_key("never", "0001")))
    return keys


@pytest.mark.parametrize("class_name", CLASSES)
def test_orphans_of_every_class_are_gone_two_days_later_and_not_before(world: World, class_name: str) -> None:
    planted = set(plant(world, 3, class_name))
    world.clock.move(days=1)
    world.night()
    assert planted <= set(world.cloud.object_keys())
    world.clock.move(days=1)
    assert world.night().removed == 3
    assert not world.cloud.object_keys()


def test_an_object_without_an_owner_in_its_metadata_is_owned_by_nobody(world: World) -> None:
    for owner in ("", "x", "|x", "x|", f"P|{'s' * 1025}"):
        key = object_key("keep", world.clock.now_ms(), SCOPE)
        world.objects.put(key, b"lost", owner=owner)
    uploaded = object_key("up", world.clock.now_ms(), SCOPE)
    world.cloud.aws.s3.put_object(Bucket=world.objects.bucket, Key=uploaded, Body=b"by a client")
    world.clock.move(days=2)
    assert world.night().removed == 6


def test_an_object_that_its_record_no_longer_names_goes_and_the_newer_one_stays(world: World) -> None:
    world.write("t", "0001", 30)
    stray = world.store(30, world.part_key("t", "0001"))
    world.clock.move(days=2)
    assert world.night().removed == 1
    assert stray not in world.cloud.object_keys()
    world.check_nothing_is_lost()


def test_reconciliation_lists_single_days_and_never_the_bucket(world: World) -> None:
    prefixes = []
    world.night()
    world.clock.move(days=1)
    original = world.objects.list
    world.objects.list = lambda prefix, **rest: prefixes.append(prefix) or original(prefix, **rest)  # type: ignore[method-assign, func-returns-value]
    world.night()
    day = day_of(world.clock.now_ms() - 2 * DAY_MS)
    assert {f"{c}/{day}/" for c in CLASSES} <= set(prefixes)
    assert len(prefixes) == len(CLASSES) + 3 * len(DAYS)
    assert all(prefix.count("/") == 2 for prefix in prefixes)


def test_the_erasure_log_is_never_touched(world: World) -> None:
    key = f"{KEEP}/erasures/{day_of(world.clock.now_ms())}/{ulid(world.clock.now_ms())}"
    world.objects.put(key, b"{}", owner="erasures")
    for _ in range(4):
        world.next_night()
    assert world.cloud.object_keys() == [key]


def test_every_missed_day_is_made_up_for(world: World) -> None:
    world.night()
    for _ in range(20):
        plant(world, 1, KEEP)
        world.clock.move(days=1)
    world.night()
    left = world.cloud.object_keys()
    assert [key.split("/")[1] for key in left] == [day_of(world.clock.now_ms() - DAY_MS)]


def test_an_outage_of_many_days_is_planned_in_bounded_portions(world: World) -> None:
    world.night()
    planted = plant(world, 1, KEEP)
    world.clock.move(days=100)
    newer = plant(world, 1, KEEP)
    world.clock.move(days=2)
    world.night()
    assert world.cloud.object_keys() == newer
    world.night()
    assert world.cloud.object_keys() == []
    assert planted


def test_a_run_out_of_time_goes_on_where_it_was(world: World) -> None:
    plant(world, 450)
    world.clock.move(days=2)
    world.rounds().plan()
    removed, runs = 0, 0
    while True:
        walked = world.rounds().walk(Deadline(Calls(3).remaining, margin_ms=0))
        removed += walked.removed
        runs += 1
        assert walked.removed <= 200
        if walked.complete:
            break
    assert removed == 450
    assert runs > 4


def test_what_was_settled_before_a_run_ended_is_not_looked_at_again(world: World) -> None:
    for n in range(150):
        world.write("t", f"{n:04d}", 30)
    world.clock.move(days=2)
    world.rounds().plan()
    with recorded() as calls:
        while not world.rounds().walk(Deadline(Calls(2).remaining, margin_ms=0)).complete:
            pass
    assert calls.names.count("s3.HeadObject") == 150


def test_two_runs_at_once_do_no_harm(world: World) -> None:
    for n in range(120):
        world.write(f"t{n}", "0001", 30)
    plant(world, 120)
    world.clock.move(days=2)
    world.rounds().plan()
    start = threading.Barrier(2)

    def walk() -> None:
        start.wait()
        world.rounds().walk(NEVER)

    threads = [threading.Thread(target=walk) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    world.rounds().walk(NEVER)
    world.check_nothing_is_lost()
    world.check_nothing_is_left()


def test_a_plan_made_while_another_run_saves_is_not_lost(world: World) -> None:
    plant(world, 1)
    world.clock.move(days=2)
    once = []

    def meddle(call: Call) -> None:
        if call.operation == "PutItem" and not once:
            once.append(1)
            world.rounds().plan()

    with faults(meddle):
        world.rounds().plan()
    assert once
    assert world.rounds().walk(NEVER).removed == 1


def test_a_walk_under_way_does_not_undo_a_newer_plan(world: World) -> None:
    plant(world, 1)
    world.clock.move(days=1)
    plant(world, 1)
    world.clock.move(days=1)
    world.rounds().plan()
    once = []

    def plan_tomorrow(call: Call) -> None:
        if call.operation == "HeadObject" and not once:
            once.append(1)
            world.clock.move(days=1)
            world.rounds().plan()

    with faults(plan_tomorrow):
        assert not world.rounds().walk(NEVER).complete
    assert world.rounds().walk(NEVER).complete
    assert world.cloud.object_keys() == []


def test_one_object_that_fails_stops_no_other_and_is_tried_again_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("t", "0001", 30)
    refused, *others = plant(world, 10)
    head = world.objects.head
    world.clock.move(days=2)

    def refuse_one(key: str) -> Head:
        if key == refused:
            raise PermissionError(key)
        return head(key)

    with monkeypatch.context() as patch:
        patch.setattr(world.objects, "head", refuse_one)
        walked = world.night()
    assert [(fault.work, fault.error) for fault in walked.faults.elements()] == [("head", "PermissionError")]
    assert walked.removed == len(others)
    assert world.rounds().walk(NEVER).removed == 0  # it rests
    world.clock.move(hours=0.6)
    assert world.rounds().walk(NEVER).removed == 1
    world.check_nothing_is_lost()
    world.check_nothing_is_left()


@pytest.mark.parametrize("operation", ["ListObjectsV2", "HeadObject", "BatchGetItem", "DeleteObjects", "DeleteObject"])
def test_an_outage_of_an_hour_only_delays_reconciliation(world: World, operation: str) -> None:
    world.write("t", "0001", 30)
    plant(world, 3)
    plant(world, 1, KEEP)
    world.clock.move(days=2)
    with faults(lambda call: Fault.SERVER_ERROR if call.operation == operation else None):
        walked = world.night()
        assert walked.faults.total() > 0
        world.clock.move(hours=1)
        world.rounds().walk(NEVER)
    world.clock.move(hours=3)
    world.rounds().walk(NEVER)
    world.check_nothing_is_lost()
    world.check_nothing_is_left()


def test_what_fails_for_days_is_given_up_after_twelve_tries(world: World) -> None:
    plant(world, 1)
    world.clock.move(days=2)
    world.rounds().plan()
    tries = 0
    with faults(lambda call: Fault.THROTTLED if call.operation == "HeadObject" else None):
        for _ in range(40):
            tries += world.rounds().walk(NEVER).faults.total()
            world.clock.move(hours=2)
    assert tries == 12
    state = world.table.get(STATE)
    assert state is not None
    assert state["rounds"] == []


def renewable(world: World) -> str:
    """Write a part whose day is over while its task lives, and return its key."""
    world.write("t", "0001", 30)
    (key,) = world.cloud.object_keys()
    world.clock.move(days=29)
    world.write("t", "0002", 30)
    world.clock.move(days=2)
    return key


def test_renewal_keeps_bytes_owner_and_class_and_moves_to_today(world: World) -> None:
    old = renewable(world)
    assert world.night().renewed == 1
    row = world.table.get(world.part_key("t", "0001"))
    assert row is not None
    assert row["object"].split("/")[:2] == ["r30", day_of(world.clock.now_ms())]
    assert scope_of(row["object"]) == SCOPE
    assert world.objects.head(row["object"]).metadata["owner"] == owner_of(world.part_key("t", "0001"))
    world.check_nothing_is_lost()
    assert world.objects.exists(old)


def test_the_old_object_stays_for_readers_under_way_and_goes_hours_later(world: World) -> None:
    old = renewable(world)
    world.night()
    world.clock.move(hours=1)
    world.sweep()
    assert world.objects.exists(old)
    world.clock.move(hours=2)
    world.sweep()
    assert not world.objects.exists(old)
    world.check_nothing_is_left()


def test_renewal_takes_the_class_that_the_record_has_now(world: World) -> None:
    renewable(world)
    world.table.write(Update(world.part_key("t", "0001"), put={"retention_days": 365}))
    world.night()
    row = world.table.get(world.part_key("t", "0001"))
    assert row is not None
    assert row["object"].startswith("r365/")


def test_what_was_replaced_while_it_was_copied_keeps_the_newer_object(world: World) -> None:
    renewable(world)
    once = []

    def replace_it(call: Call) -> None:
        if call.operation == "CopyObject" and not once:
            once.append(1)
            world.write("t", "0001", 30)

    with faults(replace_it):
        assert world.night().renewed == 0
    world.check_nothing_is_lost()
    world.clock.move(hours=3)
    world.sweep()
    world.check_nothing_is_left()


def test_what_was_deleted_while_it_was_copied_stays_deleted(world: World) -> None:
    renewable(world)
    once = []

    def delete_it(call: Call) -> None:
        if call.operation == "TransactWriteItems" and not once:
            once.append(1)
            world.delete("t")
            world.sweep()

    with faults(delete_it):
        assert world.night().renewed == 0
    world.clock.move(hours=3)
    world.sweep()
    assert not world.cloud.object_keys()
    world.check_nothing_is_left()


def test_a_switch_that_was_applied_though_it_seemed_lost_keeps_its_copy(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewable(world)
    transact, tries = world.table.transact, []

    def apply_and_lose(*writes: Write) -> None:
        tries.append(writes)
        transact(*writes)
        raise LostRace

    with monkeypatch.context() as patch:
        patch.setattr(world.table, "transact", apply_and_lose)
        assert world.night().renewed == 1
    assert len(tries) == 2
    world.check_nothing_is_lost()


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("operation", ["CopyObject", "TransactWriteItems"])
def test_an_outage_during_renewal_only_delays_it(world: World, operation: str, fault: Fault) -> None:
    renewable(world)
    with faults(lambda call: fault if call.operation == operation else None):
        world.night()
        world.check_nothing_is_lost()
    world.clock.move(hours=0.6)
    world.rounds().walk(NEVER)
    for _ in range(3):
        world.next_night()
        world.check_nothing_is_lost()
    world.clock.move(hours=3)
    world.sweep()
    world.check_nothing_is_left()


def test_a_removal_job_leaves_an_object_that_a_record_owns_after_all(world: World) -> None:
    world.write("t", "0001", 30)
    (key,) = world.cloud.object_keys()
    world.table.write(Put(job("remove_object", SCOPE, world.clock.now_ms(), object=key)))
    assert world.sweep().items == 1
    world.check_nothing_is_lost()
    world.check_nothing_is_left()
