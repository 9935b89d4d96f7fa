"""What alarms and the dashboard look at is what functions write: refusals in their logs, and their own metrics."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.faults import _answer
from infra.local.template import load_template
from tests.emulator.faults import intercepted, no_backoff
from tests.logs.stack import SERVICES
from tests.memories.documents.desk import file
from tests.projects.world import turn_path
from tests.template.stack import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.emulator.faults import Call
    from tests.logs.stack import Functions

MONITORING = load_template(ROOT / "infra/monitoring.yaml")["Resources"]
ADD = {"user_id": "ann", "messages": [{"role": "user", "content": "I like tea.", "timestamp": -1}]}
REQUESTS = {
    "ProjectsFunction": ("PUT", turn_path(), {}),
    "StoresFunction": ("POST", "/v1/memory_stores", {"name": "notes"}),
    "MemoriesFunction": ("POST", "/v1/memories/add", ADD),
    "PlatformFunction": ("GET", "/v1/api_keys", None),
}
OF_TABLES, OF_QUEUES = "AccessDeniedException", "KmsDisabled"


def refused(*names: str) -> AbstractContextManager[None]:
    """Have services say that the key or a permission is refused, at calls whose names begin so."""

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        if not call.name.startswith(names):
            return apply()
        if call.service == "s3":
            body = "<Error><Code>KMS.DisabledException</Code><Message>Disabled</Message></Error>"
            return _answer(request, 400, "application/xml", body)
        code = OF_QUEUES if call.service == "sqs" else OF_TABLES
        told = json.dumps({"__type": f"com.amazonaws.service#{code}", "message": "Disabled"})
        return _answer(request, 400, "application/x-amz-json-1.0", told)

    return intercepted(around)


def rings(function: str, line: dict[str, Any]) -> bool:
    """Tell whether the filter of a function's log group counts a line."""
    (pattern,) = [
        made["Properties"]["FilterPattern"]
        for made in MONITORING.values()
        if made["Type"] == "AWS::Logs::MetricFilter"
        and made["Properties"]["LogGroupName"] == {"Ref": function.replace("Function", "Logs")}
    ]
    terms = re.fullmatch(r"\{ (.+) \}", pattern)
    assert terms
    claims = [re.fullmatch(r'\$\.(\w+) = "([^"]+)"', term) for term in terms[1].split(" || ")]
    assert all(claims), pattern
    return any(fnmatchcase(str(line.get(claim[1], "")), claim[2]) for claim in claims if claim)


def counted(at: Functions, function: str) -> bool:
    return any(rings(function, line) for line in at.lines() if line["service"] == SERVICES[function])


@pytest.mark.parametrize("function", REQUESTS)
def test_a_request_for_which_the_key_is_refused_is_counted(at: Functions, function: str) -> None:
    method, path, body = REQUESTS[function]
    at.client(function).send(method, path, json_body=body)
    assert not counted(at, function)
    with refused("dynamodb"), no_backoff():
        assert at.client(function).send(method, path, json_body=body).status >= 500
    assert counted(at, function)


@pytest.mark.parametrize("calls", ["dynamodb", "s3", "sqs"])
@pytest.mark.parametrize("function", ["WorkerFunction", "DocumentsFunction"])
def test_a_message_that_is_not_worked_on_because_the_key_is_refused_is_counted(
    at: Functions, function: str, calls: str
) -> None:
    sent = [file("Cedar.")] if function == "DocumentsFunction" else [{"type": "text", "text": "I like tea."}]
    body = {"user_id": "ann", "messages": [{"role": "user", "content": sent, "timestamp": -1}]}
    assert at.client("MemoriesFunction").post("/v1/memories/add", json_body=body).status == 202
    assert not counted(at, function)
    with refused("sqs.Send", "sqs.Change") if calls == "sqs" else refused(calls), no_backoff():
        assert at.deliver(function)
    assert counted(at, function)


@pytest.mark.parametrize("calls", ["dynamodb", "s3", "sqs"])
def test_a_sweep_for_which_the_key_is_refused_is_counted(at: Functions, calls: str) -> None:
    at.client("MemoriesFunction").post("/v1/memories/add", json_body=ADD)
    at.client("ProjectsFunction").put(turn_path(), json_body={"summary_md": "x" * 60_000})
    at.client("ProjectsFunction").delete(turn_path().partition("/turns")[0])
    at.sweep()
    assert not counted(at, "SweeperFunction")
    at.desk.shelf.clock.move(ms=3_600_000)
    with refused("sqs.Send") if calls == "sqs" else refused(calls), no_backoff():
        at.sweep()
    assert counted(at, "SweeperFunction")


def of_alarms() -> Iterator[tuple[str, frozenset[tuple[str, Any]]]]:
    """Yield the metrics of our own that alarms watch, by name and dimensions."""
    for made in MONITORING.values():
        told = made["Properties"]
        if made["Type"] == "AWS::CloudWatch::Alarm" and "Lodestore" in str(told.get("Namespace")):
            yield told["MetricName"], frozenset((d["Name"], d["Value"]) for d in told.get("Dimensions", []))


def of_the_dashboard() -> Iterator[tuple[str, frozenset[tuple[str, Any]]]]:
    """Yield those that the dashboard shows; a dot stands for what is above it."""
    body = MONITORING["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"][0]
    for shown in re.findall(r'"metrics": (\[\[.+?\]\])\}\}', body):
        above: list[str] = []
        for metric in json.loads(shown):
            names = [name for name in metric if isinstance(name, str)]
            above = [above[n] if name == "." else name for n, name in enumerate(names)]
            if above[0].startswith("Lodestore/"):
                yield above[1], frozenset(zip(above[2::2], above[3::2], strict=True))


def test_every_metric_of_our_own_that_is_watched_or_shown_is_written(at: Functions) -> None:
    body = {"user_id": "ann", "messages": [{"role": "user", "content": [file("Cedar.")], "timestamp": -1}]}
    at.client("MemoriesFunction").post("/v1/memories/add", json_body=body)
    at.work()
    for function, (method, path, asked) in REQUESTS.items():
        at.client(function).send(method, path, json_body=asked)
    at.sweep()
    written = {
        (metric["Name"], frozenset((name, line[name]) for name in dimensions))
        for line in at.metrics()
        for directive in line["_aws"]["CloudWatchMetrics"]
        for dimensions in directive["Dimensions"]
        for metric in directive["Metrics"]
    }
    wanted = {*of_alarms(), *of_the_dashboard()}
    assert len(wanted) > 15
    by_filters = {("Denied", frozenset[tuple[str, Any]]())}
    assert wanted - by_filters <= written
