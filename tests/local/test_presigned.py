"""A presigned URL opens one object to one method until it expires, and nothing else."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from infra.local.events import Answer, Headers, Request
from infra.local.presigned import PresignedObjects
from shared.aws.clients import Aws
from shared.aws.objects import Objects
from tests.emulator.cloud import emulated_cloud

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1:8123"


@dataclass
class Clock:
    seconds: float = field(default_factory=time.time)

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Site:
    """The objects of one stack, their signer, and the door that presigned URLs come to."""

    objects: Objects
    door: PresignedObjects
    clock: Clock

    def ask(self, method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        parts = urlsplit(url)
        sent: Headers = [(b"host", parts.netloc.encode()), (b"content-length", str(len(body)).encode())]
        for name, value in (headers or {}).items():
            if name.lower() != "content-length":
                sent.append((name.lower().encode(), value.encode()))
        return self.door.answer(Request(method, parts.path, parts.query, sent, body))

    def put_url(self, key: str = "up/1", size: int = 5) -> tuple[str, dict[str, str]]:
        return self.objects.presign_put(key, size=size, seconds=60)

    def get_url(self, key: str = "r30/x") -> str:
        return self.objects.presign_get(key, seconds=60, content_type="a/b")


@cache
def signing_aws() -> Aws:
    return Aws({"PRESIGN_ENDPOINT_URL": f"http://{HOST}/_s3"})


@pytest.fixture
def site() -> Iterator[Site]:
    with emulated_cloud() as cloud:
        aws = signing_aws()
        signer: Any = aws.presigner
        credentials = signer._request_signer._credentials.get_frozen_credentials()
        clock = Clock()
        objects = Objects(aws, cloud.bucket_name)
        objects.put("r30/x", b"0123456789", owner="p|s")
        yield Site(objects, PresignedObjects(credentials, clock), clock)


def code(answer: Answer) -> tuple[int, str]:
    text = answer.body.decode()
    return answer.status, text.partition("<Code>")[2].partition("</Code>")[0]


def test_the_url_is_of_this_server_and_names_bucket_and_key_in_its_path(site: Site) -> None:
    assert site.get_url().startswith(f"http://{HOST}/_s3/{site.objects.bucket}/r30/x?")


def test_a_signed_put_stores_the_bytes_once(site: Site) -> None:
    url, headers = site.put_url()
    assert site.ask("PUT", url, headers, b"hello").status == 200
    assert site.objects.get("up/1") == b"hello"
    assert code(site.ask("PUT", url, headers, b"later")) == (412, "PreconditionFailed")


@pytest.mark.parametrize("key", ["up/a b", "up/é", "up/a+b", "up/x%2Fy", "up/a&b=c?d#e"])
def test_any_key_can_be_signed(site: Site, key: str) -> None:
    url, headers = site.put_url(key)
    assert site.ask("PUT", url, headers, b"hello").status == 200
    assert site.ask("GET", site.get_url(key)).body == b"hello"


def test_a_signed_get_gives_the_bytes_with_the_headers_that_were_signed(site: Site) -> None:
    answer = site.ask("GET", site.get_url())
    headers = dict(answer.headers)
    assert (answer.status, answer.body) == (200, b"0123456789")
    assert headers[b"content-type"] == b"a/b"
    assert headers[b"content-disposition"] == b"attachment"
    assert site.ask("GET", site.get_url("r30/none")).status == 404


def test_a_range_of_a_signed_get_is_served(site: Site) -> None:
    answer = site.ask("GET", site.get_url(), {"Range": "bytes=2-4"})
    assert (answer.status, answer.body) == (206, b"234")


def test_a_signed_head_tells_the_length(site: Site) -> None:
    parameters = {"Bucket": site.objects.bucket, "Key": "r30/x"}
    url = site.objects._aws.presigner.generate_presigned_url("head_object", Params=parameters, ExpiresIn=60)
    answer = site.ask("HEAD", url)
    assert (answer.status, answer.length) == (200, 10)


@pytest.mark.parametrize("method", ["PUT", "HEAD", "DELETE", "POST"])
def test_another_method_is_refused(site: Site, method: str) -> None:
    assert site.ask(method, site.get_url(), body=b"evil").status in {403, 405}
    assert site.objects.get("r30/x") == b"0123456789"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/r30/x?", "/r30/y?"),
        ("/r30/x?", "/r30/../r30/x?"),
        ("response-content-type=a%2Fb", "response-content-type=text%2Fhtml"),
        ("X-Amz-Expires=60", "X-Amz-Expires=6000"),
        ("X-Amz-Signature=", "X-Amz-Signature=0"),
        ("?", "?versionId=1&"),
        ("X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=none"),
        (HOST, "evil.example:80"),
    ],
)
def test_a_url_that_was_changed_is_refused(site: Site, old: str, new: str) -> None:
    url = site.get_url()
    assert old in url
    assert code(site.ask("GET", url.replace(old, new, 1)))[0] == 403


@pytest.mark.parametrize("name", ["X-Amz-Signature", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders"])
def test_a_url_without_a_part_of_its_signature_is_refused(site: Site, name: str) -> None:
    address, _, query = site.get_url().partition("?")
    kept = "&".join(pair for pair in query.split("&") if not pair.startswith(name))
    assert code(site.ask("GET", f"{address}?{kept}")) == (403, "AccessDenied")


def test_no_signature_opens_nothing(site: Site) -> None:
    assert code(site.ask("GET", f"http://{HOST}/_s3/{site.objects.bucket}/r30/x")) == (403, "AccessDenied")
    assert code(site.ask("GET", f"http://{HOST}/_s3/")) == (403, "AccessDenied")


def test_another_length_than_the_signed_one_is_refused(site: Site) -> None:
    url, headers = site.put_url(size=5)
    assert code(site.ask("PUT", url, headers, b"hello!")) == (403, "SignatureDoesNotMatch")
    assert not site.objects.exists("up/1")


def test_a_signed_header_can_not_be_left_out_or_changed(site: Site) -> None:
    url, _ = site.put_url()
    assert code(site.ask("PUT", url, {}, b"hello"))[0] == 403
    assert code(site.ask("PUT", url, {"If-None-Match": '"x"'}, b"hello"))[0] == 403


def test_an_amazon_header_that_was_not_signed_is_refused(site: Site) -> None:
    url, headers = site.put_url()
    changed = {**headers, "x-amz-copy-source": f"{site.objects.bucket}/r30/x"}
    assert code(site.ask("PUT", url, changed, b"hello")) == (403, "AccessDenied")


def test_a_url_expires(site: Site) -> None:
    url = site.get_url()
    site.clock.seconds += 59
    assert site.ask("GET", url).status == 200
    site.clock.seconds += 3
    assert code(site.ask("GET", url)) == (403, "AccessDenied")


def test_other_credentials_are_refused(site: Site) -> None:
    url = site.get_url()
    other = PresignedObjects(site.door.credentials._replace(access_key="OTHER"), site.clock)  # type: ignore[attr-defined]
    site.door = other
    assert code(site.ask("GET", url)) == (403, "InvalidAccessKeyId")
    site.door = PresignedObjects(other.credentials._replace(access_key="FOOBARKEY", secret_key="x"), site.clock)  # type: ignore[attr-defined]
    assert code(site.ask("GET", url)) == (403, "SignatureDoesNotMatch")


def test_a_form_type_does_not_change_the_bytes(site: Site) -> None:
    url, headers = site.put_url(size=3)
    assert site.ask("PUT", url, {**headers, "content-type": "application/x-www-form-urlencoded"}, b"a=b").status == 200
    assert site.objects.get("up/1") == b"a=b"
