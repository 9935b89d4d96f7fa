"""What may not remain when a memory, or a whole user, is forgotten: whatever happened to the adds before."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from functions.platform import sweeper
from shared.extraction.deciding import RuleDecider
from shared.extraction.port import ExtractionFailed
from shared.kernel.errors import Unavailable
from shared.kernel.preconditions import Preconditions
from shared.memories.changing import ChangeWish, Changing
from shared.memories.erasing import Erasing
from shared.memories.forgetting import Forgetting
from shared.memories.outcome import State
from shared.memories.rows import memory_id_of
from shared.memories.settling import redrive
from tests.clients.events import CONTEXT
from tests.memories.fakes import Failing
from tests.memories.line import Line, line
from tests.memories.works import ANA, SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.aws.items import Item

MINUTE = 60_000


@pytest.fixture
def queue() -> Iterator[Line]:
    with line() as made:
        yield made


def sweep(queue: Line) -> None:
    """Let the sweeper run, and the worker do what it sends."""
    world = queue.world
    told = sweeper.build(world.cloud.environment("SweeperFunction"), world.cloud.aws, world.clock)(
        {"job": "sweep"}, CONTEXT
    )
    assert told["errors"] == 0
    queue.run()


def indexed(queue: Line) -> int:
    """Return how many passages the index has of the user; they are gone then."""
    return queue.world.index.clear(ANA.owner, 1_000_000)


def forget_each(queue: Line) -> None:
    """Forget all that the user can see, one after the other."""
    world = queue.world
    for row in world.rows():
        Forgetting(world.backing, world.index).forget(SCOPE, memory_id_of(row))
    assert world.rows() == []


def change(queue: Line, row: Item, text: str) -> None:
    world = queue.world
    changing = Changing(world.backing, world.index, world.embedder)
    changing.change(SCOPE, memory_id_of(row), ChangeWish(memory=text), conditions=Preconditions(None, None))


def fact(queue: Line, text: str) -> Item:
    return next(row for row in queue.world.rows(kind="fact") if row.get("text") == text)


def once(name: str, behind: Any, do: Callable[[], object], *, after: bool = False) -> Any:
    """Return `behind`, before (or after) whose first call of `name` something else is done."""
    left = [do]

    def rule(called: str) -> None:
        if called == name and left:
            left.pop()()

    if not after:
        return Failing(behind, rule)

    class Afterwards(Failing):
        def _call(self, called: str, real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            result = real(*args, **kwargs)
            rule(called)
            return result

    return Afterwards(behind, lambda _: None)


def test_a_state_that_was_indexed_and_then_decided_otherwise_is_not_left_in_the_index(queue: Line) -> None:
    world = queue.world
    world.add("city: Berlin.")
    task = world.task("city: Madrid.")
    index = once("put", world.index, lambda: change(queue, fact(queue, "city: Berlin."), "city: Paris."), after=True)
    world.deliver(task, index=index)
    assert (world.row(task)["status"], world.facts()) == ("success", ["city: Madrid."])
    forget_each(queue)
    sweep(queue)
    assert indexed(queue) == 0


def test_what_a_failed_task_has_indexed_goes_though_the_index_is_down_when_it_fails(queue: Line) -> None:
    world, down = queue.world, [False]

    def rule(name: str) -> Unavailable | None:
        down[0] = down[0] or name == "put"
        return Unavailable() if down[0] and name != "put" else None

    queue.means["index"] = Failing(world.index, rule)
    queue.means["embedder"] = Failing(world.embedder, lambda _: None)
    task = queue.add("city: Oslo. pet: cat.", *[f"turn {n}." for n in range(40)])
    # The first messages are indexed, then nothing answers any more.
    embed = [0]

    def embedding(name: str) -> Unavailable | None:
        embed[0] += name == "of_texts"
        return Unavailable() if embed[0] > 2 else None

    queue.means["embedder"] = Failing(world.embedder, embedding)
    queue.run()
    assert world.row(task)["status"] == "failed"
    assert world.texts() == []
    queue.means.clear()
    sweep(queue)
    assert indexed(queue) == 0


def test_what_was_wished_to_be_forgotten_has_no_text_left_though_its_task_fails(queue: Line) -> None:
    world = queue.world
    world.add("city: Berlin.")
    world.add("city: Madrid.")
    memory_id = memory_id_of(fact(queue, "city: Madrid."))
    assert [past["text"] for past in world.past(memory_id)] == ["city: Berlin."]
    queue.means["index"] = Failing(world.index, lambda name: Unavailable() if name == "remove" else None)
    task = queue.add("Forget: city: Madrid.")
    queue.run()
    assert world.row(task)["status"] == "failed"
    assert "city: Madrid." not in world.facts()
    queue.means.clear()
    sweep(queue)
    assert [past["text"] for past in world.past(memory_id)] == [None, None, None]
    assert not any("Berlin" in json.dumps(item) for item in world.cloud.items() if item["sk"]["S"].startswith("h#"))


def test_a_memory_that_was_deleted_is_not_indexed_again_with_what_the_index_lost(queue: Line) -> None:
    world = queue.world
    task = world.task("city: Oslo. pet: cat.")

    def lose() -> None:
        Forgetting(world.backing, world.index).forget(SCOPE, memory_id_of(fact(queue, "city: Oslo.")))
        row = fact(queue, "pet: cat.")
        world.index.remove(ANA.owner, {(memory_id_of(row), row["revision"])})

    outcome = world.deliver(task, index=once("present", world.index, lose))
    assert outcome.state is State.LATER
    world.deliver(task)
    assert (world.row(task)["status"], world.facts()) == ("success", ["pet: cat."])
    forget_each(queue)
    sweep(queue)
    assert indexed(queue) == 0


def test_a_worker_that_wakes_after_its_user_was_forgotten_leaves_nothing_in_the_index(queue: Line) -> None:
    world = queue.world
    task = world.task("city: Oslo.")

    def meanwhile() -> None:
        world.clock.move(ms=100_000)
        world.deliver(task)  # taken for hung
        Erasing(world.backing).erase(ANA, "corr")
        queue.run()

    outcome = world.deliver(task, index=once("put", world.index, meanwhile))
    assert outcome.state is State.LEAVE
    assert world.row(task)["status"] == "failed"
    world.clock.move(ms=20 * MINUTE)
    sweep(queue)
    assert indexed(queue) == 0


def test_what_a_model_answered_in_vain_goes_with_all_of_its_user(queue: Line) -> None:
    class Babbling:
        def extract(self, _: Any) -> Any:
            raise ExtractionFailed("Not usable.", reply="Ana lives in Oslo")

    queue.means["extractor"] = Babbling()
    task = queue.add("I live in Oslo.")
    queue.run()
    assert "Oslo" in queue.world.row(task)["reply"]
    Erasing(queue.world.backing).erase(ANA, "corr")
    queue.run()
    assert not any("Oslo" in json.dumps(item) for item in queue.world.cloud.items())


def test_a_long_text_that_was_not_added_after_all_goes_with_all_of_its_user(queue: Line) -> None:
    world = queue.world
    task = world.task("long " * 10_000, mode="raw")
    erase = Erasing(world.backing)
    objects = once("put", world.objects, lambda: erase.erase(ANA, "corr"), after=True)
    world.deliver(task, backing=replace(world.backing, objects=objects))
    assert world.row(task)["error"]["code"] == "erased"
    sweep(queue)
    assert [key for key in world.cloud.object_keys() if not key.startswith("keep/erasures")] == []


def test_many_wishes_to_forget_in_one_request_are_all_granted(queue: Line) -> None:
    world = queue.world
    topics = [" ".join(f"{letter}{n}" for letter in "abcdefgh") for n in range(40)]
    for place in ("Rome", "Bonn", "Oslo"):
        world.add(*[f"{topic}: {place}." for topic in topics])
    assert len(world.facts()) == len(topics)
    task = world.task(*[f"Forget: {topic}: Oslo." for topic in topics])
    world.deliver(task)
    assert (world.row(task)["status"], world.facts()) == ("success", [])
    assert {past["text"] for past in world.all_past()} == {None}


def test_no_reason_that_is_kept_says_what_was_forgotten(queue: Line) -> None:
    world = queue.world
    world.decider = RuleDecider()
    world.add("I live in Berlin.")
    memory_id = memory_id_of(fact(queue, "I live in Berlin."))
    for text in ("I moved to Madrid.", "Forget: I live in Madrid."):
        world.add(text)
    assert world.facts() == []
    decided = world.past(memory_id)
    assert [past["event"] for past in decided] == ["ADD", "UPDATE", "DELETE"]
    assert all(past["reason"].endswith(".") for past in decided)
    assert not any(place in json.dumps(decided) for place in ("Berlin", "Madrid"))


def test_no_reason_of_a_memory_says_what_another_said_that_was_deleted(queue: Line) -> None:
    world = queue.world
    world.decider = RuleDecider()
    world.add("I live in Berlin.")
    row = fact(queue, "I live in Berlin.")
    changing = Changing(world.backing, world.index, world.embedder)
    changing.change(SCOPE, memory_id_of(row), ChangeWish(immutable=True), conditions=Preconditions(None, None))
    world.add("I moved to Madrid.")
    Forgetting(world.backing, world.index).forget(SCOPE, memory_id_of(row), source=True)
    assert world.facts() == ["I moved to Madrid."]
    assert not any("Berlin" in json.dumps(item) for item in world.cloud.items())


def test_a_failed_task_keeps_no_words_of_the_memories_that_it_was_decided_beside(queue: Line) -> None:
    world = queue.world
    queue.add("city: Berlin.")
    queue.run()
    queue.means["index"] = Failing(world.index, lambda name: Unavailable() if name == "put" else None)
    task = queue.add("city: Madrid.")
    queue.run()
    assert world.row(task)["status"] == "failed"
    queue.means.clear()
    forget_each(queue)
    texts = [world.objects.get(key).decode() for key in world.cloud.object_keys()]
    assert not any("Berlin" in text for text in texts)
    assert redrive(world.backing, SCOPE, task)
    queue.run()
    assert (world.row(task)["status"], world.facts()) == ("success", ["city: Madrid."])
