"""A worker that dies anywhere: the next delivery finishes its task, and nothing is lost, doubled or left behind."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from shared.memories.indexing import passages_of
from shared.memories.records import UserAddress
from shared.memories.rows import memory_id_of
from shared.memories.texts import text_of
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.fakes import Failing
from tests.memories.works import SCOPE, answered, said, works

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.emulator.faults import Call
    from tests.memories.works import Works

LONG = "a very long note " * 2500
VISIBLE_AGAIN_MS = 31_000


@pytest.fixture(scope="module")
def world() -> Iterator[Works]:
    with works() as made:
        yield made


class Case:
    """One user with a past, and an add that adds, changes and forgets: also in what was said of it before."""

    numbers = count()

    def __init__(self, world: Works) -> None:
        self.world = world
        self.user = f"user {next(self.numbers)}"
        self.address = UserAddress(SCOPE, self.user)
        before = world.add("city: Berlin. pet: cat. shoe: 44.", "Nothing else.", address=self.address)
        assert before["status"] == "success"
        self.task = world.task(
            said("city: Madrid. tea: green. Forget: pet: cat. city: Madrid."),
            answered(LONG),
            address=self.address,
        )

    def deliver(self, **other: object) -> None:
        self.world.deliver(self.task, **other)

    def finish(self) -> None:
        self.world.clock.move(ms=VISIBLE_AGAIN_MS)
        self.world.deliver(self.task)
        self.check()

    def check(self) -> None:
        world = self.world
        task = world.row(self.task)
        assert task["status"] == "success", task
        assert sorted(world.facts(self.address)) == ["Nothing else.", "city: Madrid.", "shoe: 44.", "tea: green."]
        before, now = world.texts("summary", self.address)
        assert before == "shoe: 44. Nothing else."
        assert now.startswith("city: Madrid. tea: green. city: Madrid.")
        own = "city: Madrid. tea: green. city: Madrid."
        assert world.texts("raw", self.address) == ["city: Berlin. shoe: 44.", "Nothing else.", own, LONG]
        events = [e["event"] for e in task["events"]]
        assert events == ["ADD", "UPDATE", "ADD", "DELETE", "ADD", "ADD", *["UPDATE"] * 3]
        self._check_past()
        self._check_index()

    def _check_past(self) -> None:
        world = self.world
        city = next(r for r in world.rows(self.address, "fact") if r["text"] == "city: Madrid.")
        past = world.past(memory_id_of(city), self.address)
        assert [(p["event"], p.get("text")) for p in past] == [("ADD", "city: Berlin."), ("NONE", None)]
        corrected = {memory_id_of(r) for kind in ("summary", "raw") for r in world.rows(self.address, kind)}
        past = [p for p in world.all_past(self.address) if p["memory"] in corrected]
        assert [(p["event"], p["text"]) for p in past] == [("ADD", None)] * 3
        others = corrected | {memory_id_of(city)}
        forgotten = [p for p in world.all_past(self.address) if p["memory"] not in others]
        assert [(p["event"], p.get("text")) for p in forgotten] == [("ADD", None), ("DELETE", None)]

    def _check_index(self) -> None:
        world = self.world
        rows = world.rows(self.address)
        kept = [(row, text_of(world.objects, row)) for row in rows]
        expected = {p.id for p in passages_of(kept, world.embedder)}
        assert world.index.clear(self.address.owner, 1) == len(expected)


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_at_any_call_of_aws(world: Works, *, applied: bool) -> None:
    for step in count(1):
        case = Case(world)
        with kill_at(step, applied=applied) as calls, suppress(Killed):
            world.deliver(case.task)
        if calls.total < step:
            break
        case.finish()
    case.check()
    assert step > 10


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("what", ["index", "extractor", "embedder", "decider"])
def test_at_any_call_of_the_index_or_a_model(world: Works, what: str, *, after: bool) -> None:
    for step in count(1):
        case = Case(world)
        failing = Failing(getattr(world, what), dies_at(step), after=after)
        with suppress(Killed):
            case.deliver(**{what: failing})
        if len(failing.calls) < step:
            break
        case.finish()
    case.check()
    assert step > 1


def test_again_and_again_each_time_a_call_later(world: Works) -> None:
    case = Case(world)
    for step in (1, 5, 9):  # a death without progress is a strike, and there are three
        with kill_at(step), suppress(Killed):
            case.deliver()
        world.clock.move(ms=VISIBLE_AGAIN_MS)
    case.finish()


@pytest.mark.parametrize("operation", ["TransactWriteItems", "UpdateItem", "PutObject"])
def test_answers_that_are_lost_change_nothing(world: Works, operation: str) -> None:
    for step in count(1):
        case = Case(world)
        seen = count(1)

        def lose(call: Call, seen: Iterator[int] = seen, step: int = step) -> Fault | None:
            return Fault.APPLIED_TIMEOUT if call.operation == operation and next(seen) == step else None

        with faults(lose):
            case.deliver()
        case.check()
        if next(seen) <= step:
            break


def dies_at(step: int) -> Callable[[str], BaseException | None]:
    numbers = count(1)
    return lambda _: Killed() if next(numbers) == step else None
