"""Adds with the models that need none: rules, and the sentence encoder of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.extraction.port import Learnt
from shared.memories.forgetting import Forgetting
from shared.memories.judging import fingerprint_of
from shared.memories.rows import memory_id_of
from shared.search.embedded.index import EmbeddedIndex
from shared.search.port import Ask, Is
from shared.wiring.models import decider_of, embedder_of, extractor_of
from tests.memories.works import ANA, SCOPE, answered, said, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.works import Works

FRIDAY_MS = 1_795_780_800_000  # 27 November 2026, noon
DAY_MS = 86_400_000


@pytest.fixture
def world() -> Iterator[Works]:
    with works(extractor=extractor_of({}), decider=decider_of({})) as made:
        made.index.close()
        made.embedder = embedder_of({})
        made.index = EmbeddedIndex(made.folder / "use", made.embedder.name, made.embedder.dimension)
        made.index.ensure()
        yield made


def test_who_moved_lives_in_the_new_place_and_the_old_one_is_past(world: Works) -> None:
    world.add("I live in Berlin.")
    world.add("I have a dog called Rex.")
    world.add("I moved to Madrid.")
    facts = world.facts()
    assert any("Madrid" in fact for fact in facts)
    assert not any("Berlin" in fact for fact in facts)
    assert any("Rex" in fact for fact in facts)
    madrid = next(row for row in world.rows(kind="fact") if "Madrid" in row["text"])
    assert [p["text"] for p in world.past(memory_id_of(madrid))] == ["I live in Berlin."]


@pytest.mark.parametrize(
    ("said_once", "asked"),
    [("I moved to Madrid last spring.", "Where does the user live?"), ("我搬到上海了。", "用户住在哪里？")],
)
def test_what_the_user_says_of_itself_is_found_by_who_asks_about_the_user(
    world: Works, said_once: str, asked: str
) -> None:
    world.add(said_once)
    vector = world.embedder.of_query(asked)
    ask = Ask(ANA.owner, asked, vector, 10, 0, world.embedder.floor, Is("modes", ("facts",)))
    assert len(world.index.search([ask])[0].dense) == 1


def test_the_same_in_chinese(world: Works) -> None:
    world.add("我住在北京。")
    world.add("我搬到上海了。")
    facts = world.facts()
    assert len(facts) == 1
    assert "上海" in facts[0]


def test_what_is_said_ten_times_is_known_once(world: Works) -> None:
    for text in ("I like green tea.", "I like green tea!", "i like green tea", "I like  green tea."):
        world.add(text)
    assert world.facts() == ["I like green tea."]


def test_what_looks_alike_and_is_not_stays_apart(world: Works) -> None:
    for text in ("My sister Ana has a PhD.", "My sister Eva has a PhD.", "My meeting is at 3pm.", "I like green tea."):
        world.add(text)
    assert len(world.facts()) == 4


def test_a_wish_to_forget_is_granted(world: Works) -> None:
    world.add("I like green tea.")
    world.add("I live in Berlin.")
    world.add("Please forget that I like green tea.")
    assert world.facts() == ["I live in Berlin."]


def test_with_the_source_of_what_was_wished_to_be_forgotten_goes_the_rest_of_the_messages_that_told_it(
    world: Works,
) -> None:
    world.add("My phone number is 555-1234. I have a dog.", said("I like green tea."))
    (told,) = [row for row in world.rows(ANA, "fact") if "555-1234" in row["text"]]
    world.add("Please forget my phone number.")
    assert sorted(world.texts("raw")) == ["I have a dog.", "I like green tea."]
    Forgetting(world.backing, world.index).forget(SCOPE, memory_id_of(told), source=True)
    assert world.texts("raw") == world.facts() == ["I like green tea."]
    assert world.texts("summary") == []


def test_a_conversation_is_learnt_from_and_found(world: Works) -> None:
    task = world.add(
        said("Hi!", at=FRIDAY_MS),
        answered("Hello, how can I help?", at=FRIDAY_MS + 1),
        said("I am allergic to peanuts. Last Friday I started a job at Acme.", at=FRIDAY_MS + 2),
    )
    assert task["status"] == "success"
    assert any("peanuts" in fact for fact in world.facts())
    assert not any("Hi" in fact for fact in world.facts())
    assert any("peanuts" in text for text in world.found("What can't I eat? peanuts"))
    assert len(world.texts("raw")) == 3
    assert len(world.texts("summary")) == 1


def test_recalled_memories_that_come_back_are_no_new_facts(world: Works) -> None:
    world.add("I live in Berlin.")
    recalled = "<memories>\n- I live in Berlin.\n</memories>\nWhat is the weather?"
    for _ in range(5):
        world.add(recalled)
    assert world.facts() == ["I live in Berlin."]


@pytest.mark.parametrize("text", ["I live in Berlin.", "我住在北京。"])
def test_a_request_that_tells_no_time_leaves_that_of_its_memories_open(world: Works, text: str) -> None:
    world.add(text)
    assert {row["kind"]: row["event_at"] for row in world.rows()} == {"summary": None, "fact": None, "raw": None}


def test_words_of_time_are_counted_from_the_receipt_where_no_time_is_told(world: Works) -> None:
    world.add("I met Ana yesterday.")
    received = world.rows()[0]["created_at"]
    times = {row["kind"]: row["event_at"] for row in world.rows()}
    assert times["fact"] == (received // DAY_MS - 1) * DAY_MS
    assert times["summary"] is times["raw"] is None


def test_a_move_of_long_ago_told_late_does_not_replace_what_was_told_without_a_time(world: Works) -> None:
    world.add("I live in Berlin.")
    received = world.rows()[0]["created_at"]
    world.add(said("I moved to Madrid.", at=received - 30 * DAY_MS))
    assert world.facts() == ["I live in Berlin."]
    world.add("I moved to Rome.")
    assert world.facts() == ["I moved to Rome."]


def test_the_request_s_time_decides_what_is_later_and_dates_its_facts(world: Works) -> None:
    world.add("I live in Berlin.", at=FRIDAY_MS)
    world.add("I moved to Madrid.", at=FRIDAY_MS - 30 * DAY_MS)
    assert world.facts() == ["I live in Berlin."]
    assert {row["event_at"] for row in world.rows(kind="fact")} == {FRIDAY_MS}


def test_what_happened_without_a_time_is_told_apart_by_the_day_of_receipt() -> None:
    ran, likes = Learnt("I ran 5 km.", "episodic"), Learnt("I like tea.")
    assert fingerprint_of(ran, FRIDAY_MS) == fingerprint_of(ran, FRIDAY_MS + 1)
    assert fingerprint_of(ran, FRIDAY_MS) != fingerprint_of(ran, FRIDAY_MS + DAY_MS)
    dated = Learnt("I ran 5 km.", "episodic", event_at=FRIDAY_MS)
    assert fingerprint_of(dated, FRIDAY_MS + DAY_MS) == fingerprint_of(ran, FRIDAY_MS)
    assert fingerprint_of(likes, FRIDAY_MS) == fingerprint_of(likes, FRIDAY_MS + DAY_MS)
