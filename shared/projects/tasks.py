"""Tasks: the list (newest first), one task's turns, and a delete that hides everything at once."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each, together
from shared.aws.table import Query
from shared.kernel.clock import rfc3339
from shared.kernel.contention import persist
from shared.kernel.cursor import decode, encode
from shared.kernel.errors import NotFound, PermissionDenied, Unavailable
from shared.kernel.scope import Role
from shared.kernel.strict_json import compact
from shared.projects.content import summary_start
from shared.projects.records import (
    COUNTER_PREFIX,
    COUNTERS,
    Address,
    artifact_view,
    expiry_index,
    is_place,
    is_turn,
    lives,
    project_pk,
    task_summary,
)
from shared.projects.removal import bury, note_erased
from shared.projects.sight import LOOKS
from shared.projects.turns import content_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from shared.aws.items import Item
    from shared.aws.table import Page
    from shared.kernel.scope import Caller, Scope
    from shared.projects.backing import Backing

Record = dict[str, Any]

ANSWER_BYTES = 4_400_000
"""Where a page of turns is cut: in base64, as Lambda carries it, that is just below its 6 MB (design §1, 11)."""
PAGE_TURNS = 200
_LAST = "9999~"


class Tasks:
    """The tasks of projects."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def newest(self, scope: Scope, *, limit: int, cursor: str | None) -> Record:
        """Return the seed's TaskList, most recently updated first.

        Raises:
            InvalidInput: a cursor that this list did not give out.
        """
        position = decode(cursor, "tasks", scope.tenant, scope.project, fits=is_place) if cursor else None
        now = self._backing.clock.now_ms()
        calls: list[Callable[[], Any]] = [
            lambda: count_expired(self._backing, scope, now),
            lambda: self._rows(scope, position, limit, now=now),
        ]
        if position:  # the first page's query meets the counters on its way
            calls.insert(0, lambda: self._counters(scope))
        *counters, expired, (met, tasks) = together(*calls)
        total = sum(row["n"] for row in (counters[0] if counters else met)) - expired
        more = len(tasks) > limit
        following = encode(tasks[limit - 1]["l1"], "tasks", scope.tenant, scope.project) if more else None
        return {"tasks": [task_summary(t) for t in tasks[:limit]], "total": total, "next_cursor": following}

    def read(self, address: Address, *, limit: int, cursor: str | None) -> Record:
        """Return a task with its turns in ascending order, cut at `limit` turns or about 5 MB.

        Raises:
            NotFound: no such task.
            InvalidInput: a cursor that this list did not give out.
        """
        binding = "turns", address.scope.tenant, address.scope.project, address.task_id
        first = decode(cursor, *binding, fits=is_turn) if cursor else 0
        for _ in range(LOOKS):
            task, rows = self._below(address, first)
            try:
                turns, following = self._page(_by_turn(rows), limit)
            except ObjectMissing:
                continue  # a turn was replaced between the two reads: look again
            return {
                **task_summary(task),
                "owner": task["owner"],
                "created_at": rfc3339(task["created_at"]),
                "turns": turns,
                "next_cursor": None if following is None else encode(following, *binding),
            }
        raise Unavailable

    def delete(self, address: Address, caller: Caller) -> None:
        """Hide a task and everything below it at once; what is stored of it is removed in the background.

        Raises:
            NotFound: no such task.
            PermissionDenied: neither its owner nor a project admin or above.
        """
        note_erased(self._backing, persist(lambda: self._delete(address, caller)))

    def _delete(self, address: Address, caller: Caller) -> Item:
        now = self._backing.clock.now_ms()
        task = self._backing.table.get(address.task_key)
        if task is None or not lives(task, now):
            raise NotFound("No such task.")
        if caller.role < Role.PROJECT_ADMIN and task["owner"] != caller.principal:
            raise PermissionDenied("Only the task's owner or a project admin may delete it.")
        return bury(self._backing, address, task, now=now)

    def _counters(self, scope: Scope) -> list[Item]:
        return self._backing.table.query(Query(project_pk(scope), begins=COUNTER_PREFIX)).items

    def _rows(self, scope: Scope, before: str | None, limit: int, *, now: int) -> tuple[list[Item], list[Item]]:
        query = Query(project_pk(scope), "l1", before=before, size=limit + 1 + COUNTERS, newest_first=True)
        met: list[Item] = []
        tasks: list[Item] = []
        for row in self._backing.table.every(query):
            if row["sk"].startswith(COUNTER_PREFIX):
                met.append(row)
            elif lives(row, now):
                tasks.append(row)
            if len(tasks) > limit:
                break
        return met, tasks

    def _below(self, address: Address, first: int) -> tuple[Item, Iterator[Item]]:
        """Return the live task and the rows of its turns from `first` on, read together."""
        query = Query(address.pk, between=(f"{first:04d}", _LAST))
        page: Page
        for _ in range(LOOKS):
            task, page = together(
                lambda: self._backing.table.get(address.task_key), lambda: self._backing.table.query(query)
            )
            if task is None or not lives(task, self._backing.clock.now_ms()):
                raise NotFound("No such task.")
            # Generations rise with time: a newer one below means that the task was replaced meanwhile.
            if all(row["gen"] <= task["gen"] for row in page.items):
                break
        rest = self._backing.table.every(query.onward(page.last)) if page.last else iter(())
        return task, (row for row in chain(page.items, rest) if row["gen"] == task["gen"])

    def _page(self, turns: Iterator[tuple[Item, list[Item]]], limit: int) -> tuple[list[Record], int | None]:
        """Return views of turns, and the turn that the next page starts with."""
        views: list[Record] = []
        outside: list[tuple[Record, Item]] = []
        size = 0
        for row, artifacts in turns:
            view = _turn_view(row, artifacts)
            size += len(compact(view).encode()) + (0 if "meta" in row else row["bytes"])
            if len(views) == limit or (views and size > ANSWER_BYTES):
                self._fill(outside)
                return views, view["turn"]
            views.append(view)
            if "meta" not in row:
                outside.append((view, row))
        self._fill(outside)
        return views, None

    def _fill(self, outside: list[tuple[Record, Item]]) -> None:
        """Bring in the meta that lives outside of the rows."""
        found = each(lambda pair: content_of(self._backing, pair[1]).meta, outside)
        for (view, _), meta in zip(outside, found, strict=True):
            view["meta"] = meta


def count_expired(backing: Backing, scope: Scope, now: int) -> int:
    """Return how many tasks are past their time and not yet swept: they are counted, but not shown."""
    query = Query(project_pk(scope), "l2", before=expiry_index(now + 1), count=True)
    return sum(page.count for page in backing.table.pages(query))


def _by_turn(rows: Iterable[Item]) -> Iterator[tuple[Item, list[Item]]]:
    """Group rows in key order: each turn's row with those of its artifacts."""
    turn: Item | None = None
    artifacts: list[Item] = []
    for row in rows:
        if "#" in row["sk"]:
            artifacts.append(row)
            continue
        if turn is not None:
            yield turn, artifacts
        turn, artifacts = row, []
    if turn is not None:
        yield turn, artifacts


def _turn_view(row: Item, artifacts: list[Item]) -> Record:
    summary, truncated = summary_start(row)
    return {
        "turn": int(row["sk"]),
        "meta": json.loads(row["meta"]) if "meta" in row else {},
        "summary_md": summary,
        "summary_truncated": truncated,
        "artifacts": [artifact_view(a) for a in artifacts],
        "created_at": rfc3339(row["created_at"]),
        "updated_at": rfc3339(row["updated_at"]),
    }
