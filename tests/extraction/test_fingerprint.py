"""Exact duplicates are found by what was said, not by how it was typed; everything that carries meaning counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.extraction.fingerprint import fingerprint, normalised

SAME = [
    ("I like tea.", "i like tea"),
    ("I like tea", "  I  like\ttea!!! "),
    ("I don't eat meat", "I don\u2019t eat meat."),
    ("I don't eat meat", "I do not eat meat"),
    ("I can't swim", "I cannot swim"),
    ("I'm 30", "I am 30."),
    ("Well, I live in Berlin.", "I live in Berlin"),
    ("By the way, I live in Berlin.", "I live in Berlin"),
    ("The budget is 1,000 euros", "The budget is 1000 euros"),
    ('My favourite song is "Hello"', "My favourite song is \u201cHello\u201d"),
    ("\uff21\uff30\uff29\u3000\uff4b\uff45\uff59", "api key"),
    ("我喜欢 Python 编程。", "我喜欢Python编程"),
    ("我住在北京！", "我住在北京"),
    ("我住在北京啊", "我住在北京"),
    ("我搬家啦！", "我搬家了。"),
    ("嗯，我喜欢喝茶", "我喜欢喝茶"),
    ("我喜欢猫、狗", "我喜欢猫，狗"),
]
OTHER = [
    ("I like tea", "I don't like tea"),
    ("Flight at 3pm", "Flight at 5pm"),
    ("The limit is 3.5", "The limit is 35"),
    ("The limit is -5", "The limit is 5"),
    ("I write C++", "I write C"),
    ("I write C#", "I write C"),
    ("I use .NET daily", "I use NET daily"),
    ("It starts at 5:00", "It starts at 500"),
    ("Mail a.b@example.org", "Mail ab@example.org"),
    ("I was up 3%", "I was up 3"),
    ("我喜欢绿茶", "我不喜欢绿茶"),
    ("我住在北京", "我住在南京"),
    ("我去北京", "我去北京了"),
    ("🙂", "🙁"),
    ("!!!", "???"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_typing_makes_no_other_fact(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_carries_meaning_makes_another_fact(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@settings(deadline=None)
@given(st.text())
def test_a_fingerprint_is_32_digits_of_any_text_and_stays_when_normalised_again(text: str) -> None:
    assert len(fingerprint(text)) == 32
    assert fingerprint(text) == fingerprint(f" {text}\n")


def test_a_long_text_of_marks_is_normalised() -> None:
    for hostile in (
        "," * 1_000_000,
        "'a" * 500_000,
        "1," * 500_000,
        "well, " * 200_000,
        "n't" * 300_000,
        "。 " * 500_000,
    ):
        assert isinstance(normalised(hostile), str)
