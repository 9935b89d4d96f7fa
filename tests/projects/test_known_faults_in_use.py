"""Faults that users of memory services have really met with pages, characters, starting and leaks."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from functions.projects import api
from tests.clients.events import Client
from tests.emulator.faults import recorded
from tests.projects.scenes import nothing_beside
from tests.projects.world import ROOT, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.projects.world import World

TASKS, TASK, DIGEST = f"{ROOT}/tasks", f"{ROOT}/tasks/t1", f"{ROOT}/project.md"
BODY = {"Content-Type": "application/json"}


# ---- pages


class _StandingClock:
    """A clock that does not go on."""

    def now_ms(self) -> int:
        return 1_790_000_000_000


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_tasks_of_one_moment_are_paged_once_each(limit: int) -> None:
    with project_world(clock=_StandingClock()) as world:
        client = world.client()
        for n in range(7):
            client.put(turn_path(f"t{n}"), json_body={})
        pages, cursor = [], None
        while True:
            page = client.get(TASKS, query={"limit": limit} | ({"cursor": cursor} if cursor else {})).json
            pages += [task["task_id"] for task in page["tasks"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert sorted(pages) == [f"t{n}" for n in range(7)]


def test_pages_walked_while_others_write_skip_and_repeat_no_old_task(client: Client) -> None:
    old = [f"old{n}" for n in range(9)]
    for name in old:
        client.put(turn_path(name), json_body={})
    seen, cursor, n = [], None, 0
    while True:
        page = client.get(TASKS, query={"limit": 2} | ({"cursor": cursor} if cursor else {})).json
        seen += [task["task_id"] for task in page["tasks"]]
        cursor = page["next_cursor"]
        client.put(turn_path(f"new{n}"), json_body={})
        client.delete(f"{TASKS}/new{n - 1}")
        n += 1
        if cursor is None:
            break
    assert seen == old[::-1]


def test_a_cursor_outlives_the_task_that_it_stood_at(client: Client) -> None:
    for n in range(5):
        client.put(turn_path(f"t{n}"), json_body={})
    cursor = client.get(TASKS, query={"limit": 2}).json["next_cursor"]
    client.delete(f"{TASKS}/t3")
    client.delete(f"{TASKS}/t2")
    rest = client.get(TASKS, query={"limit": 2, "cursor": cursor}).json
    assert [task["task_id"] for task in rest["tasks"]] == ["t1", "t0"]


# ---- characters


@pytest.mark.parametrize(
    "text",
    [
        "a\x00b",
        "<|endoftext|>",
        "密钥sk-1234是",
        "😀👩‍👩‍👧",
        "云工开物",
        "e\u0301",
        "\u202eabc",
        "\ufeff",
        "\u2028",
        "\r\n\t",
        "\\u0000",
        "%s%n",
        "{{x}}",
    ],
)
def test_text_of_any_characters_comes_back_as_it_was(client: Client, text: str) -> None:
    meta = {"model": text, text: [text]}
    put = client.put(turn_path(), json_body={"summary_md": text, "meta": meta})
    assert put.status == 200, put.content
    read = client.get(turn_path())
    assert (read.json["summary_md"], read.json["meta"]) == (text, meta)
    assert client.get(TASK).json["turns"][0]["summary_md"] == text
    assert text.strip() in client.get(DIGEST).content.decode() or text.strip() in {"", "\ufeff"}
    if text.isprintable() and "\\" not in text:
        assert text.encode() in read.content


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b'{"summary_md":"\xc3"}', b'{"summary_md":"\\ud83d"}', b'{"meta":{"\\udc00":1}}']
)
def test_bytes_that_are_no_text_are_422_and_store_nothing(client: Client, body: bytes) -> None:
    assert client.put(turn_path(), body=body, headers=BODY).status == 422
    assert client.get(turn_path()).status == 404


@pytest.mark.parametrize(
    ("body", "loc"), [('{"meta":null}', "meta"), ('{"summary_md":null}', "summary_md"), ('{"meta":[]}', "meta")]
)
def test_null_for_what_cannot_be_null_is_422_and_says_where(client: Client, body: str, loc: str) -> None:
    refused = client.put(turn_path(), body=body.encode(), headers=BODY)
    assert refused.status == 422
    assert refused.json["detail"][0]["loc"] == ["body", loc]


def test_the_last_line_of_a_range_to_the_end_is_there(client: Client) -> None:
    lines = b"".join(b"line %d\n" % n for n in range(1000))
    client.put(artifact_path(), body=lines)
    part = client.get(artifact_path(), headers={"Range": f"bytes={lines.index(b'line 500')}-"})
    assert part.status == 206
    assert part.content.splitlines() == [b"line %d" % n for n in range(500, 1000)]


def test_every_time_is_utc_and_the_end_is_told(client: Client) -> None:
    client.put(artifact_path(), body=b"x")
    told = json.dumps([client.get(path).json for path in (TASKS, TASK, turn_path())])
    assert "retain_until" in told
    times = [word for word in told.replace('"', " ").split() if word.startswith("20") and "T" in word]
    assert times
    assert all(moment.endswith("Z") for moment in times)


# ---- starting, speed, leaks


def test_it_starts_and_answers_without_search_queue_or_model(world: World) -> None:
    needless = ("QUEUE", "SEARCH", "OPENAI", "BEDROCK")
    environ = {name: value for name, value in world.environ.items() if not name.startswith(needless)}
    client = Client(api.build(environ, world.cloud.aws, world.clock), world.key())
    assert client.put(turn_path(), json_body={}).status == 200


def test_it_talks_to_nobody_but_aws(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    summary = "see http://169.254.169.254/latest/meta-data and ![x](https://example.org/x.png)"
    with recorded() as calls:
        assert client.put(turn_path(), json_body={"summary_md": summary}).status == 200
        assert client.get(DIGEST).status == 200
        url = {"size": 1, "content_type": "text/uri-list"}
        assert client.post(f"{artifact_path()}/upload", json_body=url).status == 200
    assert {call.service for call in calls.made} <= {"dynamodb", "s3"}


def test_many_requests_leave_no_threads_behind(client: Client) -> None:
    for n in range(40):  # the threads that calls share are made as they are needed, up to a number
        client.put(turn_path(turn=n), json_body={"summary_md": "s" * 40_000})
        client.get(DIGEST)
    before = threading.active_count()
    for n in range(150):
        assert client.put(turn_path(turn=n % 40), json_body={"summary_md": f"{n}"}).status == 200
        assert client.get(turn_path(turn=n % 40)).status == 200
    assert threading.active_count() <= before + 1


def test_two_hundred_at_once_with_keys_not_seen_before_are_all_answered(world: World) -> None:
    keys = [world.key(project="p") for _ in range(10)]
    world.client(project="p").put(turn_path(), json_body={"summary_md": "s"})
    clients = [Client(world.handler(), keys[n % 10]) for n in range(25)]

    def ask(n: int) -> int:
        return clients[n].get(turn_path()).status

    with ThreadPoolExecutor(25) as threads:
        statuses = [status for _ in range(8) for status in threads.map(ask, range(25))]
    assert statuses == [200] * 200


@pytest.fixture
def _quiet() -> Iterator[None]:
    with nothing_beside():
        yield


@pytest.mark.usefixtures("_quiet")
def test_a_refused_request_reads_and_writes_nothing(client: Client) -> None:
    client.get(TASKS)
    with recorded() as calls:
        assert client.put(turn_path(turn="x"), json_body={}).status == 422
        assert client.put(turn_path(), json_body={"meta": {"exit_code": True}}).status == 422
        assert client.put(turn_path(), json_body={"summary_md": "x" * (1 << 20) + "y"}).status == 413
        assert client.put(artifact_path(), body=bytes((50 << 20) + 1)).status == 413
        assert client.get(TASKS, query="limit=0").status == 422
        assert client.get(f"{ROOT}/nothing").status == 404
        assert client.post(TASKS).status == 405
    assert calls.names == []
