"""The sweeper dies at every AWS call in turn; what is stored afterwards must come out the same.

It dies after the call was applied, before it knows: that is also death before the next call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.kernel.clock import DAY_MS
from tests.emulator.ageing import s3_clock
from tests.emulator.cloud import emulated_cloud
from tests.emulator.faults import Killed, kill_at
from tests.retention.world import NEVER, MovedClock, World

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("few_rounds")


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk through two classes only: the scenes have no others, and each listing is one more death."""
    monkeypatch.setattr("shared.retention.rounds.DAYS", (7,))
    monkeypatch.setattr("shared.retention.rounds.CLASSES", ("r7", "keep"))


def expiring(world: World) -> None:
    """Make tasks of which one expires, one is deleted, one has replaced a part, and one lives."""
    world.write("expires", "0001", 7)
    world.write("expires", "0002", 7)
    world.clock.move(days=7, hours=-0.5)
    world.skip_to_now()
    world.write("lives", "0001", 30)
    world.write("lives", "0001", 30)
    world.write("deleted", "0001", 30)
    world.delete("deleted")
    world.clock.move(hours=1)


def orphaned(world: World) -> None:
    """Make orphans of yesterday's yesterday beside what is owned."""
    world.night()
    world.write("lives", "0001", 7)
    for _ in range(2):
        world.store(7, world.part_key("lives", "0001"))
    world.clock.move(days=2)
    world.skip_to_now()


def renewable(world: World) -> None:
    """Make a task whose older parts are past their class's days while it lives, with an orphan beside them."""
    world.write("lives", "0001", 7)
    world.write("lives", "0002", 7)
    world.store(7, world.part_key("lives", "0003"))
    world.clock.move(days=6)
    world.write("lives", "0003", 7)
    world.night()
    world.clock.move(days=2)
    world.skip_to_now()


def sweep(world: World) -> None:
    world.sweep()


def night(world: World) -> None:
    world.night()


SCENES = [(expiring, sweep), (orphaned, night), (renewable, night)]


@pytest.mark.parametrize(("prepare", "work"), SCENES, ids=["sweep", "reconcile", "renew"])
def test_killed_at_any_call_the_next_runs_come_to_the_same_end(
    prepare: Callable[[World], None], work: Callable[[World], None]
) -> None:
    number, survived = 0, False
    while not survived:
        number += 1
        with emulated_cloud() as cloud, s3_clock(clock := MovedClock()):
            world = World(cloud, clock)
            prepare(world)
            survived = _survives(world, work, number)
            world.check_nothing_is_lost()
            _recover(world, work)
            world.check_nothing_is_lost()
            _end(world)
    assert number > 9


def _survives(world: World, work: Callable[[World], None], number: int) -> bool:
    with kill_at(number, applied=True) as calls:
        try:
            work(world)
        except Killed:
            return False
    assert calls.total < number
    return True


def _recover(world: World, work: Callable[[World], None]) -> None:
    """Do it again, and what a later run of the sweeper does."""
    work(world)
    world.rounds().walk(NEVER)
    world.clock.move(hours=3)
    world.sweep()


def _end(world: World) -> None:
    """After two nights no orphan is left, not even of the crash, and no rule took what lives."""
    before = world.clock.now_ms()
    for _ in range(2):
        world.next_night()
        world.check_nothing_is_lost()
    world.clock.move(hours=20)
    world.sweep()
    world.check_nothing_is_left()
    assert world.clock.now_ms() - before < 3 * DAY_MS
