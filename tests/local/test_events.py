"""Requests become the events that API Gateway makes, and results become HTTP as it does."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from infra.local.events import Headers, MalformedAnswer, Request, Routed, answer_of, event_of
from infra.local.routes import Routes


def request(
    path: str = "/x", *, method: str = "GET", query: str = "", headers: Headers | None = None, body: bytes = b""
) -> Request:
    return Request(method, path, query, headers or [], body)


def event(made: Request, stage: str = "$default", **parameters: str) -> dict[str, Any]:
    return event_of(made, Routed("ANY /x", parameters, stage, "id-1"))


def test_headers_are_lower_case_and_repeated_ones_joined_with_commas() -> None:
    headers = [(b"X-Many", b"a"), (b"x-many", b"b, c"), (b"Host", b"h:1")]
    assert event(request(headers=headers))["headers"] == {
        "x-many": "a,b, c",
        "host": "h:1",
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "http",
    }


def test_cookies_are_a_list_of_their_own() -> None:
    made = event(request(headers=[(b"cookie", b"a=1; b=2"), (b"cookie", b"c=3")]))
    assert made["cookies"] == ["a=1", "b=2", "c=3"]
    assert "cookie" not in made["headers"]


def test_the_raw_query_is_untouched_and_repeated_parameters_joined() -> None:
    made = event(request(query="a=1&b=%2C%20x&a=2&empty=&flag"))
    assert made["rawQueryString"] == "a=1&b=%2C%20x&a=2&empty=&flag"
    assert made["queryStringParameters"] == {"a": "1,2", "b": ", x", "empty": "", "flag": ""}


def test_without_query_cookies_parameters_or_body_their_fields_are_absent() -> None:
    made = event(request())
    assert not made.keys() & {"queryStringParameters", "cookies", "pathParameters", "body"}
    assert made["isBase64Encoded"] is False
    assert made["rawQueryString"] == ""


@pytest.mark.parametrize(
    ("raw", "seen"),
    [("/a%20b", "/a b"), ("/a%2Fb", "/a/b"), ("/%25", "/%"), ("/a%3Fb=1", "/a"), ("/é".encode().hex(), None)],
)
def test_the_path_is_decoded_once_and_ends_at_a_decoded_question_mark(raw: str, seen: str | None) -> None:
    assert event(request(raw))["rawPath"] == (seen or raw)


def test_the_context_names_route_stage_method_time_and_caller() -> None:
    made = event(request("/x", method="PUT", headers=[(b"host", b"api.example:80"), (b"user-agent", b"ua")]))
    context = made["requestContext"]
    assert context["http"] == {
        "method": "PUT",
        "path": "/x",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "ua",
    }
    assert (context["routeKey"], context["stage"], context["requestId"]) == ("ANY /x", "$default", "id-1")
    assert (context["domainName"], context["domainPrefix"]) == ("api.example:80", "api")
    assert context["time"].endswith("+0000")
    assert made["version"] == "2.0"


def test_a_named_stage_is_part_of_the_path() -> None:
    assert event(request("/x"), stage="v9")["rawPath"] == "/v9/x"


@pytest.mark.parametrize(
    ("content_type", "encoded"),
    [
        ("application/json", False),
        ("application/json; charset=utf-8", False),
        ("TEXT/Markdown", False),
        ("application/xml", False),
        ("application/javascript", False),
        ("application/x-www-form-urlencoded", True),
        ("application/problem+json", True),
        ("application/octet-stream", True),
        ("multipart/form-data; boundary=x", True),
        ("", True),
    ],
)
def test_a_body_travels_in_base64_unless_its_type_is_text(content_type: str, encoded: bool) -> None:  # noqa: FBT001
    headers = [(b"content-type", content_type.encode())] if content_type else []
    made = event(request(headers=headers, body=b"caf\xc3\xa9"))
    assert made["isBase64Encoded"] is encoded
    assert made["body"] == (base64.b64encode(b"caf\xc3\xa9").decode() if encoded else "café")


def test_text_that_is_not_utf8_keeps_its_bytes() -> None:
    made = event(request(headers=[(b"content-type", b"text/plain")], body=b"\xff\xfe"))
    assert (made["isBase64Encoded"], base64.b64decode(made["body"])) == (True, b"\xff\xfe")


def test_a_result_gives_status_headers_cookies_and_bytes() -> None:
    result = {
        "statusCode": 201,
        "headers": {"Content-Type": "a/b", "X-Flag": True, "Content-Length": "99", "Connection": "close"},
        "cookies": ["a=1", "b=2"],
        "body": base64.b64encode(b"\x00\xff").decode(),
        "isBase64Encoded": True,
    }
    answer = answer_of(result, "id")
    assert (answer.status, answer.body) == (201, b"\x00\xff")
    assert answer.headers == [
        (b"content-type", b"a/b"),
        (b"x-flag", b"true"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"apigw-requestid", b"id"),
    ]


@pytest.mark.parametrize(("result", "body"), [("text", b"text"), ({"a": 1}, b'{"a": 1}'), ([1], b"[1]")])
def test_a_result_without_a_status_is_a_200_of_json(result: Any, body: bytes) -> None:
    answer = answer_of(result, "id")
    assert (answer.status, answer.body) == (200, body)
    assert (b"content-type", b"application/json") in answer.headers


def test_a_body_without_a_type_is_plain_text() -> None:
    assert (b"content-type", b"text/plain; charset=utf-8") in answer_of({"statusCode": 200, "body": "x"}, "id").headers
    assert all(name != b"content-type" for name, _ in answer_of({"statusCode": 204}, "id").headers)


@pytest.mark.parametrize(
    "result",
    [
        {"statusCode": "many"},
        {"statusCode": 99},
        {"statusCode": 200, "body": "!", "isBase64Encoded": True},
        {"statusCode": 200, "headers": {"x": "a\r\nset-cookie: b"}},
        {"statusCode": 200, "headers": {"bad name": "x"}},
        {"statusCode": 200, "headers": {"x": "\u4e2d"}},
        {"statusCode": 200, "headers": ["x"]},
    ],
)
def test_a_result_that_can_not_be_http_is_refused(result: Any) -> None:
    with pytest.raises(MalformedAnswer):
        answer_of(result, "id")


ROUTES = Routes(
    [
        ("ANY", "/v1/{proxy+}", "greedy"),
        ("ANY", "/v1/things/{id}", "variable any"),
        ("GET", "/v1/things/{id}", "variable get"),
        ("GET", "/v1/things/special", "named"),
        ("ANY", "/v1/things/{id}/parts/{part}", "two"),
        ("GET", "/", "root"),
    ]
)


@pytest.mark.parametrize(
    ("method", "path", "target", "parameters"),
    [
        ("GET", "/v1/things/special", "named", {}),
        ("PUT", "/v1/things/special", "variable any", {"id": "special"}),
        ("GET", "/v1/things/7", "variable get", {"id": "7"}),
        ("GET", "/v1/things/a.b*", "variable get", {"id": "a.b*"}),
        ("GET", "/v1/things/7/parts/x y", "two", {"id": "7", "part": "x y"}),
        ("GET", "/v1/things/7/else", "greedy", {"proxy": "things/7/else"}),
        ("DELETE", "/v1/a//b\n/", "greedy", {"proxy": "a//b\n/"}),
        ("GET", "/", "root", {}),
    ],
)
def test_the_most_specific_route_answers(method: str, path: str, target: str, parameters: dict[str, str]) -> None:
    found = ROUTES.find(method, path)
    assert found is not None
    assert (found.target, found.parameters) == (target, parameters)


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/"), ("GET", "/v2"), ("POST", "/"), ("GET", "/xv1/things/7")])
def test_what_no_route_matches_is_not_found(method: str, path: str) -> None:
    assert ROUTES.find(method, path) is None


def test_the_route_key_is_the_templates() -> None:
    found = ROUTES.find("PUT", "/v1/things/9")
    assert found is not None
    assert found.route_key == "ANY /v1/things/{id}"
