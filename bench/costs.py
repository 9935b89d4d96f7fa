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
from unittest.mock import patch

from bench.courses import ROOT, Caller, Course, courses
from bench.idling import idle
from bench.kept import Kept, kept_of
from bench.operations import request
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
KEPT_COLUMNS = (
    *("a million of", "table, GB", "indexes, GB", "bucket, GB"),
    *("table $", "recovery $", "bucket $", "**all $**", "once $"),
)
HOW_MEASURED = """\
Reads and writes are DynamoDB's request units: what a transaction writes counts twice, and indexes count by themselves
(`bench/units.py` has the rules). *In a row*: rounds of calls that wait for each other. *ms*: what a warm function is
paid for: its own time on a processor here, and the assumed time of what it waits for, with the memory of production.
Dollars: *table* is DynamoDB; *bucket* is S3 and its key; *rest* is gateway, Lambda, SQS, logs, traces and bytes out.
Models of Bedrock come on top, and so does reading files: a minute of it is {minute:.4f}. Left out is what an instance
does once a minute, whatever the traffic: it reads its caller's key and limits and writes usage, {reads:g} read and
{writes:g} write units ({aside:.2f} a million where each request comes a minute after the last)."""
KEPT = """\
Measured bytes of what one leaves in the table (with the 100 bytes that AWS adds to each row), in its local indexes and
in the bucket. Local indexes are paid for as the table is, for storage and for recovery. *Once $* is what it takes to
remove them after they were deleted: units and S3's requests of the sweeper, or of a worker for a user; what expires
takes the units of its delete as well. A restore costs {restore:.2f} a GB; embedding a million learnt memories by Titan,
{titan:.2f}. In OpenSearch a million passages take {disk:.1f} GB of each node that has a copy, {volume:.2f} a month as
part of a volume that is paid for as a whole."""


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
        """Return what a course costs, from the mean of its rounds; the first is not counted.

        Its own time is the processor's, and that of the quickest round: what else the machine does only adds to it.
        """
        total, own, waited, sizes = Units(), list[float](), 0.0, (0, 0)
        for n in range(rounds + 1):
            request = course.prepare(n)
            with self.stage.recorded() as calls, self.meter.counting() as units:
                started = time.process_time()
                sizes = request()
                seconds = time.process_time() - started
            if n:
                groups = _overlapping(calls)
                units.rounds = len(groups)
                total += units
                own.append(max(0.0, seconds - sum(_span(group) for group in groups)) * 1000)
                waited += sum(max(self._latency(call) for call in group) for group in groups)
        return self._priced(course, total.over(rounds), min(own) + waited / rounds, sizes)

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
        told = course.invocations * p.assumed("log_bytes") / GB * p.a_gb_of_logs
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
        sweep, aside = _sweep(stage, meter), _aside(stage, meter)
    lines = [*_head(prices), *_operations(prices, costs, aside), *idle(prices, sweep), *_kept(prices, kept)]
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


def _aside(stage: Stage, meter: Meter) -> Units:
    """Return what an instance uses in a minute beside what its requests use."""

    def used() -> Units:
        with meter.counting() as units:
            caller.send(request("GET", f"{ROOT}/tasks"))
        return units

    with patch("shared.tenancy.background.later", lambda call: call()):
        caller = Caller(stage, "ProjectsFunction")
        first, second = used(), used()
    return Units(first.reads - second.reads, first.writes - second.writes)


def _span(calls: list[Made]) -> float:
    """Return the processor's time (s) from the first of some calls to the last: the emulator's, not the function's."""
    return max(call.worked[1] for call in calls) - min(call.worked[0] for call in calls)


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


def _operations(prices: Prices, costs: list[Cost], aside: Units) -> Iterator[str]:
    yield "## A million of each operation"
    yield ""
    minute = 60 * 3008 / 1024 * prices["lambda_gb_second"]
    dollars = aside.reads * prices["dynamodb_read_million"] + aside.writes * prices["dynamodb_write_million"]
    yield HOW_MEASURED.format(minute=minute, reads=aside.reads, writes=aside.writes, aside=dollars)
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
    yield "| " + " | ".join(KEPT_COLUMNS) + " |"
    yield "| --- |" + " ---: |" * (len(KEPT_COLUMNS) - 1)
    for one in kept:
        table, index, bucket = (size * MILLION / GB for size in (one.table, one.index, one.bucket))
        paid = (table + index) * prices["dynamodb_gb_month"]
        recovery = (table + index) * prices["dynamodb_recovery_gb_month"]
        stored = bucket * prices["s3_gb_month"]
        sizes = f"{table:.2f} | {index:.2f} | {bucket:.2f}"
        end = one.end.reads * prices["dynamodb_read_million"] + one.end.writes * prices["dynamodb_write_million"]
        end += one.end.s3_puts * prices["s3_put_thousand"] * 1000
        money = f"{paid:.2f} | {recovery:.2f} | {stored:.2f} | **{paid + recovery + stored:.2f}** | {end:.2f}"
        yield f"| {one.name} | {sizes} | {money} |"
    yield ""


if __name__ == "__main__":
    main()
