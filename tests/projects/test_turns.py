from __future__ import annotations

import json
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from shared.aws.table import Table
from tests.clients.events import Client
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from shared.aws.writes import Write
    from tests.projects.world import World

META = {
    "agent_id": "a",
    "exit_code": 0,
    "started_at": 1_790_000_000.5,
    "tokens": {"in": 10, "out": 10**15},
    "cost": 0.1,
    "commit": None,
    "unknown": {"deep": [1, None, "x"], "zéro": 0.30000000000000004},
}


def test_a_turn_reads_back_exactly_as_it_was_put(client: Client) -> None:
    put = client.put(turn_path(), json_body={"meta": META, "summary_md": "# Done\n"})
    assert put.status == 200, put.content
    got = client.get(turn_path())
    assert got.json == put.json
    assert got.json["meta"] == META
    assert got.json["summary_md"] == "# Done\n"
    assert got.etag == put.etag
    assert got.json["artifacts"] == []


def test_padded_turn_numbers_name_one_turn(client: Client) -> None:
    client.put(turn_path(turn="7"), json_body={"summary_md": "seven"})
    for written in ("07", "0007"):
        assert client.get(turn_path(turn=written)).json["turn"] == 7


def test_a_put_replaces_both_fields_and_keeps_creation_and_artifacts(client: Client) -> None:
    first = client.put(turn_path(), json_body={"meta": {"a": 1}, "summary_md": "one"}).json
    client.put(artifact_path(), body=b"bytes", headers={"Content-Type": "text/plain"})
    second = client.put(turn_path(), json_body={}).json
    assert second["meta"] == {}
    assert second["summary_md"] == ""
    assert second["created_at"] == first["created_at"]
    assert second["updated_at"] > first["updated_at"]
    assert [a["name"] for a in second["artifacts"]] == ["log.txt"]


def test_a_patch_merges_meta_key_by_key_and_keeps_null(client: Client) -> None:
    client.put(turn_path(), json_body={"meta": {"a": 1, "b": 2}, "summary_md": "one"})
    patched = client.patch(turn_path(), json_body={"meta": {"b": None, "c": 3}}).json
    assert patched["meta"] == {"a": 1, "b": None, "c": 3}
    assert patched["summary_md"] == "one"


@pytest.mark.parametrize("field", ["summary_md", "meta"])
def test_a_patch_that_loses_its_race_keeps_what_the_winner_wrote(client: Client, world: World, field: str) -> None:
    long = {"summary_md": {"summary_md": "{} " * 20_000}, "meta": {"meta": {"model": "{} " * 20_000}}}[field]
    client.put(turn_path(), json_body=long)
    won = json.loads(json.dumps(long).replace("{} ", "new "))
    first, transact = [Client(world.handler(), client.key)], Table.transact

    def late(table: Table, *writes: Write) -> None:
        if first:
            first.pop().put(turn_path(), json_body=won)
        transact(table, *writes)

    with patch.object(Table, "transact", late):
        patched = client.patch(turn_path(), json_body={"meta": {"a": 1}})
    assert patched.status == 200
    expected = {"meta": {}, "summary_md": "", **won}
    expected["meta"]["a"] = 1
    read = client.get(turn_path()).json
    assert {name: read[name] for name in expected} == expected
    assert read == patched.json


def test_a_patch_of_an_unknown_turn_is_404_and_makes_nothing(client: Client) -> None:
    assert client.patch(turn_path(), json_body={"summary_md": "x"}).status == 404
    assert client.get(f"{ROOT}/tasks").json["total"] == 0


@pytest.mark.parametrize("size", [32 << 10, (32 << 10) + 1, 1 << 20])
def test_summaries_of_any_size_come_back_whole(client: Client, size: int) -> None:
    summary = "é" * (size // 2) + "x" * (size % 2)
    assert client.put(turn_path(), json_body={"summary_md": summary}).status == 200
    assert client.get(turn_path()).json["summary_md"] == summary


def test_a_summary_above_a_mebibyte_is_413_and_stores_nothing(client: Client, world: World) -> None:
    refused = client.put(turn_path(), json_body={"summary_md": "x" * ((1 << 20) + 1)})
    assert refused.status == 413
    assert "1048576" in refused.json["detail"]
    assert world.cloud.object_keys() == []
    assert client.get(turn_path()).status == 404


def test_meta_above_256_kib_is_413(client: Client) -> None:
    assert client.put(turn_path(), json_body={"meta": {"x": "y" * (256 << 10)}}).status == 413


def test_large_meta_comes_back_in_the_turn_and_in_the_task(client: Client) -> None:
    meta = {"x": "y" * (200 << 10)}
    assert client.put(turn_path(), json_body={"meta": meta}).status == 200
    assert client.get(turn_path()).json["meta"] == meta
    assert client.get(f"{ROOT}/tasks/t1").json["turns"][0]["meta"] == meta


@pytest.mark.parametrize(
    ("meta", "loc"),
    [
        ({"exit_code": True}, ["body", "meta", "exit_code"]),
        ({"exit_code": "1"}, ["body", "meta", "exit_code"]),
        ({"exit_code": 1.5}, ["body", "meta", "exit_code"]),
        ({"tokens": 1.5}, ["body", "meta", "tokens"]),
        ({"cost": "0.1"}, ["body", "meta", "cost"]),
        ({"agent_id": 7}, ["body", "meta", "agent_id"]),
        ({"started_at": []}, ["body", "meta", "started_at"]),
        (None, ["body", "meta"]),
        ([], ["body", "meta"]),
    ],
)
def test_a_meta_of_the_wrong_type_is_422_and_says_where(client: Client, meta: object, loc: list[str]) -> None:
    refused = client.put(turn_path(), json_body={"meta": meta})
    assert refused.status == 422
    (violation,) = refused.json["detail"]
    assert violation["loc"] == loc
    assert violation["msg"]
    assert violation["type"]
    assert client.get(turn_path()).status == 404


def test_every_broken_rule_of_a_body_is_told_at_once(client: Client) -> None:
    refused = client.put(turn_path(), json_body={"summary_md": 5, "meta": {"model": 1, "exit_code": "0"}})
    told = {tuple(violation["loc"]) for violation in refused.json["detail"]}
    assert told == {("body", "summary_md"), ("body", "meta", "model"), ("body", "meta", "exit_code")}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b'{"meta":{"n":-' + b"9" * 4301 + b"}}", "more than 4300 digits"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
    ],
)
def test_a_body_that_is_no_json_of_ours_is_told_the_rule_and_nothing_of_python(
    client: Client, body: bytes, rule: str
) -> None:
    refused = client.put(turn_path(), body=body, headers={"Content-Type": "application/json"})
    (violation,) = refused.json["detail"]
    assert rule in violation["msg"]
    assert not any(word in violation["msg"] for word in ("sys.", "utf-8-sig"))


def test_a_number_of_many_digits_keeps_them(client: Client) -> None:
    number = b"-" + b"9" * 4300
    body = b'{"meta":{"n":' + number + b"}}"
    assert client.put(turn_path(), body=body, headers={"Content-Type": "application/json"}).status == 200
    assert number in client.get(turn_path()).content


@pytest.mark.parametrize(
    "body",
    [
        b'{"meta":{"cost":NaN}}',
        b'{"meta":{"cost":Infinity}}',
        b'{"meta":{"cost":1e999}}',
        b'{"summary_md":"\\ud800"}',
        b'{"summary_md":"\xff\xfe"}',
        b'{"summary_md":null}',
        b'{"meta":{"n":' + b"9" * 5000 + b"}}",
        b"[" * 100_000,
        b'{"meta":' + b'{"a":' * 200 + b"1" + b"}" * 201,
        b"[]",
        b"null",
        b"{",
        b"",
    ],
)
def test_a_body_that_breaks_a_rule_is_422(client: Client, body: bytes) -> None:
    refused = client.put(turn_path(), body=body, headers={"Content-Type": "application/json"})
    assert refused.status == 422, refused.content
    assert refused.json["detail"][0]["loc"][0] == "body"


def test_a_body_of_another_type_is_415(client: Client) -> None:
    assert client.put(turn_path(), body=b"{}", headers={"Content-Type": "text/plain"}).status == 415
    assert (
        client.put(turn_path(), body=b"{}", headers={"Content-Type": "application/json; charset=utf-8"}).status == 200
    )


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (turn_path(task="-x"), {"task_id"}),
        (turn_path(task="a%62"), {"task_id"}),
        (turn_path(task="\U0001f600"), {"task_id"}),
        (turn_path(turn="1\n"), {"turn"}),
        (turn_path(task="x" * 129), {"task_id"}),
        (turn_path(turn="10000"), {"turn"}),
        (turn_path(turn="-1"), {"turn"}),
        (turn_path(turn="1.0"), {"turn"}),
        (turn_path(turn="\u0661"), {"turn"}),
        (turn_path(task="-x", turn="x"), {"task_id", "turn"}),
        (artifact_path(name=".."), {"name"}),
        (artifact_path(name="a b"), {"name"}),
        (artifact_path(name="x" * 129), {"name"}),
    ],
)
def test_a_path_that_breaks_a_rule_is_422_and_names_each_parameter(client: Client, path: str, names: set[str]) -> None:
    refused = client.get(path)
    assert refused.status == 422
    assert {v["loc"][1] for v in refused.json["detail"]} == names


def test_a_condition_that_fails_says_what_is_there(client: Client) -> None:
    headers = {"If-Match": '"seen"'}
    assert "nothing is there" in client.put(turn_path(), json_body={}, headers=headers).json["detail"]
    client.put(turn_path(), json_body={})
    assert "another ETag" in client.put(turn_path(), json_body={}, headers=headers).json["detail"]


def test_conditions_hold_a_write_to_what_the_caller_saw(client: Client) -> None:
    first = client.put(turn_path(), json_body={}, headers={"If-None-Match": "*"})
    assert first.status == 200
    assert client.put(turn_path(), json_body={}, headers={"If-None-Match": "*"}).status == 412
    second = client.put(turn_path(), json_body={}, headers={"If-Match": first.etag})
    assert second.status == 200
    assert client.put(turn_path(), json_body={}, headers={"If-Match": first.etag}).status == 412
    assert client.put(turn_path(turn=2), json_body={}, headers={"If-Match": "*"}).status == 412


def test_an_unchanged_turn_is_304(client: Client) -> None:
    etag = client.put(turn_path(), json_body={}).etag
    unchanged = client.get(turn_path(), headers={"If-None-Match": etag})
    assert (unchanged.status, unchanged.content, unchanged.etag) == (304, b"", etag)


def test_a_turn_that_only_an_artifact_made_exists(client: Client) -> None:
    client.put(artifact_path(), body=b"x")
    assert client.get(turn_path()).json["summary_md"] == ""
    assert client.put(turn_path(), json_body={}, headers={"If-None-Match": "*"}).status == 412


def test_a_replaced_summary_object_is_left_to_a_job_and_never_dangles(client: Client, world: World) -> None:
    client.put(turn_path(), json_body={"summary_md": "a" * 40_000})
    (before,) = world.cloud.object_keys()
    client.put(turn_path(), json_body={"summary_md": "b" * 40_000})
    jobs = [i for i in world.cloud.items() if i["sk"] == {"S": "job"}]
    assert [j["object"]["S"] for j in jobs] == [before]
    assert client.get(turn_path()).json["summary_md"] == "b" * 40_000
