"""The page of costs: the command makes it, and the committed one is what it would make, but for measured numbers."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING

import pytest

from bench.costs import PAGE, page
from bench.prices import PRICES

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def made() -> str:
    return page()


def structure(text: str) -> Iterator[str]:
    """Yield headings, texts and the first column of tables: no number that is measured."""
    for line in text.splitlines():
        yield re.sub(r"\d[\d,.]*", "n", line.split("|")[1] if line.startswith("|") else line)


def test_the_committed_page_is_what_the_command_makes(made: str) -> None:
    assert list(structure(PAGE.read_text("utf-8"))) == list(structure(made)), "write it anew with `make costs`"


def _units(text: str) -> dict[str, list[str]]:
    """Return what is counted of each operation, without times and dollars."""
    rows = [
        line.split("|")
        for line in text.splitlines()
        if line.count("|") == 13 and re.fullmatch(r".*\*\*[\d.]+\*\* \|", line)
    ]
    return {row[1].strip(): [cell.strip() for cell in row[2:7]] for row in rows}


def test_what_operations_use_is_about_what_is_committed(made: str) -> None:
    committed = _units(PAGE.read_text("utf-8"))
    assert len(committed) > 20
    for name, cells in _units(made).items():
        for told, now in zip(committed[name], cells, strict=True):
            assert float(now) == pytest.approx(float(told), rel=0.1, abs=2), (name, committed[name], cells)


def test_every_price_says_where_it_is_from_and_the_table_when() -> None:
    table = json.loads(PRICES.read_text("utf-8"))
    assert date.fromisoformat(table["date"]) <= date(2100, 1, 1)
    assert table["region"]
    for name, price in table["prices"].items():
        assert price.keys() == {"usd", "unit", "source"}, name
        assert price["usd"] > 0, name
        assert price["source"], name


def test_every_price_is_used(made: str) -> None:
    sources = "".join(path.read_text("utf-8") for path in PRICES.parent.glob("*.py"))
    for name in json.loads(PRICES.read_text("utf-8"))["prices"]:
        assert f'"{name}"' in sources or name.startswith("opensearch_"), name
        assert f"| {name} |" in made
