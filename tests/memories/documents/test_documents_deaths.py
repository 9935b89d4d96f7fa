"""Functions that die anywhere while they read and file, and calls that fail: nothing is lost, doubled or left."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from shared.kernel.clock import DAY_MS
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.documents.desk import desk_world, file, image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.emulator.faults import Call
    from tests.memories.documents.desk import Desk

OLD = "Cedar rules of old.\n\nThey are over."
NEW = "Cedar rules of now.\n\nThey hold.\n\nThey are three."
CAPTION = "An otter on a stone."


@pytest.fixture(scope="module")
def world() -> Iterator[Desk]:
    with desk_world() as made:
        yield made


class Case:
    """A user with a document, and an add with its next revision and an image."""

    numbers = count()

    def __init__(self, world: Desk) -> None:
        self.desk = replace(world, user=f"user {next(self.numbers)}", held=[])
        self.before = self.desk.added(file(OLD))["files"][0]
        self.task = self.desk.add(file(NEW), image(CAPTION), content_type="work")

    def run(self) -> None:
        while self.desk.step():
            pass

    def finish(self) -> None:
        self.desk.shelf.clock.move(ms=65_000)  # the lease of a dead worker is over
        self.desk.show_hidden()
        self.desk.work()
        told = self.desk.status(self.task)
        assert (told["status"], told["memory"]) == ("success", {"total": 4}), told
        (one,) = told["files"]
        assert (one["document_id"], one["revision"], one["chunks_done"]) == (self.before["document_id"], 2, 3)
        assert sorted(self.desk.found("cedar rules they", min_semantic_similarity=0)) == sorted(NEW.split("\n\n"))
        assert self.desk.reader.texts("otter stone", self.desk.user) == [CAPTION]


@pytest.mark.parametrize("applied", [False, True])
def test_a_death_at_any_call_is_made_good_by_the_next_deliveries(world: Desk, *, applied: bool) -> None:
    cases = []
    for number in count(1):
        case = Case(world)
        with suppress(Killed), kill_at(number, applied=applied) as calls:
            case.run()
        case.finish()
        cases.append(case)
        if calls.total < number:
            break
    assert len(cases) > 30
    world.sweep()
    for case in cases:
        case.desk.check_rows()


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.APPLIED_TIMEOUT])
def test_a_dependency_that_fails_anywhere_is_asked_again(world: Desk, fault: Fault) -> None:
    cases, total = [], 60
    for number in range(1, total, 4):
        case, seen = Case(world), count(1)

        def rule(_: Call, number: int = number, seen: Iterator[int] = seen) -> Fault | None:
            return fault if number <= next(seen) < number + 4 else None

        with faults(rule):
            while True:
                try:
                    if not case.desk.step():
                        break
                except Exception as error:
                    if type(error).__module__.startswith("botocore"):
                        break  # the poller's own call
                    raise
        case.finish()
        cases.append(case)
    world.shelf.clock.move(ms=DAY_MS)  # pieces that could not be removed go with their task
    world.sweep()
    for case in cases:
        case.desk.check_rows()
