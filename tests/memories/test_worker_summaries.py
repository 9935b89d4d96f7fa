"""What becomes of summaries and messages: said once, corrected with their facts, without what was to be forgotten."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.items import key_of
from shared.aws.writes import Update
from shared.extraction.port import Learnt
from shared.memories.erasing import Erasing
from shared.memories.models import ChunkPlace
from shared.memories.records import UserAddress
from shared.memories.rows import memory_id_of
from tests.emulator.faults import Killed, faults
from tests.memories.fakes import SentenceExtractor
from tests.memories.works import ANA, SCOPE, answered, said, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.extraction.port import Conversation, Extraction
    from tests.emulator.faults import Call
    from tests.memories.works import Works

CODE: dict[str, Any] = {"content_type": "code", "session_id": "s"}


@pytest.fixture
def world() -> Iterator[Works]:
    with works() as made:
        yield made


class Prose(SentenceExtractor):
    """Summarises in words of its own, as a language model does."""

    def extract(self, conversation: Conversation) -> Extraction:
        made = super().extract(conversation)
        return replace(made, summary=Learnt("They spoke about this and that.", positions=(0,)))


def test_what_is_said_again_and_again_has_one_summary(world: Works) -> None:
    for _ in range(6):
        world.add("I like tea.")
    assert (world.texts("summary"), world.facts()) == (["I like tea."], ["I like tea."])
    assert len(world.texts("raw")) == 6
    (summary,) = world.rows(kind="summary")
    assert [p["event"] for p in world.past(memory_id_of(summary))] == ["NONE"] * 5


def test_a_conversation_that_teaches_nothing_new_has_no_summary_in_other_words_either(world: Works) -> None:
    world.add("I like tea. city: Rome.")
    world.add("city: Rome. I like tea.")
    assert world.texts("summary") == ["I like tea. city: Rome."]
    world.add("city: Rome. I like rain.")
    assert world.texts("summary")[1:] == ["city: Rome. I like rain."]


def test_equal_adds_at_the_same_time_have_one_summary(world: Works) -> None:
    tasks = [world.task("I like tea.") for _ in range(20)]
    world.finish_together(tasks)
    assert {world.row(task)["status"] for task in tasks} == {"success"}
    assert (world.texts("summary"), world.facts()) == (["I like tea."], ["I like tea."])


def test_add_only_decides_nothing_about_summaries_or_what_they_said(world: Works) -> None:
    world.add("city: Paris.", add_only=True)
    world.add("city: Paris.", add_only=True)
    world.add("city: Rome. Forget: city: Paris.", add_only=True)
    assert world.texts("summary") == ["city: Paris.", "city: Paris.", "city: Rome. Forget: city: Paris."]
    assert world.texts("raw") == ["city: Paris.", "city: Paris.", "city: Rome. Forget: city: Paris."]


def test_what_is_kept_raw_or_was_summarised_before_is_left_alone(world: Works) -> None:
    world.add("city: Paris.", mode="raw")
    world.add("city: Paris.", "city: Paris.", mode="pre_summarized", **CODE)
    world.add("city: Paris.")
    world.add("Forget: city: Paris.")
    assert world.texts() == ["city: Paris."] * 3


def test_parts_of_a_group_keep_their_summaries(world: Works) -> None:
    world.add("I like tea.", chunk=ChunkPlace("g", 0, 2), **CODE)
    world.add("I like tea.", chunk=ChunkPlace("g", 1, 2), **CODE)
    assert world.texts("summary") == ["I like tea.", "I like tea.", "I like tea. | I like tea."]


def test_a_summary_says_no_longer_what_was_superseded(world: Works) -> None:
    world.add("city: Paris. pet: cat.")
    (before,) = world.rows(kind="summary")
    task = world.add("city: Rome.")
    assert world.texts("summary") == ["pet: cat.", "city: Rome."]
    assert world.texts("raw") == ["city: Paris. pet: cat.", "city: Rome."]
    (after, _) = world.rows(kind="summary")
    assert (after["event"], after["task"], after["created_at"]) == ("UPDATE", task["task"], before["created_at"])
    assert [p["text"] for p in world.past(memory_id_of(after))] == ["city: Paris. pet: cat."]
    assert world.index.present(ANA.owner, {(memory_id_of(before), before["revision"])}) == set()
    assert "pet: cat." in world.found("pet")


def test_a_summary_that_said_nothing_else_is_gone_when_that_is_superseded(world: Works) -> None:
    world.add("city: Paris.")
    world.add("city: Rome.")
    assert world.texts("summary") == ["city: Rome."]
    world.add("city: Oslo.")
    assert world.texts("summary") == ["city: Oslo."]


def test_what_changes_within_a_conversation_is_in_its_summary_as_it_is_at_the_end(world: Works) -> None:
    world.add("city: Paris. pet: cat. city: Rome.")
    assert world.texts("summary") == ["pet: cat. city: Rome."]


def test_a_summary_that_repeats_what_is_superseded_is_corrected_too(world: Works) -> None:
    world.add("city: Paris.")
    world.add("city: Paris. pet: cat.")
    world.add("city: Rome.")
    assert world.texts("summary") == ["pet: cat.", "city: Rome."]


def test_a_summary_in_words_of_its_own_is_made_of_what_is_still_so(world: Works) -> None:
    world.extractor = Prose()
    world.add("city: Paris. pet: cat. tea: green.")
    world.extractor = SentenceExtractor()
    world.add("city: Rome.")
    assert world.texts("summary") == ["pet: cat. tea: green.", "city: Rome."]


def test_an_immutable_summary_stays_as_it_is(world: Works) -> None:
    world.add("city: Paris. pet: cat.")
    world.table.write(Update(key_of(world.rows(kind="summary")[0]), {"immutable": True}))
    world.add("city: Rome.")
    assert world.texts("summary") == ["city: Paris. pet: cat.", "city: Rome."]


def test_the_summary_of_a_whole_group_says_no_longer_what_was_superseded(world: Works) -> None:
    world.add("city: Paris. pet: cat.", chunk=ChunkPlace("g", 0, 2), **CODE)
    world.add("tea: green.", chunk=ChunkPlace("g", 1, 2), **CODE)
    world.add("city: Rome.")
    assert world.texts("summary") == ["pet: cat.", "tea: green.", "pet: cat. | tea: green.", "city: Rome."]


def test_what_is_forgotten_is_in_no_message_summary_or_past(world: Works) -> None:
    world.add(said("Hello. jazz: loved. pet: cat."), answered("Nice."), said("tea: green."))
    world.add("jazz: loved. city: Rome.")
    world.add("pet: dog.")
    world.add("Forget: jazz: loved.")
    assert sorted(world.facts()) == ["Hello.", "city: Rome.", "pet: dog.", "tea: green."]
    assert world.texts("summary") == ["Hello. Nice. tea: green.", "city: Rome.", "pet: dog."]
    assert world.texts("raw") == ["Hello. pet: cat.", "Nice.", "tea: green.", "city: Rome.", "pet: dog."]
    assert not [item for item in world.cloud.items() if "jazz" in str(item)]
    assert not any("jazz" in text for text in world.found("jazz loved"))


def test_what_is_said_and_forgotten_in_one_request_is_not_kept_of_it(world: Works) -> None:
    world.add(said("jazz: loved. pet: cat."), said("Forget: jazz: loved."), said("tea: green."))
    assert world.texts("raw") == ["pet: cat.", "tea: green."]
    assert world.texts("summary") == ["pet: cat. tea: green."]
    assert not [item for item in world.cloud.items() if "jazz" in str(item)]


def test_a_wish_that_nothing_fits_is_not_kept_either(world: Works) -> None:
    task = world.add("Forget: my shoe size.")
    assert (task["status"], world.texts()) == ("success", [])


def test_a_summary_in_words_of_its_own_does_not_tell_what_was_wished_forgotten(world: Works) -> None:
    world.add("jazz: loved.")
    world.extractor = Prose()
    world.add("Forget: jazz: loved. tea: green.")
    world.add("Forget: tea: green.")
    assert world.texts() == []


def test_a_task_that_changes_nothing_asks_nothing_for_corrections(
    world: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add("pet: cat.")
    asked, seen = world.table.every, list[Any]()

    def every(query: Any) -> Any:
        seen.append(query)
        return asked(query)

    monkeypatch.setattr(world.table, "every", every)
    world.add("tea: green.")
    assert seen == []
    world.add("pet: dog.")
    assert seen != []


def test_what_its_user_wrote_into_a_summary_is_cut_and_not_made_anew(world: Works) -> None:
    for text in ("My own words.", "My own words. city: Paris."):
        world.add("city: Paris. pet: cat.")
        row = world.rows(kind="summary")[-1]
        world.table.write(Update(key_of(row), {"text": text, "event": "UPDATE", "task": None}))
        world.add("city: Rome.")
        assert "My own words." in world.texts("summary")
        Erasing(world.backing).erase(ANA, "c")


def test_a_part_that_only_forgets_has_no_summary_of_its_own_in_its_group(world: Works) -> None:
    world.add("jazz: loved. tea: green.")
    world.add("Forget: jazz: loved.", chunk=ChunkPlace("g", 0, 2), **CODE)
    world.add("pet: cat.", chunk=ChunkPlace("g", 1, 2), **CODE)
    assert world.texts("summary") == ["tea: green.", "pet: cat.", "pet: cat."]


def test_corrections_are_made_once_though_their_worker_dies_between_any_two_transactions(
    world: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another task comes in between, so that what is left is decided anew."""
    monkeypatch.setattr("shared.memories.commit.WRITES", 4)
    for death in range(1, 30):
        user = UserAddress(SCOPE, f"dying {death}")
        world.add("city: Paris. jazz: loved. pet: cat.", "Nothing else.", address=user)
        task = world.task("city: Rome. Forget: jazz: loved.", address=user)
        transactions = count(1)

        def die(call: Call, transactions: Iterator[int] = transactions, death: int = death) -> None:
            if call.operation == "TransactWriteItems" and next(transactions) == death:
                raise Killed

        with faults(die), suppress(Killed):
            world.deliver(task)
        world.clock.move(ms=61_000)
        world.add("tea: green.", address=user)
        world.clock.move(ms=31_000)
        world.deliver(task)
        assert world.row(task)["status"] == "success"
        assert sorted(world.texts("summary", user)) == ["city: Rome.", "pet: cat. Nothing else.", "tea: green."]
        raws = ["Nothing else.", "city: Paris. pet: cat.", "city: Rome.", "tea: green."]
        assert sorted(world.texts("raw", user)) == raws
        assert not any("jazz" in str(item) for item in [*world.rows(user), *world.all_past(user)])
        if next(transactions) <= death:
            break
    assert death > 8
