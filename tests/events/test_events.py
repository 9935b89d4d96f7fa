"""The sample events for `sam local invoke`, given to the functions that the template's routes would give them to."""

import base64
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.local.stack import Function
from shared.kernel.clock import SystemClock
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import CONTEXT
from tests.emulator.cloud import Cloud, emulated_cloud

SAMPLES = {path.stem: json.loads(path.read_text("utf-8")) for path in Path(__file__).parent.glob("*.json")}
REQUESTS = sorted(name for name, event in SAMPLES.items() if "routeKey" in event)
BATCHES = sorted(name for name, event in SAMPLES.items() if "Records" in event)
SCHEDULES = sorted(set(SAMPLES) - set(REQUESTS) - set(BATCHES))
ACCEPTED = {"add_memories": 202}
# What has to be there before.
BEFORE = {"get_task": ["put_turn"], "get_digest": ["put_turn"], "put_artifact": ["put_turn"]}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with emulated_cloud() as made:
        yield made


def function_for(cloud: Cloud, name: str) -> Function:
    """Return the function whose route or schedule in the template the event is of."""
    event = SAMPLES[name]
    for function in cloud.stack.functions():
        if event.get("routeKey") in [f"{method} {path}" for method, path in function.routes]:
            return function
        if event in [json.loads(schedule.input) for schedule in function.schedules]:
            return function
        if queue_of(event) in {source.arn.rpartition("-")[2] for source in function.queues}:
            return function
    raise AssertionError(f"no function takes {name}")


def queue_of(event: Any) -> str:
    """Return what a queue is named behind its stack's name; "" of an event that is no batch."""
    return str(event.get("Records", [{}])[0].get("eventSourceARN", "")).rpartition("-")[2]


def invoke(cloud: Cloud, name: str, key: str, folder: Path) -> Any:
    function = function_for(cloud, name)
    module = importlib.import_module(function.handler.removesuffix(".handler"))
    search = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(folder)}
    handler = module.build({**cloud.environment(function.name), **search}, cloud.aws, SystemClock())
    event = json.loads(json.dumps(SAMPLES[name]))
    if "authorization" in event.get("headers", {}):
        event["headers"]["authorization"] = f"Bearer {key}"
    return json.loads(json.dumps(handler(event, CONTEXT)))


def new_key(cloud: Cloud) -> str:
    environment = Environment.of(cloud.environment("ProjectsFunction"))
    keys = tenancy(environment, cloud.aws, SystemClock()).keys
    return keys.issue(KeyWish(name="sample", role=Role.TENANT_ADMIN, tenant="sample", project=None)).secret


@pytest.mark.parametrize("name", REQUESTS)
def test_a_sample_request_is_answered_200_or_what_it_accepts_202(cloud: Cloud, name: str, tmp_path: Path) -> None:
    key = new_key(cloud)
    for earlier in BEFORE.get(name, []):
        invoke(cloud, earlier, key, tmp_path)
    answer = invoke(cloud, name, key, tmp_path)
    assert answer["statusCode"] == ACCEPTED.get(name, 200), answer


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_sample_schedule_is_worked_off(cloud: Cloud, name: str, tmp_path: Path) -> None:
    invoke(cloud, name, "", tmp_path)


@pytest.mark.parametrize("name", BATCHES)
def test_a_sample_message_of_an_unknown_task_is_done_with(cloud: Cloud, name: str, tmp_path: Path) -> None:
    assert invoke(cloud, name, "", tmp_path) == {"batchItemFailures": []}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_sample_fits_the_route_that_it_names(name: str) -> None:
    event = SAMPLES[name]
    pattern = re.sub(
        r"\{(\w+)\+\}",
        r"(?P<\1>.+)",
        re.escape(event["routeKey"].split()[1]).replace(r"\{", "{").replace(r"\}", "}").replace(r"\+", "+"),
    )
    matched = re.fullmatch(pattern, event["rawPath"])
    assert matched is not None
    assert matched.groupdict() == event.get("pathParameters", {})
    assert event["requestContext"]["http"]["path"] == event["rawPath"]


def test_the_sample_artifact_is_a_picture() -> None:
    event = SAMPLES["put_artifact"]
    body = base64.b64decode(event["body"])
    assert event["isBase64Encoded"]
    assert body.startswith(b"\x89PNG")
    assert int(event["headers"]["content-length"]) == len(body)


def test_no_sample_holds_a_real_secret() -> None:
    held = {
        event["headers"]["authorization"]
        for name, event in SAMPLES.items()
        if "authorization" in event.get("headers", {})
    }
    assert held == {"Bearer lsk_put-a-key-of-yours-here"}
