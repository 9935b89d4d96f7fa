"""The local gateway over real HTTP: raw sockets see what a careless server would do."""

from __future__ import annotations

import json
import socket
import threading
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import requests

from infra.local.gateway import BODY_BYTES, Gateway
from infra.local.instances import Instances
from infra.local.protocol import HEAD_BYTES, REFUSAL
from infra.local.routes import Routes
from infra.local.server import HOST, PortInUse, Server, bind
from infra.local.stack import Function

if TYPE_CHECKING:
    from collections.abc import Iterator


PATIENCE_SECONDS = 60


class Echo:
    """Answers with its event, or as the path says."""

    made = 0
    at_once = threading.Barrier(2)

    def __init__(self) -> None:
        Echo.made += 1
        self.busy = threading.Lock()
        self.name = Echo.made

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        if not self.busy.acquire(blocking=False):
            return {"statusCode": 500, "body": "two at once"}
        try:
            return self.answer(event, context)
        finally:
            self.busy.release()

    def answer(self, event: dict[str, Any], context: Any) -> Any:
        name = event["pathParameters"]["proxy"]
        if name in RESULTS:
            return RESULTS[name]
        if name == "fail":
            raise RuntimeError("secret text")
        if name == "slow":
            threading.Event().wait(context.get_remaining_time_in_millis() / 1000 + 0.3)
            return {"statusCode": 200, "body": str(self.name)}
        if name == "busy":
            self.at_once.wait(PATIENCE_SECONDS)
            return {"statusCode": 200, "body": str(self.name)}
        if name == "context":
            told = (context.function_name, context.memory_limit_in_mb, context.aws_request_id)
            return {"told": [*told, context.get_remaining_time_in_millis()]}
        body = str(len(event.get("body", ""))) if name == "size" else json.dumps(event)
        return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": body}


RESULTS: dict[str, Any] = {
    "malformed": {"statusCode": 200, "headers": {"x": "\u4e2d"}},
    "head": {"statusCode": 200, "headers": {"content-length": "1234", "etag": '"x"'}, "body": ""},
    "empty": {"statusCode": 204},
}


@contextmanager
def serving(timeout: int = PATIENCE_SECONDS) -> Iterator[int]:
    function = Function("Echo", "echo.handler", {}, timeout, 256)
    instances = Instances(function, Echo)
    routes = [("ANY", "/sandbox/memory/v1/{proxy+}", instances), ("ANY", "/v1/{proxy+}", instances)]
    listener, listening = bind(0), threading.Event()
    server = Server(Gateway(Routes(routes), "$default"), listening.set)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    assert listening.wait(PATIENCE_SECONDS)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    instances.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as started:
        yield started


class Raw:
    """One connection, byte by byte."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), timeout=PATIENCE_SECONDS)
        self.file = self.socket.makefile("rb")

    def send(self, text: bytes) -> None:
        self.socket.sendall(text)

    def response(self, *, head: bool = False) -> tuple[int, dict[str, str], bytes]:
        status = int(self.file.readline().split()[1])
        headers: dict[str, str] = {}
        while (line := self.file.readline().strip()) != b"":
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        length = 0 if head or status in {100, 204, 304} else int(headers["content-length"])
        return status, headers, self.file.read(length)

    def at_end(self) -> bool:
        try:
            return self.file.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture
def raw(port: int) -> Iterator[Raw]:
    connection = Raw(port)
    yield connection
    connection.close()


GET = b"GET /v1/again HTTP/1.1\r\nHost: x\r\n\r\n"


def url(port: int, path: str) -> str:
    return f"http://{HOST}:{port}{path}"


def test_a_request_reaches_the_function_as_an_event(port: int) -> None:
    answer = requests.put(url(port, "/v1/a%20b?x=1,2&x=3"), json={"a": 1}, cookies={"c": "d"}, timeout=PATIENCE_SECONDS)
    event = answer.json()
    assert event["rawPath"] == "/v1/a b"
    assert event["rawQueryString"] == "x=1,2&x=3"
    assert event["queryStringParameters"] == {"x": "1,2,3"}
    assert event["pathParameters"] == {"proxy": "a b"}
    assert event["cookies"] == ["c=d"]
    assert (json.loads(event["body"]), event["isBase64Encoded"]) == ({"a": 1}, False)
    assert event["routeKey"] == "ANY /v1/{proxy+}"
    assert answer.headers["apigw-requestid"] == event["requestContext"]["requestId"]
    assert "server" not in answer.headers


def test_what_no_route_matches_is_404_and_its_body_is_read(raw: Raw) -> None:
    raw.send(b"PUT /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" + GET)
    status, _, body = raw.response()
    assert (status, json.loads(body)) == (404, {"message": "Not Found"})
    assert raw.response()[0] == 200


@pytest.mark.parametrize("path", ["/v1/fail", "/v1/malformed"])
def test_a_function_that_raises_is_a_500_that_tells_nothing_and_keeps_the_connection(raw: Raw, path: str) -> None:
    raw.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() + GET)
    status, _, body = raw.response()
    assert (status, json.loads(body)) == (500, {"message": "Internal Server Error"})
    assert raw.response()[0] == 200


def test_a_function_that_takes_too_long_is_a_503_and_the_next_request_is_served() -> None:
    with serving(timeout=2) as port, requests.Session() as session:
        answer = session.get(url(port, "/v1/slow"), timeout=PATIENCE_SECONDS)
        assert (answer.status_code, answer.json()) == (503, {"message": "Service Unavailable"})
        assert session.get(url(port, "/v1/x"), timeout=PATIENCE_SECONDS).status_code == 200


def test_head_has_the_length_of_the_entity_and_no_body(raw: Raw) -> None:
    for path, length in ((b"/v1/head", "1234"), (b"/v1/size", "1")):
        raw.send(b"HEAD " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        status, headers, _ = raw.response(head=True)
        assert (status, headers["content-length"]) == (200, length)
    raw.send(GET)
    assert raw.response()[0] == 200


def test_an_empty_answer_has_no_length(raw: Raw) -> None:
    raw.send(b"GET /v1/empty HTTP/1.1\r\nHost: x\r\n\r\n" + GET)
    status, headers, _ = raw.response()
    assert status == 204
    assert not {"content-length", "transfer-encoding"} & headers.keys()
    assert raw.response()[0] == 200


def test_the_function_sees_a_lambda_context(port: int) -> None:
    name, memory, request_id, remaining = requests.get(url(port, "/v1/context"), timeout=PATIENCE_SECONDS).json()[
        "told"
    ]
    assert (name, memory) == ("Echo", "256")
    assert len(request_id) == 36
    assert 0 < remaining <= PATIENCE_SECONDS * 1000


def test_several_instances_answer_at_once_and_each_one_event_at_a_time(port: int) -> None:
    names: list[str] = []

    def ask() -> None:
        for _ in range(3):
            answer = requests.get(url(port, "/v1/busy"), timeout=PATIENCE_SECONDS)
            assert answer.status_code == 200
            names.append(answer.text)

    threads = [threading.Thread(target=ask) for _ in range(12)]  # two of them are always answered at once
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 36
    assert 1 < len(set(names)) <= 9


def test_an_instance_that_another_thread_takes_a_moment_before_is_made_anew() -> None:
    class Raced(list[Any]):
        def __bool__(self) -> bool:
            return True

    instances = Instances(Function("Echo", "echo.handler", {}, PATIENCE_SECONDS, 256), lambda: lambda *_: "told")
    instances._idle = Raced()
    assert instances.run({}) == "told"
    instances.close()


def test_a_body_of_50_mib_passes(port: int) -> None:
    answer = requests.put(url(port, "/v1/size"), data=b"\xff" * BODY_BYTES, timeout=60)
    assert int(answer.text) == -(-BODY_BYTES // 3) * 4


def refused(raw: Raw) -> dict[str, Any]:
    status, headers, body = raw.response()
    assert status == 413
    assert headers["connection"] == "close"
    assert headers["request-id"].startswith("req_")
    answer: dict[str, Any] = json.loads(body)
    if "request_id" in answer:
        assert answer["request_id"] == headers["request-id"]
    return answer


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(raw: Raw) -> None:
    raw.send(f"PUT /sandbox/memory/v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n".encode())
    assert set(refused(raw)) == {"detail"}


def test_other_surfaces_refuse_in_their_own_shape(raw: Raw) -> None:
    raw.send(f"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n".encode())
    answer = refused(raw)
    assert (answer["type"], answer["error"]["type"]) == ("error", "request_too_large")


@pytest.mark.parametrize("path", ["/v1/memories/add", "/v1/files"])
def test_memories_refuse_with_a_report_whose_request_id_is_a_uuid(raw: Raw, path: str) -> None:
    raw.send(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n".encode())
    status, headers, content = raw.response()
    answer = json.loads(content)
    assert (status, answer["success"], answer["error"]["code"]) == (413, False, "too_large")
    assert answer["meta"]["request_id"] == headers["request-id"] == str(uuid.UUID(headers["request-id"]))


def test_a_refused_body_is_never_read_as_the_next_request(raw: Raw) -> None:
    raw.send(f"PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n".encode() + GET * 10)
    refused(raw)
    assert raw.at_end()


def test_a_client_that_waits_for_continue_is_refused_without_one_and_the_connection_closed(raw: Raw) -> None:
    head = f"PUT /v1/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n"
    raw.send(head.encode())
    refused(raw)
    assert raw.at_end()


def test_a_client_that_waits_for_continue_gets_it(raw: Raw) -> None:
    raw.send(b"PUT /v1/size HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
    assert raw.response()[0] == 100
    raw.send(b"abc")
    assert raw.response()[2] == b"4"


def test_a_chunked_body_is_refused_when_it_has_grown_too_large(raw: Raw) -> None:
    raw.send(b"PUT /sandbox/memory/v1/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
    try:
        for _ in range((BODY_BYTES >> 20) + 2):
            raw.send(chunk)
        raw.send(b"0\r\n\r\n")
    except (BrokenPipeError, ConnectionResetError):
        pytest.fail("the connection was reset before the answer could be read")
    assert set(refused(raw)) == {"detail"}
    assert raw.at_end()


def test_a_large_upload_in_full_still_gets_its_413(port: int) -> None:
    body, named = b"x" * (BODY_BYTES + (5 << 20)), {"x-correlation-id": "run-7"}
    answer = requests.put(url(port, "/v1/x"), data=body, headers=named, timeout=60)
    assert answer.status_code == 413
    assert answer.headers["request-id"].startswith("req_")
    assert answer.headers["x-correlation-id"] == "run-7"


def test_pipelined_requests_are_answered_in_order(raw: Raw) -> None:
    raw.send(
        b"PUT /v1/one HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
        + GET
        + b"GET /v1/three HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    paths = [json.loads(raw.response()[2])["rawPath"] for _ in range(3)]
    assert paths == ["/v1/one", "/v1/again", "/v1/three"]


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_400_and_closes_the_connection(raw: Raw, garbage: bytes) -> None:
    raw.send(garbage)
    assert raw.response()[0] == 400
    assert raw.at_end()


@pytest.mark.parametrize("line", [b"x: " + b"y" * (2 * HEAD_BYTES), b"\r\n".join([b"x: y"] * HEAD_BYTES)])
def test_an_endless_head_is_a_431_and_closes_the_connection(raw: Raw, line: bytes) -> None:
    try:
        raw.send(b"GET /v1/x HTTP/1.1\r\n" + line)
    except ConnectionError:
        return
    assert raw.response()[0] == 431
    assert raw.at_end()


def test_the_431_says_its_own_length() -> None:
    head, _, body = REFUSAL.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head


def test_a_port_that_is_taken_is_named(port: int) -> None:
    with pytest.raises(PortInUse, match=f"Port {port} .*Set PORT"):
        bind(port)
