"""A presigned URL is a capability: for a short time, for one object, one method and one length, and to write once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from infra.local.events import Request
from shared.kernel.scope import Role
from tests.clients.whole import whole
from tests.hostile.holdings import FILES, PROJECTS, Party, put_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.local.events import Answer
    from tests.clients.whole import Whole

CONTENT = b"twelve bytes"
LIFE_SECONDS = 15 * 60
METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH")
KINDS = ("artifact", "file")


@dataclass
class Bearer:
    """Whoever holds a URL and nothing else, beside the tenant that gave it."""

    stack: Whole
    admin: Party

    def announced(self, kind: str, name: str = "a.txt", size: int = len(CONTENT)) -> tuple[str, dict[str, Any]]:
        """Announce an upload; return where it is completed, with what, and what was told of the upload."""
        if kind == "artifact":
            path = f"{PROJECTS}/tasks/t/turns/1/artifacts/{name}"
            told = self.admin.ask("POST", f"{path}/upload", json_body={"size": size})
            return path, {**told, "completing": {"upload_id": told["upload_id"]}}
        wish = {"user_id": "ann", "filename": name, "size": size}
        told = self.admin.ask("POST", FILES, json_body=wish)["data"]
        return f"{FILES}/{told['id']}", {**told["upload"], "completing": None}

    def complete(self, path: str, told: dict[str, Any]) -> Answer:
        return self.stack.send(self.admin.request("POST", f"{path}/complete", json_body=told["completing"]))

    def content(self, kind: str, path: str) -> Answer:
        return self.stack.send(self.admin.request("GET", path if kind == "artifact" else f"{path}/content"))


@pytest.fixture(scope="module")
def bearer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bearer]:
    with whole(tmp_path_factory.mktemp("index"), direct_bytes=4) as stack:
        yield Bearer(stack, Party(stack, stack.key(Role.TENANT_ADMIN)))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, bearer: Bearer) -> Iterator[str]:
    yield request.param
    bearer.stack.later = 0


def _code(answer: Answer) -> str:
    return answer.body.decode().partition("<Code>")[2].partition("</Code>")[0]


def test_what_is_put_there_is_seen_once_it_is_completed_and_not_before(bearer: Bearer, kind: str) -> None:
    path, told = bearer.announced(kind, "once.txt")
    assert bearer.complete(path, told).status == 409
    assert bearer.stack.send(put_of(told, CONTENT)).status == 200
    assert bearer.content(kind, path).status in {404, 409}
    assert bearer.complete(path, told).status == 200
    assert bearer.stack.send(_got(bearer.content(kind, path))).body == CONTENT


def test_a_url_to_write_writes_once(bearer: Bearer, kind: str) -> None:
    path, told = bearer.announced(kind, "twice.txt")
    assert bearer.stack.send(put_of(told, CONTENT)).status == 200
    assert bearer.stack.send(put_of(told, b"other  bytes")).status == 412
    assert bearer.complete(path, told).status == 200
    # The object that it may write is gone by now: what is put there again is nobody's, and changes nothing.
    bearer.stack.send(put_of(told, b"other  bytes"))
    bearer.complete(path, told)
    assert bearer.stack.send(_got(bearer.content(kind, path))).body == CONTENT


def _longer(request: Request) -> Request:
    body = request.body + b"!"
    headers = [(n, str(len(body)).encode() if n == b"content-length" else v) for n, v in request.headers]
    return replace(request, headers=headers, body=body)


def _elsewhere(request: Request) -> Request:
    return replace(request, raw_path=request.raw_path[:-1] + ("0" if request.raw_path[-1] != "0" else "1"))


def _at_another_host(request: Request) -> Request:
    return replace(request, headers=[(b"host", b"evil"), *_without(request, b"host").headers])


CHANGES: dict[str, Callable[[Request], Request]] = {
    "another length": _longer,
    "another object": _elsewhere,
    "another bucket": lambda r: replace(r, raw_path=r.raw_path.replace("/_s3/", "/_s3/x", 1)),
    "a longer life": lambda r: replace(r, query=r.query.replace("X-Amz-Expires=900", "X-Amz-Expires=90000")),
    "another day": lambda r: replace(r, query=r.query.replace("X-Amz-Date=2", "X-Amz-Date=3")),
    "one more parameter": lambda r: replace(r, query=f"{r.query}&acl"),
    "another signature": lambda r: replace(r, query=r.query.replace("X-Amz-Signature=", "X-Amz-Signature=0")),
    "no signature": lambda r: replace(r, query=r.query.partition("&X-Amz-Signature")[0]),
    "nothing that makes it write once": lambda r: _without(r, b"if-none-match"),
    "a header of S3's beside": lambda r: replace(r, headers=[*r.headers, (b"x-amz-acl", b"public-read")]),
    "another host": _at_another_host,
}


def _without(request: Request, name: bytes) -> Request:
    return replace(request, headers=[pair for pair in request.headers if pair[0] != name])


@pytest.mark.parametrize("change", CHANGES)
def test_a_url_to_write_is_for_what_it_was_signed_for(bearer: Bearer, kind: str, change: str) -> None:
    path, told = bearer.announced(kind, "changed.txt")
    before = bearer.stack.object_keys()
    assert bearer.stack.send(CHANGES[change](put_of(told, CONTENT))).status == 403
    assert bearer.stack.object_keys() == before
    assert bearer.complete(path, told).status == 409


@pytest.mark.parametrize("method", [method for method in METHODS if method != "PUT"])
def test_a_url_to_write_does_nothing_else(bearer: Bearer, kind: str, method: str) -> None:
    _, told = bearer.announced(kind, "else.txt")
    put = put_of(told, CONTENT)
    assert bearer.stack.send(put).status == 200
    before = bearer.stack.object_keys()
    answer = bearer.stack.send(replace(put, method=method))
    assert answer.status in {403, 405}
    assert CONTENT not in answer.body
    assert bearer.stack.object_keys() == before


def test_a_url_to_write_is_short_lived(bearer: Bearer, kind: str) -> None:
    _, told = bearer.announced(kind, "late.txt")
    bearer.stack.later = LIFE_SECONDS + 2
    assert bearer.stack.send(put_of(told, CONTENT)).status == 403
    bearer.stack.later = 0
    assert bearer.stack.send(put_of(told, CONTENT)).status == 200


def _got(answer: Answer) -> Request:
    """Return the request that a redirect leads to."""
    assert answer.status == 302, answer
    url = urlsplit(dict(answer.headers)[b"location"].decode())
    return Request("GET", url.path, url.query, [(b"host", url.netloc.encode())], b"")


def _stored(bearer: Bearer, kind: str, name: str) -> tuple[str, Request]:
    path, told = bearer.announced(kind, name)
    assert bearer.stack.send(put_of(told, CONTENT)).status == 200
    assert bearer.complete(path, told).status == 200
    return path, _got(bearer.content(kind, path))


@pytest.mark.parametrize("method", [method for method in METHODS if method != "GET"])
def test_a_url_to_read_does_nothing_else(bearer: Bearer, kind: str, method: str) -> None:
    path, get = _stored(bearer, kind, "read.txt")
    assert bearer.stack.send(get).body == CONTENT
    before = bearer.stack.object_keys()
    assert bearer.stack.send(replace(get, method=method, body=b"other")).status in {403, 405}
    assert bearer.stack.object_keys() == before
    assert bearer.stack.send(_got(bearer.content(kind, path))).body == CONTENT


def test_a_url_to_read_is_for_one_object_and_short_lived(bearer: Bearer, kind: str) -> None:
    _, one = _stored(bearer, kind, "one.txt")
    _, other = _stored(bearer, kind, "two.txt")
    assert bearer.stack.send(replace(one, raw_path=other.raw_path)).status == 403
    bearer.stack.later = LIFE_SECONDS + 2
    assert bearer.stack.send(one).status == 403


def test_a_url_to_read_reads_nothing_once_it_is_deleted(bearer: Bearer, kind: str) -> None:
    path, get = _stored(bearer, kind, "gone.txt")
    assert bearer.stack.send(get).body == CONTENT
    gone = f"{PROJECTS}/tasks/t" if kind == "artifact" else path
    assert bearer.stack.send(bearer.admin.request("DELETE", gone)).status in {202, 204}
    bearer.stack.run("sweep")
    bearer.stack.work()
    answer = bearer.stack.send(get)
    assert (answer.status, CONTENT in answer.body) == (404, False)


def test_an_upload_that_is_told_of_names_no_credential(bearer: Bearer, kind: str) -> None:
    _, told = bearer.announced(kind, "secret.txt")
    assert bearer.admin.secret not in json.dumps(told)
