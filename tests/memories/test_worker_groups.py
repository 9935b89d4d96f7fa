"""Groups of chunks: parts in any order, twice or never, and one summary of all."""

from __future__ import annotations

from contextlib import suppress
from itertools import count, permutations
from typing import TYPE_CHECKING, Any

import pytest

from shared.memories.erasing import Erasing
from shared.memories.forgetting import Forgetting
from shared.memories.models import ChunkPlace
from shared.memories.records import UserAddress
from shared.memories.rows import memory_id_of
from tests.emulator.faults import Killed, kill_at
from tests.memories.works import ANA, SCOPE, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.works import Works

CODE = {"content_type": "code", "session_id": "s"}
WHOLE = "part 0. | part 1. | part 2."


@pytest.fixture(scope="module")
def world() -> Iterator[Works]:
    with works() as made:
        yield made


@pytest.fixture
def user() -> UserAddress:
    return UserAddress(SCOPE, f"user {next(numbers)}")


numbers = count()


def part(world: Works, user: UserAddress, index: int, text: str | None = None, *, counted: int = 3) -> str:
    """Accept a part of a group."""
    place = ChunkPlace("callbacks", index, counted)
    return world.task(text or f"part {index}.", address=user, chunk=place, **CODE)


def done(world: Works, task: str) -> dict[str, Any]:
    world.deliver(task)
    row = world.row(task)
    assert row["status"] == "success"
    return row


def summaries(world: Works, user: UserAddress) -> list[str]:
    return world.texts("summary", user)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_parts_in_any_order_have_one_summary_in_theirs(world: Works, user: UserAddress, order: tuple[int, ...]) -> None:
    rows = []
    for place, index in enumerate(order):
        rows.append(done(world, part(world, user, index)))
        assert len(summaries(world, user)) == place + 1 + (place == 2)
        assert f"part {index}." in world.found(f"part {index}", user)
    assert summaries(world, user)[-1] == WHOLE
    assert [row["memory"]["total"] for row in rows] == [3, 3, 4]
    assert WHOLE in world.found("part", user)


def test_a_part_that_comes_twice_is_there_once(world: Works, user: UserAddress) -> None:
    for index in (0, 0, 1, 1, 2, 2):
        done(world, part(world, user, index))
    assert summaries(world, user) == ["part 0.", "part 1.", "part 2.", WHOLE]
    assert len(world.rows(user)) == 10


def test_a_part_that_says_something_else_the_second_time_is_stored_and_counted_once(
    world: Works, user: UserAddress
) -> None:
    done(world, part(world, user, 0))
    done(world, part(world, user, 0, "another part."))
    done(world, part(world, user, 1))
    assert WHOLE not in summaries(world, user)
    done(world, part(world, user, 2))
    assert summaries(world, user) == ["part 0.", "another part.", "part 1.", "part 2.", WHOLE]


def test_a_group_that_is_never_whole_has_no_summary_and_its_parts_are_found(world: Works, user: UserAddress) -> None:
    done(world, part(world, user, 0))
    done(world, part(world, user, 2))
    assert summaries(world, user) == ["part 0.", "part 2."]


def test_groups_of_other_counts_or_users_are_other_groups(world: Works, user: UserAddress) -> None:
    done(world, part(world, user, 0, counted=2))
    done(world, part(world, user, 1, counted=3))
    done(world, part(world, ANA, 1, counted=2))
    assert summaries(world, user) == ["part 0.", "part 1."]


def test_a_group_begins_anew_when_its_user_is_forgotten(world: Works, user: UserAddress) -> None:
    for index in (0, 1):
        done(world, part(world, user, index))
    Erasing(world.backing).erase(user, "c")
    done(world, part(world, user, 2))
    assert summaries(world, user) == ["part 2."]
    for index in (0, 1):
        done(world, part(world, user, index))
    assert summaries(world, user)[-1] == WHOLE


@pytest.mark.parametrize("named", ["part 1.", WHOLE])
def test_what_is_forgotten_with_its_source_is_in_no_summary_of_the_whole(
    world: Works, user: UserAddress, named: str
) -> None:
    for index in range(3):
        done(world, part(world, user, index))
    row = next(row for row in world.rows(user) if row["text"] == named)
    gone = list(Forgetting(world.backing, world.index).forget(SCOPE, memory_id_of(row), source=True).ids)
    left = [] if named == WHOLE else ["part 0.", "part 2."]
    assert sorted(set(world.texts(address=user))) == left
    assert len(gone) == 10 - len(world.rows(user))
    assert world.index.clear(user.owner, 1_000_000) == 3 * len(left)


def test_a_worker_that_dies_before_the_summary_is_followed_by_one_that_makes_it(world: Works) -> None:
    for step in count(1):
        user = UserAddress(SCOPE, f"dying {step}")
        done(world, part(world, user, 0, counted=2))
        last = part(world, user, 1, counted=2)
        with kill_at(step) as calls, suppress(Killed):
            world.deliver(last)
        if calls.total < step:
            break
        world.clock.move(ms=31_000)
        row = done(world, last)
        assert row["memory"]["total"] == 4
        assert summaries(world, user) == ["part 0.", "part 1.", "part 0. | part 1."]
        assert len(world.rows(user)) == 7
    assert step > 15


def test_many_parts_are_summarised_in_rounds(world: Works, user: UserAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.memories.groups.AT_ONCE", 2)
    world.extractor.calls = 0
    for index in range(5):
        done(world, part(world, user, index, f"p{index}.", counted=5))
    assert summaries(world, user)[-1] == "p0. | p1. | p2. | p3. | p4."
    assert world.extractor.calls == 5 + 3 + 2 + 1
