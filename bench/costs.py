"""Measure what each operation uses of AWS, price it, and write `docs/costs.md`: `python -m bench.costs [--print]`."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.courses import Course, courses
from bench.idling import idle
from bench.kept import Kept, kept_of
from bench.outgrowing import outgrown
from bench.prices import GB, MILLION, PRICES, Prices
from bench.stage import CONTEXT, Made, Stage, _overlapping, handler_of, open_stage
from bench.units import Meter, Units
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import calls_made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).parents[1] / "docs" / "costs.md"

ROUNDS = 4
"""Always so many: what a list reads grows with what the rounds before have left."""

PAUSE = 0.02
"""Seconds before each call, so that calls made beside each other are seen to be."""


COLUMNS = (
    *("operation", "reads", "writes", "S3 PUT", "S3 GET", "SQS", "in a row", "ms"),
    *("table $", "bucket $", "rest $", "**all $**"),
)
HOW_MEASURED = """\
Reads and writes are DynamoDB's request units: what a transaction writes counts twice, and indexes count by themselves
(`bench/units.py` has the rules). *In a row*: rounds of calls that wait for each other. *ms*: what a warm function is
paid for: its own time here, and the assumed time of what it waits for, with the memory of production. Dollars: *table*
is DynamoDB; *bucket* is S3 and its key; *rest* is the gateway, Lambda, SQS, logs, traces and bytes out. Models of
Bedrock come on top, and so does reading files: a minute of it is {minute:.4f}."""
KEPT = """\
Measured bytes of what one leaves in the table (with the 100 bytes that AWS adds to each row), in its local indexes and
in the bucket. Local indexes are paid for as the table is, for storage and for recovery. A restore costs {restore:.2f} a
GB once; embedding a million learnt memories by Titan, {titan:.2f}. In OpenSearch a million passages take {disk:.1f} GB
of each node that has a copy, {volume:.2f} a month as part of a volume that is paid for as a whole."""


@dataclass(frozen=True)
class Cost:
    """One operation: what it uses, and dollars a million of it, by what they are paid for."""

    surface: str
    name: str
    units: Units
    lambda_ms: float
    table: float
    bucket: float
    rest: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.table + self.bucket + self.rest

    def row(self) -> str:
        """Return its row in a table."""
        u = self.units
        used = f"{u.reads:g} | {u.writes:g} | {u.s3_puts:g} | {u.s3_gets:g} | {u.sqs:g} | {u.rounds:g}"
        money = f"{self.table:.2f} | {self.bucket:.2f} | {self.rest:.2f} | **{self.total:.2f}**"
        return f"| {self.name} | {used} | {self.lambda_ms:.0f} | {money} |"


@dataclass
class Pricing:
    """Measures courses on a stage and prices them, with the memory of production's functions."""

    stage: Stage
    meter: Meter
    prices: Prices
    memory: dict[str, int]

    def cost(self, course: Course, rounds: int = ROUNDS) -> Cost:
        """Return what a course costs, from the mean of its rounds; the first is not counted."""
        total, own, waited, sizes = Units(), 0.0, 0.0, (0, 0)
        for n in range(rounds + 1):
            request = course.prepare(n)
            with self.stage.recorded() as calls, self.meter.counting() as units:
                started = time.perf_counter()
                sizes = request()
                seconds = time.perf_counter() - started
            if n:
                groups = _overlapping(calls)
                units.rounds = len(groups)
                total += units
                own += max(0.0, seconds - sum(_span(group) for group in groups)) * 1000
                waited += sum(max(self._latency(call) for call in group) for group in groups)
        return self._priced(course, total.over(rounds), own / rounds + waited / rounds, sizes)

    def _latency(self, call: Made) -> float:
        return self.prices.assumed(f"{call.service}_ms")

    def _priced(self, course: Course, units: Units, milliseconds: float, sizes: tuple[int, int]) -> Cost:
        p = self.prices
        milliseconds += course.searches * p.assumed("search_ms")
        s3 = units.s3_puts * p["s3_put_thousand"] / 1000 + units.s3_gets * p["s3_get_thousand"] / 1000
        kms = (units.s3_puts + units.s3_gets) * p.assumed("kms_share_of_s3") * p["kms_ten_thousand"] / 10_000
        sqs = (units.sqs + course.polled) * p["sqs_fifo_million"] / MILLION
        gateway = sum(-(-max(sizes) // (512 << 10)) for _ in range(course.requests)) * p["http_api_million"] / MILLION
        gb_seconds = milliseconds / 1000 * self.memory[course.function] / 1024
        computing = course.invocations * p["lambda_million"] / MILLION + gb_seconds * p["lambda_gb_second"]
        told = course.invocations * p.assumed("log_bytes") / GB * p["logs_gb"]
        traced = course.invocations * p.assumed("traced_share") * p["traces_million"] / MILLION
        out = sizes[1] / GB * p["transfer_out_gb"]
        table = units.reads * p["dynamodb_read_million"] + units.writes * p["dynamodb_write_million"]
        rest = (sqs + gateway + computing + told + traced + out) * MILLION
        return Cost(course.surface, course.name, units, milliseconds, table, (s3 + kms) * MILLION, rest)


def main() -> None:
    """Measure and write the page; `--print` only prints it."""
    text = page()
    if "--print" in sys.argv[1:]:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, "utf-8")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what functions log and count off the console, until it is over."""
    before = dict(os.environ)
    logging.disable(logging.CRITICAL)
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        os.environ.clear()
        os.environ.update(before)


def page() -> str:
    """Return the whole page."""
    with _quiet():
        return _page()


def _page() -> str:
    prices = Prices(PRICES.read_text("utf-8"))
    production = Stack(TEMPLATE, {"Stage": "prod"})
    memory = {function.name: function.memory for function in production.functions()}
    with open_stage() as stage:
        meter = Meter(stage.emulator, stage.aws, stage.stack.outputs["TableName"], pause=PAUSE)
        pricing = Pricing(stage, meter, prices, memory)
        costs = [pricing.cost(course) for course in courses(stage)]
        kept = kept_of(stage, meter)
        sweep = _sweep(stage, meter)
    lines = [*_head(prices), *_operations(prices, costs), *idle(prices, sweep), *_kept(prices, kept)]
    lines += [*outgrown(costs, kept, production, prices), *prices.listed()]
    return "\n".join(lines).strip() + "\n"


def _sweep(stage: Stage, meter: Meter) -> Units:
    """Return what one run of the sweeper uses when nothing is due."""
    sweeper: Callable[..., Any] = handler_of(stage, "SweeperFunction")
    sweeper({"job": "sweep"}, CONTEXT)  # the first run looks further back
    token = calls_made.set([])
    try:
        with meter.counting() as units:
            sweeper({"job": "sweep"}, CONTEXT)
    finally:
        calls_made.reset(token)
    return units


def _span(calls: list[Made]) -> float:
    return max(call.ended for call in calls) - min(call.started for call in calls)


def _head(prices: Prices) -> list[str]:
    table = prices.table
    return [
        "# Costs",
        "",
        "Written by `make costs`; nothing here is typed by hand. What each operation uses is measured through the",
        f"functions over the emulated AWS; prices are those of {table['region']}, {table['date']} ([below](#prices)).",
        f"{table['note']}",
        "",
    ]


def _operations(prices: Prices, costs: list[Cost]) -> Iterator[str]:
    yield "## A million of each operation"
    yield ""
    yield HOW_MEASURED.format(minute=60 * 3008 / 1024 * prices["lambda_gb_second"])
    for surface in dict.fromkeys(cost.surface for cost in costs):
        mine = [cost for cost in costs if cost.surface == surface]
        yield ""
        yield f"### {surface}"
        yield ""
        yield "| " + " | ".join(COLUMNS) + " |"
        yield "| --- |" + " ---: |" * (len(COLUMNS) - 1)
        yield from (cost.row() for cost in mine)
    yield ""


def _kept(prices: Prices, kept: list[Kept]) -> Iterator[str]:
    yield "## A million kept for a month"
    yield ""
    titan = prices.assumed("tokens_a_memory") * prices["titan_embed_million_tokens"]
    disk = (prices.assumed("passage_text_bytes") + 2 * 4 * prices.assumed("vector_dimension")) * MILLION / GB
    volume = disk * prices["opensearch_gp3_gb_month"]
    yield KEPT.format(restore=prices["dynamodb_restore_gb"], titan=titan, disk=disk, volume=volume)
    yield ""
    yield "| a million of | table, GB | indexes, GB | bucket, GB | table $ | recovery $ | bucket $ | **all $** |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for one in kept:
        table, index, bucket = (size * MILLION / GB for size in (one.table, one.index, one.bucket))
        paid = (table + index) * prices["dynamodb_gb_month"]
        recovery = (table + index) * prices["dynamodb_recovery_gb_month"]
        stored = bucket * prices["s3_gb_month"]
        sizes = f"{table:.2f} | {index:.2f} | {bucket:.2f}"
        money = f"{paid:.2f} | {recovery:.2f} | {stored:.2f} | **{paid + recovery + stored:.2f}**"
        yield f"| {one.name} | {sizes} | {money} |"
    yield ""


if __name__ == "__main__":
    main()
