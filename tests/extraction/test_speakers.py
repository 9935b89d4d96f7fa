"""First person becomes the speaker's name where the name is known and grammar allows; else it stays as it was said."""

from __future__ import annotations

import pytest

from shared.extraction.rules.subject import name_of
from tests.extraction.conversations import facts

NAMED = [
    ("I live in Berlin.", "Caroline lives in Berlin."),
    ("My sister Ana has a PhD.", "Caroline's sister Ana has a PhD."),
    ("I'm a nurse.", "Caroline is a nurse."),
    ("I've moved to Rome.", "Caroline has moved to Rome."),
    ("I'll visit Rome next week.", "Caroline will visit Rome next week."),
    ("I don't like tea any more.", "Caroline doesn't like tea any more."),
    ("I haven't been to Rome.", "Caroline hasn't been to Rome."),
    ("I swim in Bonn and work at Acme.", "Caroline swims in Bonn and works at Acme."),
    ("I always carry a map.", "Caroline always carries a map."),
    ("I study physics.", "Caroline studies physics."),
    ("I watch films every Friday.", "Caroline watches films every Friday."),
    ("I go swimming.", "Caroline goes swimming."),
    ("I went swimming.", "Caroline went swimming."),
    ("I can speak Polish.", "Caroline can speak Polish."),
    ("I used to smoke.", "Caroline used to smoke."),
    ("I read a book on Rome yesterday.", "Caroline read a book on Rome yesterday."),
    ("I usually read at night.", "Caroline usually reads at night."),
    ("My wife and I moved to Rome.", "Caroline's wife and Caroline moved to Rome."),
    ("Ana gave me a ring.", "Ana gave Caroline a ring."),
    (
        "I painted that lake, and I love it there in May.",
        "Caroline painted that lake, and Caroline loves it there in May.",
    ),
]
AS_SAID = [
    "I'd love to see Rome.",
    'I told Ana "I am ill" yesterday.',
    "I taught myself Polish.",
    "Caroline is my name, I think of Rome.",
    "World War I interests my brother.",
    "Neither Ana nor I eat meat.",
    "We live in Berlin.",
    "Ana works at Google.",
]


@pytest.mark.parametrize(("said", "fact"), NAMED)
def test_first_person_is_resolved_to_the_speaker(said: str, fact: str) -> None:
    assert facts(said, speaker="Caroline") == [fact]


@pytest.mark.parametrize("said", AS_SAID)
def test_a_sentence_that_is_not_understood_stays_as_it_was_said(said: str) -> None:
    for fact in facts(said, speaker="Caroline"):
        assert fact == said


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("我住在北京。", "张伟住在北京。"),
        ("我的妹妹叫小红。", "张伟的妹妹叫小红。"),
        ("我自己做饭。", "张伟自己做饭。"),
        ("我们去了上海。", "我们去了上海。"),
        ("我告诉小红“我在北京”。", "我告诉小红“我在北京”。"),
    ],
)
def test_chinese_first_person_is_resolved_too(said: str, fact: str) -> None:
    assert facts(said, speaker="张伟") == [fact]


@pytest.mark.parametrize("name", ["Caroline", "张伟", "Anne-Marie O'Neil", "José", "Dr. Smith", "Łukasz", "Мария"])
def test_names_are_names(name: str) -> None:
    assert name_of(name) == name
    assert name_of(f"  {name} ") == name


@pytest.mark.parametrize(
    "speaker",
    [
        None, "", " ", "user", "User", "assistant", "Assistant", "USER", "system", "demo-user", "user-1",
        "U12345", "12345", "bob@example.org", "550e8400-e29b-41d4-a716-446655440000", "tenant:user", "a/b",
        "caroline", "用户", "x" * 5000, "Bob\x00", "🙂", "User A", "Test User",
    ],
)  # fmt: skip
def test_roles_addresses_and_opaque_ids_are_no_names(speaker: str | None) -> None:
    assert name_of(speaker) is None
    assert facts("I live in Berlin.", speaker=speaker) == ["I live in Berlin."]
