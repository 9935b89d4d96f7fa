"""Memory stores' function over an emulated stack, with keys, a clock to move and the sweeper at hand."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from functions.platform import sweeper
from functions.stores import api
from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import CONTEXT, Answer, Client
from tests.emulator.cloud import emulated_cloud
from tests.projects.world import MovedClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.local.transactions import Conflicts
    from tests.emulator.cloud import Cloud

ROOT = "/v1/memory_stores"
FIRST = {"anthropic-beta": "managed-agents-2026-04-01"}
NEWEST = {"anthropic-beta": "agent-memory-2026-07-22"}


@dataclass
class World:
    """One stack with its memory stores."""

    cloud: Cloud
    clock: Any = field(default_factory=MovedClock)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        return {**self.cloud.environment("StoresFunction"), **self.settings}

    @property
    def table(self) -> Table:
        return Table(self.cloud.aws, self.cloud.table_name)

    @property
    def objects(self) -> Objects:
        return Objects(self.cloud.aws, self.cloud.bucket_name)

    def handler(self) -> Any:
        """Return a new instance of the function."""
        return api.build(self.environ, self.cloud.aws, self.clock)

    def key(self, *, tenant: str = "acme", project: str | None = None, role: Role = Role.MEMBER, **wish: Any) -> str:
        keys = tenancy(Environment.of(self.environ), self.cloud.aws, self.clock).keys
        return keys.issue(KeyWish(name="test", role=role, tenant=tenant, project=project, **wish)).secret

    def client(self, **key: Any) -> StoreClient:
        """Return a client with a new key and an instance of its own."""
        return StoreClient(self.handler(), self.key(**key))

    def sweep(self, job: str = "sweep") -> dict[str, Any]:
        """Run a job of the sweeper, and return what its log line says."""
        told: dict[str, Any] = sweeper.build(self.environ, self.cloud.aws, self.clock)({"job": job}, CONTEXT)
        return told

    def flush_usage(self) -> None:
        """Write the usage that was noted."""
        tenancy(Environment.of(self.environ), self.cloud.aws, self.clock).meter.flush()


@dataclass
class StoreClient(Client):
    """A client that knows the surface's paths."""

    def store(self, name: str = "notes", **fields: Any) -> str:
        """Create a store and return its id."""
        made = self.post(ROOT, json_body={"name": name, **fields})
        assert made.status == 200, made.content
        identifier: str = made.json["id"]
        return identifier

    def create(self, store: str, path: str, content: str = "text", **how: Any) -> Answer:
        return self.post(f"{ROOT}/{store}/memories", json_body={"path": path, "content": content}, **how)

    def memory(self, store: str, path: str, content: str = "text") -> dict[str, Any]:
        """Create a memory and return it."""
        made = self.create(store, path, content)
        assert made.status == 200, made.content
        answer: dict[str, Any] = made.json
        return answer

    def update(self, store: str, memory: str, query: Any = "", **fields: Any) -> Answer:
        return self.post(f"{ROOT}/{store}/memories/{memory}", json_body=fields, query=query)

    def retrieve(self, store: str, memory: str, **how: Any) -> Answer:
        return self.get(f"{ROOT}/{store}/memories/{memory}", **how)

    def remove(self, store: str, memory: str, **how: Any) -> Answer:
        return self.delete(f"{ROOT}/{store}/memories/{memory}", **how)

    def listed(self, store: str, *, headers: dict[str, str] | None = None, **query: Any) -> list[str]:
        """Return the paths of every page of a list."""
        paths: list[str] = []
        while True:
            answer = self.get(f"{ROOT}/{store}/memories", query=query, headers=headers)
            assert answer.status == 200, answer.content
            page = answer.json
            paths += [entry["path"] for entry in page["data"]]
            assert page["data"] or not page["next_page"], "an empty page with a token"
            if not page["next_page"]:
                return paths
            query["page"] = page["next_page"]

    def versions(self, store: str, **query: Any) -> list[dict[str, Any]]:
        """Return every version of a list."""
        found: list[dict[str, Any]] = []
        while True:
            answer = self.get(f"{ROOT}/{store}/memory_versions", query=query)
            assert answer.status == 200, answer.content
            found += answer.json["data"]
            if not answer.json["next_page"]:
                return found
            query["page"] = answer.json["next_page"]


@contextmanager
def store_world(*, conflicts: Conflicts | None = None, **world: Any) -> Iterator[World]:
    with emulated_cloud(conflicts=conflicts) as cloud:
        yield World(cloud, **world)
