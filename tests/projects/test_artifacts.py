from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from tests.clients.events import Client
    from tests.projects.world import World


@pytest.mark.parametrize("size", [0, 1, 70_000, 5 << 20])
def test_bytes_and_content_type_come_back_exactly(client: Client, size: int) -> None:
    body, kind = os.urandom(size), 'text/X-Odd; charset="utf-8"; q=1'
    put = client.put(artifact_path(), body=body, headers={"Content-Type": kind})
    assert put.status == 200, put.content
    assert put.json["content_type"] == kind
    assert put.json["size"] == size
    assert set(put.json) == {"name", "content_type", "size", "updated_at", "task_id", "turn"}
    got = client.get(artifact_path())
    assert got.content == body
    assert got.headers["content-type"] == kind
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-disposition"] == "attachment"
    assert got.etag == put.etag


def test_fifty_mebibytes_pass_and_one_byte_more_is_413(client: Client) -> None:
    body = bytes(50 << 20)
    assert client.put(artifact_path(), body=body).status == 200
    assert hashlib.sha256(client.get(artifact_path()).content).digest() == hashlib.sha256(body).digest()
    assert client.put(artifact_path(), body=body + b"x").status == 413


def test_json_artifacts_are_not_rewritten(client: Client) -> None:
    client.put(artifact_path(), body=b'{ "a" :1}', headers={"Content-Type": "application/json"})
    assert client.get(artifact_path()).content == b'{ "a" :1}'


def test_without_a_content_type_it_is_octet_stream(client: Client) -> None:
    assert client.put(artifact_path(), body=b"x").json["content_type"] == "application/octet-stream"


@pytest.mark.parametrize("kind", ["text/plain; title=é", "text/\x7f", "a" * 256])
def test_a_content_type_that_no_header_carries_safely_is_422(client: Client, kind: str) -> None:
    refused = client.put(artifact_path(), body=b"x", headers={"Content-Type": kind})
    assert refused.status == 422
    assert refused.json["detail"][0]["loc"] == ["header", "content-type"]
    assert client.put(artifact_path(), body=b"x", headers={"Content-Type": "a" * 255}).status == 200


def test_replacing_keeps_one_artifact_with_the_new_size(client: Client) -> None:
    first = client.put(artifact_path(), body=b"one").json
    second = client.put(artifact_path(), body=b"three").json
    assert second["size"] == 5
    assert second["updated_at"] > first["updated_at"]
    turn = client.get(turn_path()).json
    assert [(a["name"], a["size"]) for a in turn["artifacts"]] == [("log.txt", 5)]


def test_head_tells_size_and_type_without_reading_the_bytes(client: Client) -> None:
    client.put(artifact_path(), body=b"12345", headers={"Content-Type": "text/plain"})
    head = client.head(artifact_path())
    assert (head.status, head.content) == (200, b"")
    assert head.headers["content-length"] == "5"
    assert head.headers["content-type"] == "text/plain"
    assert head.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize(
    ("asked", "status", "body", "where"),
    [
        ("bytes=0-0", 206, b"0", "bytes 0-0/10"),
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=5-99", 206, b"56789", "bytes 5-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=4-2", 200, b"0123456789", None),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("items=0-1", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
    ],
)
def test_ranges_are_as_http_has_them(
    client: Client, asked: str, status: int, body: bytes | None, where: str | None
) -> None:
    client.put(artifact_path(), body=b"0123456789")
    got = client.get(artifact_path(), headers={"Range": asked})
    assert got.status == status
    assert body is None or got.content == body
    assert got.headers.get("content-range") == where


def test_a_range_of_another_version_is_the_whole(client: Client) -> None:
    etag = client.put(artifact_path(), body=b"0123456789").etag
    same = client.get(artifact_path(), headers={"Range": "bytes=0-1", "If-Range": etag})
    other = client.get(artifact_path(), headers={"Range": "bytes=0-1", "If-Range": '"other"'})
    assert (same.status, other.status) == (206, 200)


def test_an_unchanged_artifact_is_304(client: Client) -> None:
    etag = client.put(artifact_path(), body=b"x").etag
    assert client.get(artifact_path(), headers={"If-None-Match": f'"y", {etag}'}).status == 304
    assert client.head(artifact_path(), headers={"If-None-Match": "*"}).status == 304
    assert client.get(artifact_path(), headers={"If-None-Match": '"y"'}).status == 200


def test_conditions_hold_a_put_and_leave_nothing_behind(client: Client, world: World) -> None:
    first = client.put(artifact_path(), body=b"one", headers={"If-None-Match": "*"})
    assert first.status == 200
    kept = world.cloud.object_keys()
    assert client.put(artifact_path(), body=b"two", headers={"If-None-Match": "*"}).status == 412
    assert client.put(artifact_path(), body=b"two", headers={"If-Match": '"other"'}).status == 412
    assert client.put(artifact_path(), body=b"two", headers={"If-Match": f"W/{first.etag}"}).status == 412
    assert world.cloud.object_keys() == kept
    assert client.put(artifact_path(), body=b"two", headers={"If-Match": first.etag}).status == 200


@pytest.mark.parametrize("path", [artifact_path(task="t2"), artifact_path(turn=2), artifact_path(name="other")])
def test_what_does_not_exist_is_404(client: Client, path: str) -> None:
    client.put(artifact_path(), body=b"x")
    assert client.get(path).status == 404
    assert client.head(path).status == 404


def test_a_turn_takes_a_thousand_artifacts_and_no_more(client: Client, world: World) -> None:
    client.put(artifact_path(name="0"), body=b"x")
    _repeat_artifact(world, 999)
    assert client.put(artifact_path(name="last"), body=b"x").status == 200
    refused = client.put(artifact_path(name="one-too-many"), body=b"x")
    assert refused.status == 422
    assert refused.json["detail"][0]["loc"] == ["path", "name"]
    assert client.put(artifact_path(name="last"), body=b"replaced").status == 200
    assert len(client.get(turn_path()).json["artifacts"]) == 1000
    assert len(client.get(f"{ROOT}/tasks/t1").json["turns"][0]["artifacts"]) == 1000


def _repeat_artifact(world: World, until: int) -> None:
    """Give the turn `until` artifacts, past the API: a thousand requests would prove no more."""
    rows = {i["sk"]["S"]: i for i in world.cloud.items() if i["pk"]["S"].startswith("T#")}
    copies = [{**rows["0001#0"], "sk": {"S": f"0001#{n}"}} for n in range(1, until)]
    turn = {**rows["0001"], "artifact_count": {"N": str(until)}}
    for n in range(0, until, 25):
        puts: list[Any] = [{"PutRequest": {"Item": row}} for row in [*copies, turn][n : n + 25]]
        world.cloud.aws.dynamodb.batch_write_item(RequestItems={world.cloud.table_name: puts})


def test_writing_an_artifact_moves_its_task(client: Client) -> None:
    client.put(turn_path(task="old"), json_body={})
    client.put(turn_path(task="new"), json_body={})
    before = client.get(f"{ROOT}/tasks").json["tasks"][1]
    client.put(artifact_path(task="old"), body=b"x")
    after = client.get(f"{ROOT}/tasks").json["tasks"][0]
    assert before["task_id"] == after["task_id"] == "old"
    assert after["updated_at"] > before["updated_at"]
    assert after["retain_until"] > before["retain_until"]


def test_above_the_gateways_limit_a_put_names_the_upload_route(world: World) -> None:
    world.settings["DIRECT_BODY_BYTES"] = "1000"
    client = world.client()
    refused = client.put(artifact_path(), body=bytes(1001))
    assert refused.status == 413
    assert "upload" in refused.json["detail"]
