"""Which questions point at what was said before them, and at what of it."""

from __future__ import annotations

import pytest

from shared.memories.context import trimmed
from shared.memories.rewriting import refers, rewritten

LISBON = [{"role": "user", "content": "Last spring I went to Lisbon with Ana."}, {"role": "user", "content": "so"}]


@pytest.mark.parametrize(
    "query",
    [
        "and there?",
        "what about him",
        "What did she say?",
        "why?",
        "how long did it take",
        "and the price?",
        "which of those?",
        "那里呢",
        "他喜欢什么",
        "这个项目什么时候开始",
        "还有呢？",
    ],
)
def test_what_points_at_something_refers(query: str) -> None:
    assert refers(query)


@pytest.mark.parametrize(
    "query",
    [
        "Where does Ana live?",
        "Is there a deadline for the report",
        "what is my favourite food",
        "What retry and idempotency requirements apply to the Cedar callback module?",
        "我喜欢吃什么",
        "上海的天气怎么样",
    ],
)
def test_what_stands_for_itself_does_not(query: str) -> None:
    assert not refers(query)
    assert rewritten(query, LISBON) is None


def test_what_is_pointed_at_are_the_newest_names_or_else_the_newest_words() -> None:
    assert rewritten("and there?", LISBON) == "and there? Lisbon Ana"
    assert rewritten("why?", [{"content": "the payment service keeps failing"}]) == (
        "why? payment service keeps failing"
    )
    assert rewritten("那里呢", [{"content": "我去年在杭州住过。"}]) == "那里呢 我去年在杭州住过"
    for nothing in ([], [{}], [{"content": " "}], [{"content": 5}], [{"content": "what was it"}]):
        assert rewritten("and there?", nothing) is None


def test_numbers_alone_are_not_what_is_pointed_at() -> None:
    assert rewritten("and there?", [*LISBON, {"content": "it took 2 weeks"}]) == "and there? Lisbon Ana"
    assert (
        rewritten("and there?", [{"content": "we need 3 tickets for the opera"}]) == "and there? need 3 tickets opera"
    )
    assert rewritten("why then?", [{"content": "the dentist moved it to 3pm"}]) == "why then? dentist moved 3pm"
    assert rewritten("and then?", [{"content": "we turned on 2FA"}]) == "and then? 2FA"
    assert rewritten("and then?", [{"content": "we waited at Gate 42"}]) == "and then? Gate 42"
    assert rewritten("why?", [{"content": "the order id order_17 fails"}]) == "why? order_17"


def test_the_newest_of_the_context_is_kept_and_a_sole_long_entry_too() -> None:
    entries = [{"role": "user", "content": f"{n} " + "x" * 1_000} for n in range(60)]
    assert trimmed(entries) == tuple(entries[-9:])
    assert len(trimmed([{"content": "x"}] * 60)) == 50
    long = {"content": [{"type": "text", "text": "x" * 20_000}]}
    assert trimmed([{"content": "x"}, long]) == (long,)
    assert trimmed([long, {"content": "x"}]) == ({"content": "x"},)
    assert trimmed([]) == ()
