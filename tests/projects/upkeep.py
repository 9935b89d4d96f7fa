"""The sweeper's function as it runs in the background, in a fraction of the time.

It asks for hundreds of hours and days, nearly all of them empty: here empty ones are known to be so.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from shared.aws.objects import PAGE, Listed, Objects
from shared.aws.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.projects.world import World


@contextmanager
def known_empty_hours(world: World) -> Iterator[None]:
    """Answer queries of empty buckets of the due index without a call."""
    ask, filled = Table.due, world.cloud.table.rows.entries["due"]

    def due(table: Table, bucket: str, start: dict[str, Any] | None = None) -> Any:
        return ask(table, bucket, start) if bucket in filled else ([], None)

    with patch.object(Table, "due", due):
        yield


@contextmanager
def known_empty_days(world: World) -> Iterator[None]:
    """Answer listings of days of which there is no object without a call."""
    ask = Objects.list
    filled = {"/".join(key.split("/")[:2]) for key in world.cloud.object_keys()}

    def listed(objects: Objects, prefix: str, token: str | None = None, *, after: str = "", size: int = PAGE) -> Listed:
        if prefix.rstrip("/") not in filled:
            return Listed([], None)
        return ask(objects, prefix, token, after=after, size=size)

    with patch.object(Objects, "list", listed):
        yield


def sweep(world: World) -> None:
    """Run the sweeper until it finds nothing more to do."""
    with known_empty_hours(world):
        while True:
            told = world.sweep()
            assert told["errors"] == 0
            if told["complete"] and told["swept"] == 0:
                return


def nights(world: World, count: int) -> None:
    """Let so many nights pass, with the nightly job in each."""
    for _ in range(count):
        world.clock.move(days=1)
        with known_empty_hours(world), known_empty_days(world):
            assert world.sweep("reconcile")["errors"] == 0
