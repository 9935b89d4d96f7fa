"""The document is current, complete and true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import jsonschema_rs

from functions.memories import api as memories
from functions.platform import api as platform
from functions.platform import openapi
from functions.projects import api as projects
from functions.stores import api as stores
from shared.kernel.clock import rfc3339
from shared.kernel.scope import Role
from tests.clients.events import Client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from tests.clients.events import Answer
    from tests.platform.world import World

DOCUMENT = openapi.document()
FUNCTIONS = Path(openapi.__file__).parents[1]
ANYTHING: Any = MagicMock()


def test_the_committed_document_is_current() -> None:
    assert openapi.main(["--check"]) == 0


def test_a_stale_document_is_noticed_and_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "openapi.json"
    stale.write_text("{}")
    monkeypatch.setattr(openapi, "DOCUMENT", stale)
    assert openapi.main(["--check"]) == 1
    assert openapi.main([]) == 0
    assert openapi.main(["--check"]) == 0
    assert json.loads(stale.read_text()) == DOCUMENT


def routes(routers: Iterable[Router]) -> Iterator[tuple[str, str, str]]:
    for router in routers:
        for (rule, methods, *_), function in router._routes.items():
            path = re.sub(r"<(\w+)>", r"{\1}", rule)
            for method in [methods] if isinstance(methods, str) else methods:
                yield path, method.lower(), function.__name__


def test_every_route_is_described_under_its_own_name_and_nothing_else_is() -> None:
    known = [*platform.routers(ANYTHING, ANYTHING, ""), *projects.routers(ANYTHING, 0), *stores.routers(ANYTHING)]
    known += memories.routers(ANYTHING)
    served = list(routes(known))
    described = {
        (path, verb, operation["operationId"])
        for path, item in DOCUMENT["paths"].items()
        for verb, operation in item.items()
    }
    assert set(served) == described
    assert len({name for _, _, name in served}) == len(served)


def test_every_surface_is_described() -> None:
    assert len(openapi.SURFACES) == len(list(FUNCTIONS.glob("*/api.py")))


def test_every_path_parameter_is_described() -> None:
    for path, item in DOCUMENT["paths"].items():
        for operation in item.values():
            described = {p["name"] for p in operation["parameters"] if p.get("in") == "path"}
            assert described == set(re.findall(r"{(\w+)}", path))


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from [child] if name == "$ref" else references(child)
    elif isinstance(value, list):
        for child in value:
            yield from references(child)


def test_every_reference_leads_somewhere_and_every_component_is_referred_to() -> None:
    components = {
        f"#/components/{kind}/{name}"
        for kind, named in DOCUMENT["components"].items()
        if kind != "securitySchemes"
        for name in named
    }
    assert set(references(DOCUMENT)) == components


def test_every_schema_is_a_schema() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        assert jsonschema_rs.meta.is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_every_operation_tells_all_that_any_request_can_be_answered() -> None:
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            wanted = {"405"} if operation.get("security") == [] else {"401", "403", "405", "429", "503"}
            assert wanted <= operation["responses"].keys()


class Checked:
    """A client whose answers are held to the document."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.seen: set[tuple[str, str]] = set()

    def __call__(self, verb: str, path: str, template: str, **how: Any) -> Answer:
        answer = self.client.send(verb, path, **how)
        operation = DOCUMENT["paths"][template][verb.lower()]
        told = operation["responses"][str(answer.status)]
        if "$ref" in told:
            told = DOCUMENT["components"]["responses"][told["$ref"].rpartition("/")[2]]
        self.seen.add((operation["operationId"], str(answer.status)))
        assert {name.lower() for name in told["headers"]} <= answer.headers.keys()
        self._check_content(answer, told.get("content", {}))
        return answer

    def _check_content(self, answer: Answer, content: dict[str, Any]) -> None:
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if not content:
            assert answer.content == b""
        elif "*/*" not in content:
            schema = content[kind]["schema"]
            if kind == "application/json":
                whole = {**schema, "components": DOCUMENT["components"]}
                jsonschema_rs.validate(whole, answer.json)


def test_the_platforms_answers_are_as_described(world: World) -> None:
    expires = rfc3339(world.clock.now_ms() + 1000)
    ask = Checked(world.client())
    keys, key, project = "/v1/api_keys", "/v1/api_keys/{key_id}", "/v1/projects/{project_id}"
    body = {"name": "n", "role": "member", "expires_at": expires, "quotas": {"memory_write": 1}}
    made = ask("POST", keys, keys, json_body=body).json
    ask("GET", keys, keys)
    ask("GET", f"{keys}/{made['id']}", key)
    for expected in (200, 200):
        assert ask("DELETE", f"{keys}/{made['id']}", key).status == expected
    ask("GET", f"{keys}/{made['id']}", key)
    ask("GET", f"{keys}/x", key)
    ask("GET", keys, keys, query="limit=0")
    for kind, sent in (("text/plain", b"{}"), ("application/json", b"{"), ("application/json", b" " * 70_000)):
        ask("POST", keys, keys, body=sent, headers={"Content-Type": kind})
    ask("PUT", "/v1/projects/blue", project, json_body={"retention_days": 90})
    ask("GET", "/v1/projects/blue", project)
    ask("GET", "/v1/usage", "/v1/usage")
    for path in ("/health", "/ready", "/openapi.json", "/openapi.yaml", "/docs"):
        ask("GET", path, path)
    ask.client = world.client(Role.MEMBER, rate_limit=1)
    assert [ask("GET", keys, keys).status for _ in range(2)] == [403, 429]
    ask.client = world.anyone()
    ask("GET", keys, keys)
    assert {status for _, status in ask.seen} == {"200", "400", "401", "403", "404", "413", "415", "429"}


def test_project_memorys_answers_are_as_described(world: World) -> None:
    environ = {**world.cloud.environment("ProjectsFunction"), "DIRECT_BODY_BYTES": "1000"}
    client = Client(projects.build(environ, world.cloud.aws, world.clock), world.client().key)
    ask = Checked(client)
    root = "/sandbox/memory/v1"
    tasks, task, digest = f"{root}/tasks", f"{root}/tasks/{{task_id}}", f"{root}/project.md"
    turn = f"{task}/turns/{{turn}}"
    artifact = f"{turn}/artifacts/{{name}}"
    at_turn, at_artifact = f"{tasks}/t1/turns/7", f"{tasks}/t1/turns/7/artifacts/a.txt"
    body = {"meta": {"model": "m", "cost": 0.1, "tokens": {"in": 1}}, "summary_md": "# Done"}
    etag = ask("PUT", at_turn, turn, json_body=body).etag
    ask("PATCH", at_turn, turn, json_body={"meta": {"x": None}})
    ask("PUT", at_turn, turn, json_body={}, headers={"If-Match": etag})
    ask("PUT", at_turn, turn, json_body={"meta": 5})
    ask("PUT", at_turn, turn, body=b"x", headers={"Content-Type": "text/plain"})
    etag = ask("GET", at_turn, turn).etag
    ask("GET", at_turn, turn, headers={"If-None-Match": etag})
    etag = ask("PUT", at_artifact, artifact, body=b"hello", headers={"Content-Type": "text/plain"}).etag
    ask("PUT", at_artifact, artifact, body=b"x" * 1001)
    ask("GET", at_artifact, artifact)
    ask("HEAD", at_artifact, artifact)
    for headers in ({"Range": "bytes=1-2"}, {"Range": "bytes=9-"}, {"If-None-Match": etag}):
        ask("GET", at_artifact, artifact, headers=headers)
    where = f"{at_artifact.replace('a.txt', 'big')}"
    ticket = ask("POST", f"{where}/upload", f"{artifact}/upload", json_body={"size": 2000}).json
    complete = {"upload_id": ticket["upload_id"]}
    assert ask("POST", f"{where}/complete", f"{artifact}/complete", json_body=complete).status == 409
    ask("POST", f"{where}/upload", f"{artifact}/upload", json_body={"size": (50 << 20) + 1})
    for path, template in ((tasks, tasks), (f"{tasks}/t1", task), (digest, digest)):
        ask("GET", path, template)
    ask("GET", digest, digest, headers={"If-None-Match": ask("GET", digest, digest).etag})
    ask("GET", tasks, tasks, query="limit=0")
    ask("GET", f"{tasks}/none", task)
    ask("DELETE", f"{tasks}/t1", task)
    ask("DELETE", f"{tasks}/t1", task)
    assert {status for _, status in ask.seen} >= {
        "200",
        "204",
        "206",
        "304",
        "404",
        "409",
        "412",
        "413",
        "415",
        "416",
        "422",
    }


def test_a_conflict_of_memory_stores_is_described_with_what_is_in_the_way() -> None:
    told = DOCUMENT["paths"]["/v1/memory_stores/{memory_store_id}/memories"]["post"]["responses"]["409"]
    content = DOCUMENT["components"]["responses"][told["$ref"].rpartition("/")[2]]["content"]
    whole = {**content["application/json"]["schema"], "components": DOCUMENT["components"]}
    error = {"type": "memory_path_conflict_error", "message": "m", "conflicting_path": "/a"}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    assert not jsonschema_rs.is_valid(whole, body)
    error["conflicting_memory_id"] = "mem_1"
    assert jsonschema_rs.is_valid(whole, body)
    error["type"] = "some_error"
    assert not jsonschema_rs.is_valid(whole, body)


def test_memory_stores_answers_are_as_described(world: World) -> None:
    client = Client(
        stores.build(world.cloud.environment("StoresFunction"), world.cloud.aws, world.clock), world.client().key
    )
    ask = Checked(client)
    root, store = "/v1/memory_stores", "/v1/memory_stores/{memory_store_id}"
    memories, versions = f"{store}/memories", f"{store}/memory_versions"
    memory, version = f"{memories}/{{memory_id}}", f"{versions}/{{memory_version_id}}"
    at = f"{root}/{ask('POST', root, root, json_body={'name': 'n', 'metadata': {'a': 'b'}}).json['id']}"
    made = ask("POST", f"{at}/memories", memories, json_body={"path": "/a/b.md", "content": "x"}).json
    ask("POST", f"{at}/memories", memories, json_body={"path": "/a", "content": "x"})
    ask("POST", f"{at}/memories", memories, json_body={"path": "a", "content": "x"})
    ask("POST", f"{at}/memories", memories, body=b" " * ((1 << 20) + 1))
    for query in ("", "depth=1", "view=full", "limit=0"):
        ask("GET", f"{at}/memories", memories, query=query)
    one = f"{at}/memories/{made['id']}"
    ask("GET", one, memory)
    stale = {"type": "content_sha256", "content_sha256": "0" * 64}
    ask("POST", one, memory, json_body={"content": "y", "precondition": stale})
    ask("POST", one, memory, json_body={"content": "y"})
    ask("DELETE", one, memory)
    ask("DELETE", one, memory)
    listed = ask("GET", f"{at}/memory_versions", versions, query="view=full").json["data"]
    which = f"{at}/memory_versions/{listed[-1]['id']}"
    ask("POST", f"{which}/redact", f"{version}/redact")
    ask("GET", which, version)
    ask("POST", at, store, json_body={"description": "d"})
    ask("POST", f"{at}/archive", f"{store}/archive")
    for path, template in ((root, root), (at, store)):
        ask("GET", path, template, query="include_archived=true")
    ask("DELETE", at, store)
    ask("GET", at, store)
    assert {int(status) for _, status in ask.seen} == {200, 400, 404, 409, 413}
    assert len({name for name, _ in ask.seen}) == 14
