"""A summary is made of the sentences that tell most, in their order, and never of anything else."""

from __future__ import annotations

import pytest

from shared.extraction.rules import RuleExtractor
from shared.extraction.rules.summaries import CHARACTERS, SENTENCES
from tests.extraction.conversations import conversation, learnt


def summary(*said: str | tuple[str, str], code: bool = False) -> str | None:
    found = learnt(*said, code=code).summary
    return None if found is None else found.text


def test_it_has_what_was_told_in_order() -> None:
    assert summary("Hi! I live in Berlin.", ("assistant", "Nice."), "My sister Ana has a PhD. Thanks!") == (
        "I live in Berlin. My sister Ana has a PhD."
    )


def test_each_sentence_gets_its_end() -> None:
    assert summary("I live in Berlin, what should I see?", "I like tea") == "I live in Berlin. I like tea."
    assert summary("我住在北京，你呢？", "我喜欢茶") == "我住在北京。我喜欢茶。"


def test_it_is_bounded_however_long_the_conversation() -> None:
    text = summary(*(f"I met person number {n} in the old town of Berlin." for n in range(300)))
    assert text is not None
    assert len(text) <= CHARACTERS
    assert text.count("I met") == SENTENCES


def test_even_the_longest_sentence_makes_one() -> None:
    said = "I walked from Berlin to Rome" + ", and then I walked on" * 26
    assert len(said) == 600
    found = learnt(said, speaker="Wilhelmina Konstantinopolitanskaya").summary
    assert found is not None
    assert found.text.startswith("Wilhelmina")


def test_a_sentence_said_often_is_in_it_once() -> None:
    assert summary(*["I like tea."] * 20, "I live in Berlin.") == "I like tea. I live in Berlin."


def test_a_coding_session_keeps_decisions_and_constraints_first() -> None:
    talk = [f"The page number {n} looks odd on my phone today." for n in range(6)]
    found = learnt(*talk, "Retries must reuse event_id.", "We decided to use Postgres.", code=True).summary
    assert found is not None
    assert "Retries must reuse event_id." in found.text
    assert found.text.endswith("We decided to use Postgres.")


def test_a_coding_session_keeps_what_the_assistant_decided() -> None:
    decided = ("assistant", "Sure! I decided to retry at most 3 times.")
    found = learnt("We need retries in Cedar.", decided, code=True)
    assert found.summary is not None
    assert found.summary.text == "We need retries in Cedar. I decided to retry at most 3 times."
    assert [fact.text for fact in found.facts] == ["We need retries in Cedar."]


def test_without_a_statement_of_the_user_there_is_none() -> None:
    assert summary("What is the capital of France?", ("assistant", "The capital of France is Paris.")) is None
    assert summary("Fix it", ("assistant", "Decided: we use Postgres."), code=True) is None


def test_it_carries_the_types_of_what_it_tells() -> None:
    found = learnt("I live in Berlin.", "I'm allergic to nuts.", "I like tea.").summary
    assert found is not None
    assert found.memory_type == "core"
    assert found.categories == ("identity", "constraint", "preference")
    assert found.positions == (0, 1, 2)


def test_the_summary_of_a_group_is_picked_from_its_parts_in_order() -> None:
    parts = ["We use Postgres. The page looks odd.", "Retries must reuse event_id.", "At most 3 attempts are allowed."]
    found = RuleExtractor().summarise(parts, conversation("one", "two", code=True))
    assert (
        found.text
        == "We use Postgres. The page looks odd. Retries must reuse event_id. At most 3 attempts are allowed."
    )
    assert "constraint" in found.categories
    assert found.positions == (0, 1)


@pytest.mark.parametrize("count", [1, 2, 3_000])
def test_the_summary_of_a_group_is_bounded_however_many_parts(count: int) -> None:
    found = RuleExtractor().summarise(
        [f"Module {n} must use at most {n} retries." for n in range(count)], conversation("x")
    )
    assert 0 < len(found.text) <= CHARACTERS


def test_the_summary_of_parts_without_sentences_is_what_they_say() -> None:
    assert RuleExtractor().summarise(["word " * 500, ""], conversation("x")).text == "word " * 120
