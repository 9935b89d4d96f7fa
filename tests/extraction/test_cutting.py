"""Cutting sentences out of texts: those that say what is to be said no more, whole, and no others."""

from __future__ import annotations

import pytest

from shared.extraction.cutting import holds_any, told, without, without_wishes


@pytest.mark.parametrize(
    ("text", "fact", "left"),
    [
        ("I live in Paris. I have a dog.", "I live in Paris.", "I have a dog."),
        ("I'm living in Paris! I have a dog.", "I live in Paris", "I have a dog."),
        ("Hi!\nI live in Paris.\n\nI have a dog.", "I live in Paris", "Hi!\n\nI have a dog."),
        ("I like\njazz music. I have a dog.", "I like jazz music", "I have a dog."),
        ("I live in Paris.", "I live in Paris", ""),
        ("I like tea. I like teaching.", "I like tea", "I like teaching."),
        ("My sister lives in Paris.", "I live in Paris", "My sister lives in Paris."),
        ("我住在北京。我有一只猫。", "我住在北京", "我有一只猫。"),
        ("Yes. I have a dog.", "Yes, I would like to have tea", "Yes. I have a dog."),
    ],
)
def test_the_sentences_that_say_a_fact_go_and_the_others_stay_as_they_are(text: str, fact: str, left: str) -> None:
    cut = without(text, [fact])
    assert (cut.text, cut.found) == (left, left != text)


def test_what_is_a_fact_that_is_kept_stays_though_it_says_the_other_too() -> None:
    text = "I have a dog. I have a dog named Rex."
    assert without(text, ["I have a dog"], kept=["I have a dog named Rex."]).text == "I have a dog named Rex."


def test_what_a_wish_covers_goes() -> None:
    text = "My phone number is 555-1234. I live in Oslo."
    assert without(text, [], wishes=["my phone number"]).text == "I live in Oslo."


def test_first_person_is_its_speaker() -> None:
    text = "I live in Berlin. I have a dog."
    assert without(text, ["Caroline lives in Berlin"], speaker="Caroline").text == "I have a dog."


@pytest.mark.parametrize(
    ("text", "wished", "left"),
    [
        ("Please forget that I like jazz. I like tea.", "I like jazz", "I like tea."),
        ("I like jazz. Forget that. I like tea.", "I like jazz", "I like tea."),
        ("Drop: jazz. I like tea.", "jazz", "I like tea."),
        ("I like tea. Forget about tea in the office.", "tea in the office", "I like tea."),
        ("请忘记我喜欢茶。我住在北京。", "我喜欢茶", "我住在北京。"),
    ],
)
def test_a_sentence_with_a_wish_goes_and_no_other(text: str, wished: str, left: str) -> None:
    assert without_wishes(text, [wished]).text == left


def test_without_a_wish_nothing_is_looked_at() -> None:
    text = "Please forget that I like jazz."
    assert without_wishes(text, []).text == text


def test_facts_are_told_as_one_text_that_has_each() -> None:
    text = told(["I like tea", " ", "I have a dog."])
    assert text == "I like tea. I have a dog."
    assert holds_any(text, ["i like tea"])
    assert not holds_any(text, ["I like te", ""])
