"""`project.md`: a Markdown section a task with its latest summary, newest first, within 4 MiB.

Its ETag costs one short query: the newest tasks' generations and times, and the counts of births and deaths,
change with every write that the digest shows; what only time changes (a task reaching its end) is in
the ETag as the moment until which it holds. See `docs/decisions/0001-….md` for the argument.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each, together
from shared.aws.table import BATCH, Query
from shared.kernel.clock import rfc3339
from shared.kernel.errors import Unavailable
from shared.kernel.preconditions import tags_in
from shared.projects.records import (
    COUNTER_PREFIX,
    COUNTERS,
    NO_TURN,
    Address,
    expiry_index,
    lives,
    project_pk,
    task_id_in,
)
from shared.projects.sight import LOOKS
from shared.projects.tasks import count_expired
from shared.projects.turns import content_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.aws.items import Item, Key
    from shared.aws.table import Page
    from shared.kernel.preconditions import Preconditions
    from shared.kernel.scope import Scope
    from shared.projects.backing import Backing

LIMIT_BYTES = 4 << 20
_SECTION_BYTES = 160
"""What a section has beside id and summary, at most: only for planning what to read."""
_ROOM_FOR_THE_END = 200
_FRONT_TASKS = 200
"""How many of the newest tasks the ETag tells of: more than are written while clocks disagree."""
_NEVER = 10**15


@dataclass(frozen=True)
class Digest:
    """The document and its ETag; `text` is None when the caller has it already (304)."""

    etag: str
    text: str | None


class Digests:
    """The digests of projects."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def read(self, scope: Scope, preconditions: Preconditions) -> Digest:
        """Return a project's digest, or only its ETag if the caller's still holds."""
        if preconditions.if_none_match:
            now = self._backing.clock.now_ms()
            state = _state_of(self._backing.table.query(_front(scope)), now)
            held = _held(preconditions.if_none_match, state, now)
            if held:
                return Digest(held, None)
        return self._build(scope)

    def _build(self, scope: Scope) -> Digest:
        now = self._backing.clock.now_ms()
        page, expired, until = together(
            lambda: self._backing.table.query(_front(scope)),
            lambda: count_expired(self._backing, scope, now),
            lambda: self._first_end(scope, now),
        )
        total = sum(row["n"] for row in page.items if _is_counter(row)) - expired
        sections = list(self._sections(scope, page, now))
        text = _document(scope.project, sections, total)
        return Digest(f'"{_state_of(page, now)}-{until}"', text)

    def _first_end(self, scope: Scope, now: int) -> int:
        query = Query(project_pk(scope), "l2", after=expiry_index(now + 1), size=1)
        first = self._backing.table.query(query).items
        return int(first[0]["l2"].partition("#")[0]) if first else _NEVER

    def _sections(self, scope: Scope, page: Page, now: int) -> Iterator[str]:
        """Yield sections, newest first, until the next would not fit."""
        room = LIMIT_BYTES - _ROOM_FOR_THE_END - len(scope.project)
        tasks = self._tasks(scope, page, now)
        while batch := _fitting(tasks, room):
            for section in self._rendered(scope, batch):
                room -= len(section.encode())
                if room < 0:
                    return
                yield section

    def _tasks(self, scope: Scope, page: Page, now: int) -> Iterator[Item]:
        while True:
            yield from (row for row in page.items if not _is_counter(row) and lives(row, now))
            if page.last is None:
                return
            page = self._backing.table.query(_newest(scope).onward(page.last))

    def _rendered(self, scope: Scope, tasks: list[Item]) -> list[str]:
        summaries = self._summaries(scope, tasks)
        return [
            _section(task, summaries.get(task["sk"], "")) if _is_whole(task, summaries) else self._anew(scope, task)
            for task in tasks
        ]

    def _anew(self, scope: Scope, task: Item) -> str:
        """Return the section of a task that was written after the list was read; nothing if it is gone."""
        for _ in range(LOOKS):
            newer = self._backing.table.get((task["pk"], task["sk"]))
            if newer is None or not lives(newer, self._backing.clock.now_ms()):
                return ""
            summaries = self._summaries(scope, [newer])
            if _is_whole(newer, summaries):
                return _section(newer, summaries.get(newer["sk"], ""))
        raise Unavailable

    def _summaries(self, scope: Scope, tasks: list[Item]) -> dict[str, str]:
        """Return the summaries that tasks show, by the task's sort key."""
        keys: dict[Key, Item] = {
            Address(scope, task_id_in(t), t["digest_turn"]).turn_key: t for t in tasks if t["digest_turn"] != NO_TURN
        }
        wanted = list(keys)
        batches = [wanted[n : n + BATCH] for n in range(0, len(wanted), BATCH)]
        rows = [(key, row) for found in each(self._backing.table.batch_get, batches) for key, row in found.items()]
        rows = [(key, row) for key, row in rows if row["gen"] == keys[key]["gen"]]
        texts = each(lambda pair: self._summary(pair[1]), rows)
        return {keys[key]["sk"]: text for (key, _), text in zip(rows, texts, strict=True)}

    def _summary(self, row: Item) -> str:
        try:
            return row["summary"] if "summary" in row else content_of(self._backing, row).summary
        except ObjectMissing:
            return ""  # replaced since its row was read


def _newest(scope: Scope) -> Query:
    return Query(project_pk(scope), "l1", newest_first=True)


def _front(scope: Scope) -> Query:
    return replace(_newest(scope), size=COUNTERS + _FRONT_TASKS)


def _is_counter(row: Item) -> bool:
    return bool(row["sk"].startswith(COUNTER_PREFIX))


def _state_of(page: Page, now: int) -> str:
    """Return a hash of what a digest shows: of the counters, and of the tasks alive at the front of the list."""
    digest = hashlib.sha256()
    for row in page.items:
        seen: Any = row["n"] if _is_counter(row) else (row["gen"], row["updated_at"]) if lives(row, now) else ""
        digest.update(f"{row['sk']} {seen}\n".encode())
    return digest.hexdigest()[:32]


def _held(header: str, state: str, now: int) -> str | None:
    """Return the caller's ETag that still holds, if one does."""
    for tag in tags_in(header):
        known, _, until = tag.strip('"').partition("-")
        if known == state and until.isdecimal() and len(until) <= len(str(_NEVER)) and now < int(until):
            return tag
    return None


def _fitting(tasks: Iterator[Item], room: int) -> list[Item]:
    """Take the tasks whose sections should fit, at least one if there is any room and any task."""
    taken: list[Item] = []
    while room > 0 and (task := next(tasks, None)) is not None:
        taken.append(task)
        room -= task["digest_bytes"] + len(task["sk"]) + _SECTION_BYTES
    return taken


def _section(task: Item, summary: str) -> str:
    from shared.projects.markdown import embed  # noqa: PLC0415 - a cold start that shows no digest does without it

    turns = "1 turn" if task["turn_count"] == 1 else f"{task['turn_count']} turns"
    line = f"Latest turn {task['latest_turn']}, {turns}, updated {rfc3339(task['updated_at'])}"
    head = f"\n## {task_id_in(task)}\n\n{line}\n"
    return f"{head}\n{embed(summary)}\n" if summary else head


def _is_whole(task: Item, summaries: dict[str, str]) -> bool:
    """Tell whether the summary was found that the task's row speaks of."""
    return task["digest_turn"] == NO_TURN or bool(summaries.get(task["sk"]))


def _document(project: str, sections: list[str], total: int) -> str:
    title, shown = f"# Project memory: {project}\n", "".join(sections)
    left = total - len(sections)
    if not shown and left <= 0:
        return f"{title}\nNo tasks yet.\n"
    end = f"\n{left} more tasks are not shown; list them with GET /sandbox/memory/v1/tasks.\n" if left > 0 else ""
    return title + shown + end
