"""The price table of `prices.json`: dollars by name, and what is assumed where nothing can be measured here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PRICES = Path(__file__).with_name("prices.json")
MILLION, GB, MONTH_HOURS = 1_000_000, 1_000_000_000, 730


class Prices:
    """The price table: `prices["…"]` in dollars, and what is assumed where nothing can be measured here."""

    def __init__(self, text: str) -> None:
        self.table: dict[str, Any] = json.loads(text)

    def __getitem__(self, name: str) -> float:
        price: float = self.table["prices"][name]["usd"]
        return price

    def assumed(self, name: str) -> float:
        """Return a number that is assumed."""
        value: float = self.table["assumed"][name]["value"]
        return value

    @property
    def a_gb_of_logs(self) -> float:
        """Dollars of a GB of logs: to take it in, and to keep it for the month that a stack keeps its logs."""
        return self["logs_gb"] + self["logs_gb_month"] * self.assumed("log_compression")

    def listed(self) -> Iterator[str]:
        """Yield the table of prices and assumptions, with their sources."""
        yield "## Prices"
        yield ""
        yield f"`bench/prices.json`, {self.table['region']}, {self.table['date']}."
        yield ""
        yield "| | $ | per | source |"
        yield "| --- | ---: | --- | --- |"
        for name, price in self.table["prices"].items():
            dollars = f"{price['usd']:.10f}".rstrip("0").rstrip(".")
            yield f"| {name} | {dollars} | {price['unit']} | {price['source']} |"
        yield ""
        yield "Assumed, since it can't be measured here:"
        yield ""
        yield "| | | |"
        yield "| --- | ---: | --- |"
        for name, one in self.table["assumed"].items():
            yield f"| {name} | {one['value']:,} | {one['of']} |"
