"""What a sentence tells beside a fact that changes is a fact of its own, and outlives the change."""

from __future__ import annotations

import pytest

from tests.extraction.conversations import facts, wishes
from tests.extraction.remembering import Remembering

OUTLIVES = [
    (
        "I work at Google as a designer and I play the cello.",
        "I now work at Apple.",
        ["I now work at Apple.", "I work as a designer", "I play the cello."],
    ),
    (
        "I live in Berlin with my wife Eva and two dogs.",
        "I moved to Madrid.",
        ["I moved to Madrid.", "I live with my wife Eva and two dogs."],
    ),
    ("I live with my wife Eva in Berlin.", "I moved to Madrid.", ["I moved to Madrid.", "I live with my wife Eva."]),
    ("I live in Berlin and love sushi.", "I moved to Madrid.", ["I moved to Madrid.", "I love sushi."]),
    ("I'm Ana, I live in Berlin.", "I moved to Madrid.", ["I'm Ana", "I moved to Madrid."]),
    ("I live in Berlin; my dog Rex is ill.", "I moved to Madrid.", ["I moved to Madrid.", "my dog Rex is ill."]),
    ("我住在上海，喜欢喝龙井茶。", "我搬到北京了。", ["我搬到北京了。", "我喜欢喝龙井茶。"]),
    (
        "我叫李雪，住在上海，会说法语；我也对花生过敏。",
        "我搬到北京了。",
        ["我叫李雪", "我搬到北京了。", "我会说法语", "我也对花生过敏。"],
    ),
    ("我有两个孩子，住在上海。", "我搬到北京了。", ["我有两个孩子", "我搬到北京了。"]),
    ("我和妻子一起住在上海。", "我搬到北京了。", ["我搬到北京了。", "我和妻子一起住。"]),
]
PARTED = [
    ("I like Ana and Bob likes Eva.", ["I like Ana", "Bob likes Eva."]),
    (
        "I love hiking and my favourite season is autumn, but I hate rain.",
        ["I love hiking", "My favourite season is autumn", "I hate rain."],
    ),
    ("My wife and I moved to Rome and my sister sings.", ["My wife and I moved to Rome", "My sister sings."]),
    ("In 2019, I moved to Rome and I got a cat.", ["In 2019, I moved to Rome", "I got a cat."]),
    ("I work as a designer at Google.", ["I work at Google", "I work as a designer."]),
    (
        "My son was born in 2020 and my daughter was born in 2023.",
        ["My son was born in 2020", "My daughter was born in 2023."],
    ),
    ("我对花生过敏，不吃辣。", ["我对花生过敏", "我不吃辣。"]),
    ("我喜欢喝茶，但不喜欢咖啡。", ["我喜欢喝茶", "我不喜欢咖啡。"]),
    ("我住在上海，养了一只猫，喜欢吃鱼。", ["我住在上海", "我养了一只猫，喜欢吃鱼。"]),
]
WHOLE = [
    "I want to move and work in Rome.",
    "I hope that my boss is well and I get a raise.",
    "If I am late and I miss the bus, I walk.",
    "I have a dog and I walk him every day.",
    "I live in Berlin and I work there.",
    "I live in Berlin and I love it.",
    "I think Ana and Bob are nice.",
    "I don't smoke and drink wine.",
    "I was in Rome yesterday and I met Ana.",
    "I live in a house with a garden.",
    "My mother and my sister sing.",
    "我养了一只猫，喜欢吃鱼。",
    "我住在上海，有两个机场。",
    "我住在上海，是一个很美的城市。",
    "我住在上海的时候，喜欢喝茶。",
    "我爱人住在上海，喜欢喝茶。",
    "我妹妹小红在上海当护士，她养了两只猫。",
    "我从北京搬到上海，现在住在浦东。",
    "我在上海工作，喜欢这座城市。",
]


@pytest.mark.parametrize(("said", "later", "current"), OUTLIVES)
def test_what_was_told_beside_what_changed_stays(said: str, later: str, current: list[str]) -> None:
    user = Remembering()
    user.tell(said)
    user.tell(later)
    assert user.current == current


@pytest.mark.parametrize(("said", "parts"), PARTED)
def test_what_may_change_apart_is_told_apart(said: str, parts: list[str]) -> None:
    assert facts(said) == parts


@pytest.mark.parametrize("said", WHOLE)
def test_what_does_not_stand_alone_stays_whole(said: str) -> None:
    assert facts(said) == [said]


def test_a_subject_that_is_carried_over_is_the_speaker_by_name() -> None:
    assert facts("我住在上海，喜欢喝茶。", speaker="李雪") == ["李雪住在上海", "李雪喜欢喝茶。"]
    assert facts("I live in Berlin and work at Acme.", speaker="Caroline") == [
        "Caroline lives in Berlin",
        "Caroline works at Acme.",
    ]


def test_a_wish_to_forget_takes_all_parts_of_what_it_means() -> None:
    assert wishes("I live in Berlin and I like tea. Please forget that.") == ["I live in Berlin", "I like tea."]
    user = Remembering()
    user.tell("I live in Berlin with my wife.")
    user.tell("Forget that I live in Berlin with my wife.")
    assert user.current == []
