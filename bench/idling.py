"""What a stack costs while nobody calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.prices import GB, MILLION, MONTH_HOURS
from infra.local.stack import TEMPLATE
from infra.local.template import load_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.prices import Prices
    from bench.units import Units

IDLE = """\
Functions, gateway, queues, topics and rules cost nothing while nobody calls. `SearchBackend=existing` adds nothing: its
domain is paid for where it is; `none` serves no memories. With traffic each surface has five metrics ({metrics:.2f} a
month), the worker and the reader of files four each. Free tiers are left out: with them ten alarms, three dashboards,
ten metrics and a million polls cost nothing."""


INFRA = TEMPLATE.parent / "infra"


def idle(prices: Prices, sweep: Units) -> Iterator[str]:
    """Yield the section about a month without requests; `sweep` is what a run of the sweeper uses for nothing."""
    lines = _lines(prices, sweep)
    yield "## A month without requests"
    yield ""
    yield "| | $ a month |"
    yield "| --- | ---: |"
    for name, dollars in lines.items():
        yield f"| {name} | {dollars:.2f} |"
    yield f"| **all, without search** | **{sum(lines.values()):.2f}** |"
    for stage, size in load_template(INFRA / "search.yaml")["Mappings"]["Sizes"].items():
        kind, count, volume = size["InstanceType"], size["Instances"], size["VolumeGiB"]
        hours = count * MONTH_HOURS * prices[f"opensearch_{kind}_hour"]
        disk = count * volume * prices["opensearch_gp3_gb_month"]
        dollars = hours + disk + sum(_alarms(of_a_domain=True)) * prices["alarm_month"]
        yield f"| `SearchBackend=domain` in {stage}: {count} {kind}, {volume} GiB each, its alarms | {dollars:.2f} |"
    yield ""
    yield IDLE.format(metrics=5 * prices["metric_month"])
    yield ""


def _lines(prices: Prices, sweep: Units) -> dict[str, float]:
    alarms, runs = _alarms(of_a_domain=False), 12 * MONTH_HOURS
    swept = runs * (sweep.reads * prices["dynamodb_read_million"] + sweep.writes * prices["dynamodb_write_million"])
    computed = (
        runs * prices.assumed("sweep_seconds") * prices["lambda_gb_second"] + runs * prices["lambda_million"] / MILLION
    )
    computed += runs * prices.assumed("log_bytes") / GB * prices.a_gb_of_logs
    polls = 2 * prices.assumed("polls_a_minute") * 60 * MONTH_HOURS
    return {
        "the key (each of its first two rotations adds one more)": prices["kms_key_month"],
        f"alarms ({len(alarms)}, of {sum(alarms)} metrics)": sum(alarms) * prices["alarm_month"],
        "the dashboard": prices["dashboard_month"],
        "the sweeper's three metrics": 3 * prices["metric_month"],
        f"the sweeper's runs ({sweep.reads:g} read and {sweep.writes:g} write units each)": swept / MILLION + computed,
        "Lambda's polling of the two queues": polls / MILLION * prices["sqs_fifo_million"],
    }


def _alarms(*, of_a_domain: bool) -> list[int]:
    """Return of each alarm how many metrics it looks at, which is what AWS counts; a query is one of them."""
    resources = load_template(INFRA / "monitoring.yaml")["Resources"].values()
    alarms = [one for one in resources if one["Type"] == "AWS::CloudWatch::Alarm"]
    return [_metrics(one["Properties"]) for one in alarms if (one.get("Condition") == "HasDomain") is of_a_domain]


def _metrics(alarm: dict[str, Any]) -> int:
    return max(1, sum("MetricStat" in query for query in alarm.get("Metrics", [])))
