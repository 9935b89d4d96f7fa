"""Memory stores: their operations, and stores of any size, loaded past the API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bench.operations import Operation, request
from shared.aws.items import encode_item
from shared.aws.objects import Objects
from shared.kernel.clock import SystemClock
from shared.kernel.ids import prefixed
from shared.kernel.scope import Scope
from shared.stores.records import MEMORY, VERSION, StoreAddress, ancestors, directory_row, file_row, head_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.operations import Bench
    from shared.aws.items import Item

ROOT = "/v1/memory_stores"
BYTES = "keep/20261130/bench/bench/00000000000000000000000000"
TEXT = "Nothing is lost.\n" * 60


def post(path: str, /, **body: Any) -> dict[str, Any]:
    """Return a request with a JSON body."""
    return request("POST", path, json.dumps(body).encode(), content_type="application/json")


def get(path: str, query: str = "") -> dict[str, Any]:
    """Return a request that reads."""
    return {**request("GET", path), "rawQueryString": query}


class Store:
    """A store of a bench's project, in both stacks."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.id = self._make(ROOT, name="bench")
        self.memories = f"{ROOT}/{self.id}/memories"
        self.address = StoreAddress(Scope("bench", bench.project), self.id)

    def operations(self) -> list[Operation]:
        """Return the requests that are measured."""
        known, moved = self.memory("/known/a"), self.memory("/moved/0")
        self.memory("/doomed/last")  # so that no delete empties the directory: its first try would be refused
        doomed: dict[int, str] = {}

        def before(n: int) -> dict[str, Any]:
            doomed[n] = self.memory(f"/doomed/{n}")
            return get(f"{self.memories}/{doomed[n]}")

        return [
            Operation("create memory", lambda n: post(self.memories, path=f"/new/{n}", content=TEXT)),
            Operation("create memory, 20 segments", lambda n: post(self.memories, path=_deep(n), content=TEXT)),
            Operation("update content", lambda n: post(f"{self.memories}/{known}", content=f"{n} {TEXT}")),
            Operation("rename", lambda n: post(f"{self.memories}/{moved}", path=f"/moved/{n + 1}")),
            Operation("retrieve", lambda _: get(f"{self.memories}/{known}")),
            Operation("list memories (20)", lambda _: get(self.memories)),
            Operation("list memories (20), with contents", lambda _: get(self.memories, "view=full")),
            Operation("list one level of a deep tree", lambda _: get(self.memories, "depth=1")),
            Operation("list versions (20)", lambda _: get(f"{ROOT}/{self.id}/memory_versions")),
            Operation("delete memory", lambda n: request("DELETE", f"{self.memories}/{doomed[n]}"), before),
        ]

    def memory(self, path: str) -> str:
        """Create a memory in both stacks and return its id."""
        return self._make(self.memories, path=path, content=TEXT)

    def load(self, memories: int) -> None:
        """Put so many memories into both stacks, in directories of a hundred, all with the same bytes."""
        stage = self._bench.stage
        for stack in (stage.stack, stage.twin):
            Objects(stage.aws, stack.outputs["BucketName"]).put(BYTES, TEXT.encode(), owner="bench")
        stage.load([encode_item(row) for row in self._rows(memories)])

    def _rows(self, memories: int) -> Iterator[Item]:
        children: dict[str, set[str]] = {}
        for n in range(memories):
            path, now = f"/deep/{n // 10_000}/{n // 100}/{n}", SystemClock().now_ms()
            memory_id, told = prefixed(MEMORY, now), {"size": len(TEXT), "sha256": "0" * 64, "object": BYTES}
            version = {"memory_id": memory_id, "sk": prefixed(VERSION, now), "created_at": now, **told}
            yield head_row(self.address, path, version, created_at=now)
            yield file_row(self.address, path, memory_id)
            below = path
            for directory in ancestors(path):
                children.setdefault(directory, set()).add(below)
                below = directory
        for directory, places in children.items():
            yield directory_row(self.address, directory, len(places))

    def _make(self, path: str, /, **body: Any) -> str:
        made: str = self._bench.prepare(post(path, **body))["id"]
        return made


def _deep(n: int) -> str:
    return "/" + "/".join([str(n), *"abcdefghijklmnopqrs"])
