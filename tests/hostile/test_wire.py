"""Bytes that are hardly HTTP: the server answers 4xx or closes, takes nothing for what it is not, and stays up."""

from __future__ import annotations

import gzip
import json
import random
import socket
from typing import TYPE_CHECKING

import pytest
import requests

from tests.hostile.wire import Came, sent, statuses_in
from tests.local.running import Running, running
from tests.proving import table

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED, RANDOM_REQUESTS = 20261130, 250
TASKS = "/sandbox/memory/v1/tasks"


class Wire:
    """A server, and whoever sends it bytes."""

    def __init__(self, server: Running) -> None:
        self.server = server
        self.port = int(server.base_url.rpartition(":")[2])
        self.key = server.credentials["api_key"]
        self.count = 0

    def head(self, method: str, path: str, *lines: str) -> bytes:
        named = (f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"authorization: Bearer {self.key}", *lines)
        return "\r\n".join([*named, "", ""]).encode("latin-1")

    def put(self, task: str, body: bytes = b"{}", *lines: str) -> bytes:
        """Return a request that writes a turn of `task`."""
        kind = ("content-type: application/json", *lines)
        return self.head("PUT", f"{TASKS}/{task}/turns/1", *kind, f"content-length: {len(body)}") + body

    def hidden(self) -> tuple[str, bytes]:
        """Return the name of a task, and a request that would make it if it were ever read as one."""
        self.count += 1
        return f"hidden-{self.count}", self.put(f"hidden-{self.count}")

    def exists(self, task: str) -> bool:
        return self.server.call("GET", f"/tasks/{task}").status_code == 200

    def send(self, *pieces: bytes, to_the_end: bool = False) -> Came:
        came = sent(self.port, pieces, to_the_end=to_the_end)
        assert all(status < 500 for status in came.statuses), came.raw[:500]
        return came

    def is_up(self) -> bool:
        return requests.get(f"{self.server.base_url}/health", timeout=60).status_code == 200


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    with running(tmp_path_factory.mktemp("wire") / "home") as server:
        yield Wire(server)
        assert server.process.poll() is None, "the server has died"


# ---- One request in another ----------------------------------------------------------------------------------------


def _smuggled(wire: Wire, inner: bytes) -> dict[str, bytes]:
    """Return requests in which another is hidden, by the ways in which two readers may disagree where one ends."""
    path = f"{TASKS}/outer/turns/1"
    kind = "content-type: application/json"
    chunked = b"2\r\n{}\r\n0\r\n\r\n"

    def head(*lines: str) -> bytes:
        return wire.head("PUT", path, kind, *lines)

    both = f"content-length: {len(chunked)}"
    return {
        "length beside chunks": head(both, "transfer-encoding: chunked") + chunked + inner,
        "chunks beside length": head("transfer-encoding: chunked", "content-length: 2") + b"0\r\n\r\n" + inner,
        "two lengths": head("content-length: 2", f"content-length: {2 + len(inner)}") + b"{}" + inner,
        "a list of lengths": head(f"content-length: 2, {2 + len(inner)}") + b"{}" + inner,
        "a signed length": head(f"content-length: +{2 + len(inner)}") + b"{}" + inner,
        "a length in hex": head("content-length: 0x2") + b"{}" + inner,
        "a negative length": head("content-length: -2") + b"{}" + inner,
        "a length of many digits": head("content-length: " + "9" * 40) + b"{}" + inner,
        "an obscured coding": head("transfer-encoding: xchunked", "content-length: 2") + b"{}" + inner,
        "two codings": head("transfer-encoding: chunked", "transfer-encoding: identity") + chunked + inner,
        "a coding after a tab": head("transfer-encoding:\tchunked", both) + chunked + inner,
        "a coding with a space before": head("transfer-encoding : chunked", both) + chunked + inner,
        "a folded coding": head("transfer-encoding:\r\n chunked", both) + chunked + inner,
        "a coding behind a bare line feed": head("x: y\ntransfer-encoding: chunked", both) + chunked + inner,
        "a coding behind a bare return": head("x: y\rtransfer-encoding: chunked", both) + chunked + inner,
        "a chunk of odd size": head("transfer-encoding: chunked") + b"2;a=b\xff\r\n{}\r\n-1\r\n\r\n" + inner,
        "a chunk of huge size": head("transfer-encoding: chunked") + b"f" * 20 + b"\r\n{}\r\n0\r\n\r\n" + inner,
        "a chunk that ends elsewhere": head("transfer-encoding: chunked") + b"2\r\n{}" + inner + b"\r\n0\r\n\r\n",
        "a trailer that is a request": head("transfer-encoding: chunked") + b"2\r\n{}\r\n0\r\n" + inner,
        "a NUL in a name": head("content-\x00length: 2", f"content-length: {2 + len(inner)}") + b"{}" + inner,
    }


WAYS = (
    "length beside chunks",
    "chunks beside length",
    "two lengths",
    "a list of lengths",
    "a signed length",
    "a length in hex",
    "a negative length",
    "a length of many digits",
    "an obscured coding",
    "two codings",
    "a coding after a tab",
    "a coding with a space before",
    "a folded coding",
    "a coding behind a bare line feed",
    "a coding behind a bare return",
    "a chunk of odd size",
    "a chunk of huge size",
    "a chunk that ends elsewhere",
    "a trailer that is a request",
    "a NUL in a name",
)


@pytest.mark.parametrize("way", WAYS)
def test_a_request_whose_end_is_in_doubt_hides_no_other(wire: Wire, way: str) -> None:
    task, inner = wire.hidden()
    came = wire.send(_smuggled(wire, inner)[way])
    assert not wire.exists(task), came.raw[:500]
    assert wire.is_up()


def test_a_list_of_ways_has_them_all(wire: Wire) -> None:
    assert set(WAYS) == set(_smuggled(wire, b""))


def test_requests_that_follow_each_other_are_answered_in_order(wire: Wire) -> None:
    first, second = wire.put("one"), wire.head("GET", f"{TASKS}/nowhere")
    third = wire.head("GET", f"{TASKS}/one/turns/1", "connection: close")
    came = wire.send(first + second + third, to_the_end=True)
    assert came.statuses == [200, 404, 200]
    assert came.closed


def test_a_refused_body_is_never_the_next_request(wire: Wire) -> None:
    task, inner = wire.hidden()
    body = b"not json " + inner
    following = wire.head("GET", f"{TASKS}/nowhere", "connection: close")
    came = wire.send(wire.put("refused", body), following, to_the_end=True)
    assert came.statuses == [422, 404]
    assert not wire.exists(task)


# ---- Lines and headers ---------------------------------------------------------------------------------------------

HEADS = {
    "nothing": b"",
    "only line ends": b"\r\n" * 50,
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    "HTTP/0.9": b"GET /health\r\n\r\n",
    "HTTP/2's preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": b"GET /health HTTP/9.9\r\nhost: a\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    "an address for a path": b"GET http://evil.example/health HTTP/1.1\r\nhost: a\r\n\r\n",
    "a star for a path": b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
    "a tunnel": b"CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    "a space in a path": b"GET /health x HTTP/1.1\r\nhost: a\r\n\r\n",
    "a NUL in a path": b"GET /he\x00alth HTTP/1.1\r\nhost: a\r\n\r\n",
    "raw bytes in a path": b"GET /v1/memories/\xff\xfe HTTP/1.1\r\nhost: a\r\n\r\n",
    "a NUL in a header": b"GET /health HTTP/1.1\r\nhost: a\r\nx: \x00\r\n\r\n",
    "a header without a name": b"GET /health HTTP/1.1\r\nhost: a\r\n: x\r\n\r\n",
    "a header without a colon": b"GET /health HTTP/1.1\r\nhost: a\r\nnothing\r\n\r\n",
    "a method of a kilobyte": b"G" * 1_024 + b" /health HTTP/1.1\r\nhost: a\r\n\r\n",
    "a path of sixty kilobytes": b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n",
    "a header of a hundred kilobytes": b"GET /health HTTP/1.1\r\nhost: a\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
    "a thousand headers": b"GET /health HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 1_000 + b"\r\n",
    "headers for ever": b"GET /health HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 40_000,
    "an upgrade": b"GET /health HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
    "a socket of the web": b"GET /health HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-key: x\r\nsec-websocket-version: 13\r\n\r\n",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_is_odd_is_answered_or_ends_the_connection(wire: Wire, name: str) -> None:
    with socket.create_connection(("127.0.0.1", wire.port), 10) as connection:
        connection.settimeout(3)
        try:
            connection.sendall(HEADS[name])
            connection.shutdown(socket.SHUT_WR)
            raw = b"".join(iter(lambda: connection.recv(65_536), b""))
        except (TimeoutError, OSError):
            raw = b""
    assert all(status < 500 for status in statuses_in(raw)), raw[:500]
    assert wire.is_up()


def test_a_value_that_is_shown_again_splits_no_answer(wire: Wire) -> None:
    for value in (
        "a%0d%0aset-cookie: x=y",
        "a\rset-cookie: x=y",
        "a\x85set-cookie: x=y",
        "\xc4\x8d\xc4\x8aset-cookie: x=y",
    ):
        came = wire.send(wire.head("GET", f"{TASKS}?limit=1", f"x-correlation-id: {value}", "connection: close"))
        assert b"\nset-cookie:" not in came.raw
        assert len(came.statuses) <= 1


# ---- Bodies --------------------------------------------------------------------------------------------------------


def test_slow_bodies_hold_up_nobody(wire: Wire) -> None:
    slow = []
    for number in range(40):
        connection = socket.create_connection(("127.0.0.1", wire.port), 10)
        connection.sendall(wire.put(f"slow-{number}", b'{"summary_md": "xxxxxxxxxxxxxxxx"}')[:-10])
        slow.append(connection)
    for _ in range(5):
        for connection in slow:
            connection.sendall(b"x")
        assert wire.is_up()
        assert wire.server.call("PUT", "/tasks/quick/turns/1", json={}).status_code == 200
    for connection in slow:
        connection.close()
    assert wire.is_up()
    assert not any(wire.exists(f"slow-{number}") for number in range(0, 40, 8))


def test_a_body_that_never_ends_is_no_write(wire: Wire) -> None:
    wire.send(wire.put("cut", b'{"summary_md": "all of it"}')[:-8])
    assert not wire.exists("cut")


def test_a_body_in_many_small_chunks_is_one_body(wire: Wire) -> None:
    body = json.dumps({"summary_md": "x" * 500}).encode()
    head = wire.head(
        "PUT",
        f"{TASKS}/chunks/turns/1",
        "content-type: application/json",
        "transfer-encoding: chunked",
        "connection: close",
    )
    chunks = [b"1;x=y\r\n%c\r\n" % letter for letter in body]
    assert wire.send(head, *chunks, b"0\r\n\r\n", to_the_end=True).statuses == [200]
    assert wire.exists("chunks")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_compressed_body_is_not_expanded(wire: Wire, coding: str) -> None:
    bomb = gzip.compress(b'{"summary_md": "' + b"a" * 50_000_000 + b'"}')
    came = wire.send(wire.put("bomb", bomb, f"content-encoding: {coding}", "connection: close"), to_the_end=True)
    assert came.statuses == [422]
    assert not wire.exists("bomb")


def test_bytes_that_were_shuffled_leave_the_server_up(wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
    """Change a few bytes of plain requests at random, and send what comes of it in pieces."""
    draw, told = random.Random(SEED), {"answered": 0, "closed": 0, "silent": 0}
    for _ in range(RANDOM_REQUESTS):
        plain = draw.choice(
            (wire.put("shuffled", b'{"meta": {"exit_code": 1}}'), wire.head("GET", TASKS), _search(wire))
        )
        came = sent(wire.port, _pieces(_shuffled(plain, draw), draw), quiet=0.02)
        assert all(status < 500 for status in came.statuses), (SEED, plain, came.raw[:500])
        told["answered" if came.statuses else "closed" if came.closed else "silent"] += 1
    assert wire.is_up()
    rows = [("seed", str(SEED)), *((name, str(number)) for name, number in told.items())]
    with capsys.disabled():
        print(table("Hostile bytes, on a connection", rows))


def _search(wire: Wire) -> bytes:
    body = b'{"user_id": "ann", "query": "tea"}'
    lines = ("content-type: application/json", f"content-length: {len(body)}")
    return wire.head("POST", "/v1/memories/search", *lines) + body


def _shuffled(plain: bytes, draw: random.Random) -> bytes:
    letters = bytearray(plain)
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(letters))
        kind = draw.randrange(4)
        if kind == 0:
            letters[at] = draw.randrange(256)
        elif kind == 1:
            del letters[at : at + draw.randrange(1, 8)]
        elif kind == 2:
            letters[at:at] = draw.choice(
                (b"\r\n", b"\n", b"\x00", b":", b" ", b"\r\n\r\n", b"0\r\n\r\n", b"%", b"\xff")
            )
        else:
            letters[at:at] = letters[at : at + draw.randrange(1, 40)]
    # So that what is waited for comes, where a length was changed.
    return bytes(letters)


def _pieces(whole: bytes, draw: random.Random) -> list[bytes]:
    at = draw.randrange(len(whole) + 1)
    return [whole[:at], whole[at:]]
