"""The tables of docs/learning.md are what the rules do."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.extraction.deciding import RuleDecider
from shared.extraction.port import Known
from shared.extraction.rules.times import time_in
from tests.extraction.conversations import NOW, day, facts, learnt

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")


def table(*head: str) -> list[list[str]]:
    """All rows of the page's tables with this head."""
    rows: list[list[str]] = []
    for block in PAGE.split("\n\n"):
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.strip().splitlines()]
        if cells and cells[0] == list(head):
            rows += cells[2:]
    assert rows
    return rows


@pytest.mark.parametrize("row", table("the user says", "learnt"))
def test_what_is_a_fact(row: list[str]) -> None:
    said, kept = row
    assert facts(said) == [fact for fact in kept.split("; ") if fact]


@pytest.mark.parametrize("row", table("fact", "type", "categories"))
def test_what_kind_a_fact_is(row: list[str]) -> None:
    (fact,) = learnt(row[0]).facts
    assert [fact.memory_type, ", ".join(fact.categories)] == row[1:]


@pytest.mark.parametrize("row", table("words", "time"))
def test_when_it_happened(row: list[str]) -> None:
    assert day(time_in(row[0], NOW)) == row[1]


@pytest.mark.parametrize("row", table("known", "told", "decision"))
def test_what_becomes_of_a_fact(row: list[str]) -> None:
    known, told, event = row
    taught = learnt(told).facts
    assert [RuleDecider().decide(fact, [Known("m", 1, known, 0.5)]).event for fact in taught] == [event]
