from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from shared.aws.objects import Objects
from tests.clients.events import Client
from tests.emulator.twins import late_puts
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Answer
    from tests.projects.world import World

BYTES = b"0123456789"


def start(client: Client, size: int = len(BYTES), **wanted: Any) -> dict[str, Any]:
    started = client.post(f"{artifact_path()}/upload", json_body={"size": size, **wanted})
    assert started.status == 200, started.content
    upload: dict[str, Any] = started.json
    return upload


def bring(world: World, upload: dict[str, Any], body: bytes = BYTES) -> None:
    """Put the bytes where the URL says, as S3 would on a PUT to it."""
    path = unquote(urlsplit(upload["url"]).path)
    key = path[path.index("up/") :]
    world.cloud.aws.s3.put_object(Bucket=world.cloud.bucket_name, Key=key, Body=body, IfNoneMatch="*")


def complete(client: Client, upload: dict[str, Any], **how: Any) -> Answer:
    return client.post(f"{artifact_path()}/complete", json_body={"upload_id": upload["upload_id"]}, **how)


def test_an_upload_becomes_an_artifact_when_it_is_complete(client: Client, world: World) -> None:
    upload = start(client, content_type="text/plain", sha256=hashlib.sha256(BYTES).hexdigest())
    assert set(upload) == {"upload_id", "method", "url", "headers", "expires_at"}
    assert upload["method"] == "PUT"
    assert client.get(artifact_path()).status == 404
    bring(world, upload)
    completed = complete(client, upload)
    assert completed.status == 200, completed.content
    assert completed.json["size"] == 10
    got = client.get(artifact_path())
    assert (got.content, got.headers["content-type"], got.etag) == (BYTES, "text/plain", completed.etag)
    assert [k for k in world.cloud.object_keys() if k.startswith("up/")] == []


def test_the_url_is_for_one_object_one_length_one_write_and_a_quarter_of_an_hour(client: Client) -> None:
    query = parse_qs(urlsplit(start(client)["url"]).query)
    assert query["X-Amz-Expires"] == ["900"]
    assert set(query["X-Amz-SignedHeaders"][0].split(";")) == {"content-length", "host", "if-none-match"}


def test_the_same_bytes_directly_have_the_same_etag(client: Client, world: World) -> None:
    direct = client.put(artifact_path(), body=BYTES, headers={"Content-Type": "text/plain"})
    upload = start(client, content_type="text/plain")
    bring(world, upload)
    assert complete(client, upload).etag == direct.etag


def test_repeating_a_completion_answers_the_same(client: Client, world: World) -> None:
    upload = start(client)
    bring(world, upload)
    first = complete(client, upload)
    client.put(artifact_path(), body=b"newer")
    again = complete(client, upload)
    assert (again.json, again.etag) == (first.json, first.etag)
    assert client.get(artifact_path()).content == b"newer"


def test_bytes_that_were_replaced_after_they_were_checked_are_409(client: Client, world: World) -> None:
    upload = start(client)
    bring(world, upload)

    def replaced(objects: Objects, key: str) -> Iterator[bytes]:
        yield objects.get(key)
        objects.put(key, b"9876543210", owner="")

    with patch.object(Objects, "stream", replaced):
        assert complete(client, upload).status == 409
    assert client.get(artifact_path()).status == 404


def test_without_its_bytes_it_is_409(client: Client) -> None:
    assert complete(client, start(client)).status == 409


@pytest.mark.parametrize(
    ("wanted", "body", "field"),
    [({}, b"short", "size"), ({"sha256": "0" * 64}, BYTES, "sha256")],
)
def test_other_bytes_than_announced_are_422_and_nothing_is_visible(
    client: Client, world: World, wanted: dict[str, Any], body: bytes, field: str
) -> None:
    upload = start(client, **wanted)
    bring(world, upload, body)
    refused = complete(client, upload)
    assert refused.status == 422
    assert refused.json["detail"][0]["loc"] == ["body", field]
    assert client.get(artifact_path()).status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"size": -1}, 422),
        ({"size": True}, 422),
        ({"size": "1"}, 422),
        ({"size": (50 << 20) + 1}, 413),
        ({"size": 1, "sha256": "x"}, 422),
        ({"size": 1, "sha256": "A" * 64}, 422),
        ({"size": 1, "content_type": 1}, 422),
        ({"size": 1, "content_type": "a\r\nb: c"}, 422),
        ([], 422),
    ],
)
def test_an_upload_that_breaks_a_rule_is_refused(client: Client, body: Any, status: int) -> None:
    assert client.post(f"{artifact_path()}/upload", json_body=body).status == status


def test_conditions_count_at_completion(client: Client, world: World) -> None:
    client.put(artifact_path(), body=b"there")
    upload = start(client)
    bring(world, upload)
    assert complete(client, upload, headers={"If-None-Match": "*"}).status == 412
    assert complete(client, upload, headers={"If-Match": "*"}).status == 200


def test_uploads_of_another_artifact_scope_or_life_are_404(client: Client, world: World) -> None:
    client.put(turn_path(), json_body={})
    upload = start(client)
    bring(world, upload)
    body = {"upload_id": upload["upload_id"]}
    assert client.post(f"{artifact_path(name='x')}/complete", json_body=body).status == 404
    assert client.post(f"{artifact_path(turn=2)}/complete", json_body=body).status == 404
    assert complete(world.client(tenant="other"), upload).status == 404
    assert complete(client, {"upload_id": "upload_made_up"}).status == 404
    client.delete(f"{ROOT}/tasks/t1")
    assert complete(client, upload).status == 404


def test_an_upload_brings_no_task_back_that_is_deleted_meanwhile(client: Client, world: World) -> None:
    client.put(turn_path(), json_body={})
    upload = start(client)
    bring(world, upload)
    other = Client(world.handler(), client.key)

    def deleted(objects: Objects, key: str) -> Iterator[bytes]:
        yield objects.get(key)
        assert other.delete(f"{ROOT}/tasks/t1").status == 204

    with patch.object(Objects, "stream", deleted):
        assert complete(client, upload).status == 404
    assert client.get(artifact_path()).status == 404
    assert client.get(f"{ROOT}/tasks").json["tasks"] == []


def test_a_large_download_is_sent_to_a_short_presigned_url(client: Client, world: World) -> None:
    client.put(artifact_path(), body=bytes(2000), headers={"Content-Type": "text/plain; charset=x"})
    world.settings["DIRECT_BODY_BYTES"] = "1000"
    small = world.client()
    sent = small.get(artifact_path())
    assert sent.status == 302
    query = parse_qs(urlsplit(sent.headers["location"]).query)
    assert query["X-Amz-Expires"] == ["300"]
    assert query["response-content-type"] == ["text/plain; charset=x"]
    assert query["response-content-disposition"] == ["attachment"]
    assert small.get(artifact_path(), headers={"Range": "bytes=0-99"}).status == 206
    assert small.head(artifact_path()).headers["content-length"] == "2000"


def test_a_start_that_arrives_once_more_does_not_forget_the_completion(client: Client, world: World) -> None:
    with late_puts(world.cloud.aws) as arrive:
        upload = start(client)
    bring(world, upload)
    completed = complete(client, upload)
    assert arrive() == 1
    again = complete(client, upload)
    assert (again.status, again.json) == (200, completed.json)
