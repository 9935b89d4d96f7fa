from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.logs import log_of
from tests.projects.world import ROOT, project_world, turn_path

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from tests.projects.world import World

SECRETS = ("the-body", "the-meta", "my-task")


@pytest.fixture
def world() -> Iterator[World]:
    with project_world() as made:
        yield made


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with log_of("projects") as written:
        yield written


def _lines(text: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, text.splitlines()) if line.get("message") == "request"]


def test_a_request_leaves_one_line_that_says_what_it_did(world: World, log: io.StringIO) -> None:
    client = world.client()
    client.put(turn_path(), json_body={}, headers={"x-correlation-id": "run-7"})
    (line,) = _lines(log.getvalue())
    assert line["route"] == f"PUT {ROOT}/tasks/<task_id>/turns/<turn>"
    assert line["operation"] == "put_turn"
    assert (line["status"], line["correlation_id"]) == (200, "run-7")
    assert line["key_id"].startswith("apikey_")
    assert line["request_id"].startswith("req_")
    assert line["duration_ms"] > 0
    assert line["aws_calls"]["dynamodb.TransactWriteItems"] == 1


def test_neither_bodies_nor_names_nor_keys_are_in_the_log(world: World, log: io.StringIO) -> None:
    client = world.client()
    path = turn_path(task="my-task")
    body = {"summary_md": "the-body", "meta": {"x": "the-meta"}}
    client.put(path, json_body=body)
    client.put(path, json_body={**body, "meta": {"exit_code": "the-meta"}})
    client.get(path, query={"x": "the-body"})
    client.get(f"{ROOT}/my-task")
    out = log.getvalue()
    assert len(_lines(out)) == 4
    for secret in (*SECRETS, client.key or "lsk_"):
        assert secret not in out


def test_what_meets_no_route_names_none(world: World, log: io.StringIO) -> None:
    world.client().get(f"{ROOT}/nothing")
    (line,) = _lines(log.getvalue())
    assert (line.get("route"), line.get("operation"), line["status"]) == (None, None, 404)


def test_metrics_are_emf_lines_of_the_surface(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.client().get(f"{ROOT}/tasks")
    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    assert [m["surface"] for m in metrics] == ["projects"]
    assert metrics[0]["Requests"] == [1.0]
    assert metrics[0]["AwsCalls"][0] >= 2
