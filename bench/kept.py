"""What one thing leaves stored, and what it takes to remove it, by measuring it with a few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.courses import MEMORIES, Caller, Worker, add
from bench.operations import ROOT as TASKS
from bench.operations import put_turn, request
from bench.stage import CONTEXT, handler_of
from bench.stores import ROOT as STORES
from bench.stores import TEXT, post
from bench.units import Units, stored_size_of
from shared.aws.clients import calls_made

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.stage import Stage
    from bench.units import Meter

COUNT: Final = 40
PASSING: Final = ("W#", "K", "U", "R#", "S#", "SYS#", "J#", "F#", "SEARCH")
"""Partitions of what does not stay, or is there once: tasks of adds, keys, usage, limits, settings, the sweeper's."""


@dataclass(frozen=True)
class Kept:
    """Bytes that one leaves: in the table, its local indexes, the bucket; and in one partition, by its first letter.

    `end` is what removing it takes, by the sweeper or a worker, once it was deleted; its request comes on top.
    """

    name: str
    table: float
    index: float
    bucket: float
    partitions: dict[str, float]
    end: Units


def kept_of(stage: Stage, meter: Meter) -> list[Kept]:
    """Return what turns, memories of stores and learnt memories leave."""
    projects, stores, memories = (Caller(stage, f"{name}Function") for name in ("Projects", "Stores", "Memories"))
    store = stores.send(post(STORES, name="kept"))[2]["id"]
    paths = f"{STORES}/{store}/memories"
    worker = Worker(stage)

    def learn() -> None:
        for n in range(COUNT // 10):
            memories.send(add("kept", n))
            worker.work()

    def erase() -> None:
        memories.send({**request("DELETE", MEMORIES), "rawQueryString": "user_id=kept"})

    sweeper = handler_of(stage, "SweeperFunction")
    sweep = lambda: sweeper({"job": "sweep"}, CONTEXT)  # noqa: E731
    turns = _measured(stage, meter, lambda: [projects.send(put_turn(f"kept{n}")) for n in range(COUNT)])
    files = _measured(
        stage, meter, lambda: [stores.send(post(paths, path=f"/kept/{n}", content=TEXT)) for n in range(COUNT)]
    )
    learnt = _measured(stage, meter, learn)
    count = sum(key[1].startswith("m#") for key in learnt.new)
    tasks = lambda: [projects.send(request("DELETE", f"{TASKS}/tasks/kept{n}")) for n in range(COUNT)]  # noqa: E731
    ends = (
        _removed(meter, sweep, tasks),
        _removed(meter, sweep, lambda: stores.send(request("DELETE", f"{STORES}/{store}"))),
        _removed(meter, worker.work, erase),
    )
    return [
        turns.over(COUNT, "tasks of one turn (150 bytes of summary and meta)", ends[0]),
        files.over(COUNT, "memories in stores (1 KB each, one version)", ends[1]),
        learnt.over(count, "learnt memories (short sentences)", ends[2]),
    ]


@dataclass(frozen=True)
class _Left:
    new: dict[tuple[str, str], dict[str, Any]]
    bucket: int

    def over(self, count: int, name: str, end: Units) -> Kept:
        sizes = {key: stored_size_of(row) for key, row in self.new.items()}
        partitions: dict[str, float] = {}
        for (pk, _), (table, index) in sizes.items():
            letter = pk.partition("#")[0]
            partitions[letter] = partitions.get(letter, 0) + (table + index) / count
        in_table, in_indexes = (sum(size[n] for size in sizes.values()) / count for n in (0, 1))
        return Kept(name, in_table, in_indexes, self.bucket / count, partitions, end.over(count))


def _measured(stage: Stage, meter: Meter, make: Callable[[], Any]) -> _Left:
    before, there = _rows(meter), _objects(stage)
    make()
    new = {key: row for key, row in _rows(meter).items() if key not in before and not key[0].startswith(PASSING)}
    owned = {row["object"]["S"] for row in new.values() if "object" in row}
    return _Left(new, sum(size for key, size in _objects(stage).items() if key not in there and key in owned))


def _removed(meter: Meter, work: Callable[[], Any], delete: Callable[[], Any]) -> Units:
    """Return what removing takes once it was asked for: what such a run uses for nothing is no part of it."""
    work()
    nothing = _used(meter, work)
    delete()
    removing = _used(meter, work)
    return Units(removing.reads - nothing.reads, removing.writes - nothing.writes, removing.s3_puts)


def _used(meter: Meter, work: Callable[[], Any]) -> Units:
    token = calls_made.set([])
    try:
        with meter.counting() as units:
            work()
    finally:
        calls_made.reset(token)
    return units


def _rows(meter: Meter) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["pk"]["S"], row["sk"]["S"]): row for row in meter.rows()}


def _objects(stage: Stage) -> dict[str, int]:
    pages = stage.aws.s3.get_paginator("list_objects_v2").paginate(Bucket=stage.stack.outputs["BucketName"])
    return {found["Key"]: found["Size"] for page in pages for found in page.get("Contents", [])}
