from __future__ import annotations

import json
import threading
import tomllib
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from functions.platform.status_routes import OPEN
from functions.platform.version import VERSION
from shared.aws.clients import calls_made
from shared.wiring.environment import Environment
from shared.wiring.readiness import Readiness
from tests.emulator.faults import Fault, faults, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.emulator.faults import Call
    from tests.platform.world import World

ROOT = Path(__file__).parents[2]
DEPENDENCIES = ["table", "bucket", "queue"]


def test_health_says_ok_and_its_version_and_touches_nothing(world: World) -> None:
    with recorded() as calls:
        answer = world.anyone().get("/health")
    assert (answer.status, answer.json) == (200, {"status": "ok", "version": VERSION})
    assert calls.total == 0
    assert world.anyone(LODESTORE_VERSION="1.2.3+abc").get("/health").json["version"] == "1.2.3+abc"


def test_the_version_is_that_of_the_project() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION


def test_ready_names_each_dependency_and_its_state(world: World) -> None:
    answer = world.anyone().get("/ready")
    assert answer.status == 200
    assert answer.json == {"status": "ok", "dependencies": [{"name": n, "status": "ok"} for n in DEPENDENCIES]}


@pytest.mark.parametrize(("name", "service"), [("table", "dynamodb"), ("bucket", "s3"), ("queue", "sqs")])
@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.CONNECT_TIMEOUT])
def test_a_dependency_that_is_down_makes_it_503_and_nothing_else_is_told(
    world: World, name: str, service: str, fault: Fault
) -> None:
    def rule(call: Call) -> Fault | None:
        return fault if call.service == service else None

    with faults(rule):
        answer = world.anyone().get("/ready")
    assert answer.status == 503
    states = [{"name": n, "status": "unavailable" if n == name else "ok"} for n in DEPENDENCIES]
    assert answer.json == {"status": "unavailable", "dependencies": states}


def test_a_table_or_bucket_that_is_not_there_is_unavailable(world: World) -> None:
    answer = world.anyone(TABLE_NAME="gone", BUCKET_NAME="gone-too").get("/ready")
    assert [d["status"] for d in answer.json["dependencies"]] == ["unavailable", "unavailable", "ok"]


def test_a_dependency_that_hangs_is_unavailable_in_bounded_time(world: World) -> None:
    readiness = Readiness(Environment.of(world.environ), world.cloud.aws, seconds=0.05)
    release, waited = threading.Event(), []

    def hang(call: Call) -> None:
        if call.service == "s3":
            waited.append(release.wait(60))

    with faults(hang):
        try:
            states = readiness.states()
            assert waited == [], "it was told before what hangs went on"
        finally:
            release.set()
    assert states["bucket"] == "unavailable"


@pytest.fixture
def search() -> Iterator[tuple[str, list[int]]]:
    statuses = [403]

    class Search(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(statuses[0])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Search) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", statuses
        server.shutdown()


def test_search_is_a_dependency_where_it_is_configured(world: World, search: tuple[str, list[int]]) -> None:
    endpoint, statuses = search
    client = world.anyone(SEARCH_BACKEND="existing", SEARCH_ENDPOINT=endpoint)
    assert client.get("/ready").json["dependencies"][-1] == {"name": "search", "status": "ok"}
    statuses[0] = 503
    assert client.get("/ready").json["dependencies"][-1] == {"name": "search", "status": "unavailable"}


def test_the_document_is_served_as_committed_and_the_yaml_says_the_same(world: World) -> None:
    committed = json.loads((ROOT / "functions/platform/openapi.json").read_text())
    answer = world.anyone().get("/openapi.json")
    assert (answer.status, answer.headers["content-type"], answer.json) == (200, "application/json", committed)
    answer = world.anyone().get("/openapi.yaml")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/yaml")
    assert yaml.safe_load(answer.content) == committed


def test_the_page_loads_nothing_from_elsewhere_and_fits_an_answer(world: World) -> None:
    answer = world.anyone().get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = answer.content.decode()
    assert "SwaggerUIBundle({url:" in page
    assert "{style}" not in page
    tags: list[tuple[str, list[tuple[str, str | None]]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append((tag, attrs))  # type: ignore[method-assign]
    parser.feed(page)
    assert [tag for tag, _ in tags if tag in {"script", "style", "link", "img"}] == ["style", "script", "script"]
    assert not [attrs for _, attrs in tags if dict(attrs).keys() & {"src", "href"}]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert len(answer.content) * 4 // 3 < 5_000_000


@pytest.mark.parametrize("path", sorted(OPEN))
def test_open_paths_need_no_key_and_ignore_a_wrong_one(world: World, path: str) -> None:
    made: list[str] = []
    token = calls_made.set(made)
    answer = world.anyone().get(path, headers={"X-Api-Key": "wrong"})
    calls_made.reset(token)
    assert answer.status == 200
    assert answer.headers["request-id"].startswith("req_")
    for verb in ("POST", "HEAD", "OPTIONS", "TRACE"):
        refused = world.anyone().send(verb, path)
        assert (refused.status, refused.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/api_keys/", "/v1/nothing", "/healthy", "/docs/x"])
def test_a_path_that_is_not_there_is_401_without_a_key_and_404_with_one(world: World, path: str) -> None:
    assert world.anyone().get(path).status == 401
    answer = world.client().get(path)
    assert (answer.status, answer.json["error"]["type"]) == (404, "not_found_error")
