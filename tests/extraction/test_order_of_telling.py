"""Which word is the later one: by the times that are told, else in the order of arrival."""

from __future__ import annotations

import pytest

from shared.extraction.deciding import RuleDecider
from shared.extraction.port import Known, Learnt

DAY = 86_400_000
NOW = 1_780_000_000_000
HOMES = [("I live in Berlin", "I moved to Madrid"), ("我住在北京", "我搬到上海了")]


def event(known: Known, fact: str, at: int | None) -> str:
    return RuleDecider().decide(Learnt(fact, event_at=at), [known]).event


@pytest.mark.parametrize(("known", "fact"), HOMES)
@pytest.mark.parametrize("event_at", [NOW + 30 * DAY, NOW - DAY, None])
def test_a_fact_without_a_time_is_said_now(known: str, fact: str, event_at: int | None) -> None:
    assert event(Known("m", 1, known, 0.9, event_at=event_at, told_at=NOW), fact, None) == "UPDATE"


@pytest.mark.parametrize(("known", "fact"), HOMES)
def test_a_memory_without_a_time_was_said_when_it_was_told(known: str, fact: str) -> None:
    memory = Known("m", 1, known, 0.9, told_at=NOW)
    assert event(memory, fact, NOW + DAY) == "UPDATE"
    assert event(memory, fact, NOW - DAY) == "NONE"


def test_a_time_of_the_memory_counts_before_that_of_its_telling() -> None:
    memory = Known("m", 1, "I live in Berlin", 0.9, event_at=NOW - 9 * DAY, told_at=NOW)
    assert event(memory, "I moved to Madrid", NOW - DAY) == "UPDATE"


def test_where_no_time_is_known_the_order_of_arrival_decides() -> None:
    assert event(Known("m", 1, "I live in Berlin", 0.9), "I moved to Madrid", NOW) == "UPDATE"
    assert event(Known("m", 1, "I live in Berlin", 0.9), "I moved to Madrid", None) == "UPDATE"
