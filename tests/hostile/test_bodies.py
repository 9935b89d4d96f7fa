"""Bodies that two readers may read in two ways, or that cost their reader much: of every operation that has one."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.scope import Role
from shared.kernel.strict_json import MAX_DEPTH
from tests.clients.whole import Whole, whole
from tests.hostile.document import operations
from tests.hostile.holdings import MEMORIES, PROJECTS, STORES, Names, Party, held_by
from tests.hostile.oracle import faults_of, watched
from tests.hostile.probes import PROBES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.local.events import Answer, Request

HOLE = "@@hole@@"
WITH_A_BODY = sorted(name for name, operation in operations().items() if operation.fields and name in PROBES)
DEPTHS = {
    "lists, one level too deep": "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    "objects, one level too deep": '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH,
    "lists, a hundred thousand levels": "[" * 100_000 + "]" * 100_000,
    "lists that never end": "[" * 1_000_000,
    "objects that never end": '{"a":' * 200_000,
}


@dataclass(frozen=True)
class Held:
    """A stack, and a tenant that holds something of everything."""

    stack: Whole
    admin: Party
    names: Names

    def plain(self, name: str) -> list[Request]:
        """Return the requests of an operation that have a JSON object for a body."""
        found = [request for request in PROBES[name](self.admin, self.names, self.names) if request.body]
        return [request for request in found if isinstance(json.loads(request.body), dict)]

    def refused(self, request: Request) -> Answer:
        """Send a request that has to be refused, as every refusal has to be, with nothing written for it."""
        with watched() as written:
            answer = self.stack.send(request)
        assert answer.status in {400, 413, 415, 422}, (request.method, request.raw_path, answer)
        assert not faults_of(request, answer, written, served=True)
        return answer


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with whole(tmp_path_factory.mktemp("index")) as stack:
        admin = Party(stack, stack.key(Role.TENANT_ADMIN), "project-a")
        yield Held(stack, admin, held_by(admin, "acme", "project-a", "a"))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", WITH_A_BODY)
def test_a_body_that_is_too_deep_is_refused_wherever_it_is_so(held: Held, name: str, depth: str) -> None:
    for request in held.plain(name):
        body = json.loads(request.body)
        fields = sorted(body) if "one level" in depth else sorted(body)[:1]
        for field in fields:
            deep = json.dumps({**body, field: HOLE}).replace(f'"{HOLE}"', DEPTHS[depth])
            held.refused(replace(request, body=deep.encode()))


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip", "br"])
@pytest.mark.parametrize("name", WITH_A_BODY)
def test_a_compressed_body_is_no_body_to_any_operation(held: Held, name: str, coding: str) -> None:
    for request in held.plain(name):
        named = [*request.headers, (b"content-encoding", coding.encode())]
        answer = held.refused(replace(request, headers=named, body=gzip.compress(request.body)))
        assert b"content-encoding" in answer.body


def test_of_a_key_that_is_told_twice_only_the_last_counts(held: Held) -> None:
    """Whoever read the first one, in front of this, has not let another one through to a part of it."""
    store = held.admin.ask("POST", STORES, json_body={"name": "twice"})["id"]
    said = '[{"role": "user", "timestamp": -1, "content": "firstword", "content": "I keep lastword here."}]'
    asked = (
        ("PUT", f"{PROJECTS}/tasks/twice/turns/1", '{"summary_md": "firstword", "summary_md": "lastword"}'),
        (
            "POST",
            f"{STORES}/{store}/memories",
            '{"path": "/a", "path": "/b", "content": "firstword", "content": "lastword"}',
        ),
        ("POST", f"{MEMORIES}/add", f'{{"user_id": "firstword", "user_id": "lastword", "messages": {said}}}'),
    )
    for method, path, body in asked:
        request = held.admin.request(method, path, headers={"content-type": "application/json"}, body=body.encode())
        assert held.stack.send(request).status in {200, 202}
    held.stack.work()
    stored = _stored(held.stack)
    assert "firstword" not in stored
    assert "lastword" in stored
    listed = held.admin.ask("GET", f"{STORES}/{store}/memories")["data"]
    assert [memory["path"] for memory in listed] == ["/b"]
    assert held.admin.ask("GET", MEMORIES, query={"user_id": "lastword"})["data"]["data"]


def _stored(stack: Whole) -> str:
    bucket: Any = stack.stack.outputs["BucketName"]
    objects = [stack.aws.s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in stack.object_keys()]
    return json.dumps(stack.items()) + b"".join(objects).decode("utf-8", "replace")
