"""A hundred days of writes, deletes, crashes, sweeps and lifecycle rules, with a moved clock."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.kernel.clock import DAY_MS
from shared.retention.records import DAYS
from tests.emulator.ageing import s3_clock
from tests.emulator.cloud import emulated_cloud
from tests.retention.world import MovedClock, World


def test_over_a_hundred_days_nothing_alive_is_lost_and_nothing_past_its_time_stays(world: World) -> None:
    chance = random.Random(20261119)
    days_of = {f"t{n}": DAYS[n % 4] for n in range(12)}
    written: dict[str, set[str]] = {name: set() for name in days_of}
    orphans: dict[str, int] = {}
    for day in range(100):
        for name, days in days_of.items():
            # Some are written to often, some now and then; all rest from day 60 on but two.
            busy = chance.random() < (0.5 if name in {"t0", "t1"} else 0.12 if day < 60 else 0)
            if busy or day == 0:
                part = f"{chance.randrange(4):04d}"
                world.clock.move(hours=chance.random())
                world.write(name, part, days)
                written[name].add(part)
        if chance.random() < 0.1 and world.living():
            world.delete(chance.choice(sorted(world.living())))
        if chance.random() < 0.3:
            key = world.store(chance.choice(DAYS), world.part_key("t0", "0001"))
            orphans[key] = world.clock.now_ms() // DAY_MS
        world.next_night()
        world.check_nothing_is_lost()
        today = world.clock.now_ms() // DAY_MS
        kept = set(world.cloud.object_keys())
        assert not [key for key, made in orphans.items() if key in kept and made <= today - 2]
    assert all(len(parts) > 1 for parts in written.values())
    world.settle()
    world.check_nothing_is_left()


@pytest.mark.parametrize("days", DAYS)
@pytest.mark.parametrize("night", [1, 2, 3])
def test_one_of_the_three_nights_before_a_rule_is_enough(world: World, days: int, night: int) -> None:
    world.write("t", "0001", days)
    world.clock.move(days=days - 1)
    world.write("t", "0002", days)
    world.clock.move(days=night)  # into the day before that night
    world.next_night()
    world.clock.move(days=4 - night)
    world.midnight()
    world.check_nothing_is_lost()
    world.settle()
    world.check_nothing_is_left()


def test_without_the_sweeper_the_rules_take_what_lives_and_the_world_notices(world: World) -> None:
    world.write("t", "0001", 7)
    world.clock.move(days=6)
    world.write("t", "0002", 7)
    world.clock.move(days=5)
    assert len(world.midnight()) == 1
    with pytest.raises(AssertionError, match="t 0001 has lost its object"):
        world.check_nothing_is_lost()


STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from("ab"), st.sampled_from("12"), st.just(7)),
    st.tuples(st.just("delete"), st.sampled_from("ab")),
    st.tuples(st.just("orphan"), st.just(7)),
    st.tuples(st.just("hours"), st.integers(1, 30)),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("nights"), st.integers(1, 5)),
)


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(st.lists(STEPS, max_size=16))
def test_whatever_the_schedule_nothing_alive_is_lost_and_in_the_end_all_is_gone(steps: list[tuple]) -> None:
    with emulated_cloud() as cloud, s3_clock(clock := MovedClock()):
        world = World(cloud, clock)
        for name, *given_ in steps:
            _take(world, name, given_)
            world.check_nothing_is_lost()
        world.settle(nights=12)
        assert not world.living()
        world.check_nothing_is_left()


def _take(world: World, name: str, given_: list) -> None:
    takes = {
        "write": lambda *part: None if _is_past_its_time(world, part[0]) else world.write(*part),
        "delete": lambda task: world.delete(task) if task in world.living() else None,
        "orphan": lambda days: world.store(days, world.part_key("a", "1")),
        "hours": lambda hours: _pass(world, hours),
        "sweep": world.sweep,
        "nights": lambda nights: [world.next_night() for _ in range(nights)],
    }
    takes[name](*given_)


def _pass(world: World, hours: int) -> None:
    before = world.clock.now // DAY_MS
    world.clock.move(hours=hours)
    if world.clock.now // DAY_MS > before:
        world.midnight()


def _is_past_its_time(world: World, task: str) -> bool:
    life = world.lives.get(task)
    return life is not None and life.retain_until <= world.clock.now_ms()
