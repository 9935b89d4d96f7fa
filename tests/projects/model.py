"""What project memory must answer, as plain dicts: one project, and no idea of tables, objects or clocks that tick.

Times come from the answers of writes; the model holds them to what a write may say and then remembers them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.kernel.clock import DAY_MS, rfc3339

LONG = "word " * 8_000
SUMMARIES = {
    "": "",
    "done": "done",
    "# Result\n\nAll *green*.": "### Result\n\nAll *green*.",
    LONG: LONG,
}
"""Summaries, and how the digest shows them."""


def milliseconds(text: str) -> int:
    """Return the moment that an answer names."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@dataclass
class File:
    """An artifact."""

    body: bytes
    kind: str
    etag: str
    updated: str

    def view(self, name: str) -> dict[str, Any]:
        return {"name": name, "content_type": self.kind, "size": len(self.body), "updated_at": self.updated}


@dataclass
class Turn:
    """A turn; `etag` is None while no answer has told it, `former` are those that it must never have again."""

    created: str
    updated: str
    meta: dict[str, Any] = field(default_factory=dict)
    summary: str = ""
    files: dict[str, File] = field(default_factory=dict)
    etag: str | None = None
    former: set[str] = field(default_factory=set)

    def touch(self, updated: str, etag: str | None) -> None:
        if self.etag:
            self.former.add(self.etag)
        assert etag not in self.former
        self.updated, self.etag = updated, etag

    def views(self) -> list[dict[str, Any]]:
        return [self.files[name].view(name) for name in sorted(self.files)]


@dataclass
class Life:
    """A task from its birth to its end."""

    number: int
    owner: str
    created: str
    updated: str
    until: int
    turns: dict[int, Turn] = field(default_factory=dict)

    def summary(self) -> str:
        """Return the newest turn's that has one, as the digest shows it."""
        return next(
            (SUMMARIES[self.turns[n].summary] for n in sorted(self.turns, reverse=True) if self.turns[n].summary), ""
        )


@dataclass
class Upload:
    """A presigned upload: `life` is the task's when it began, `ends` how many lives of the task had ended by then."""

    id: str
    task: str
    turn: int
    name: str
    body: bytes
    kind: str
    began: int
    life: int | None
    ends: int
    done: Any = None


@dataclass
class Project:
    """All that one project remembers. `now` must be told before anything is asked."""

    now: int = 0
    days: int = 30
    changes: int = 0
    _lives: dict[str, Life] = field(default_factory=dict)
    _numbers: Any = field(default_factory=itertools.count)
    _ends: dict[str, int] = field(default_factory=dict)

    def life(self, task: str) -> Life | None:
        found = self._lives.get(task)
        if found and found.until <= self.now:
            self.end(task)
            return None
        return found

    def turn(self, task: str, turn: int) -> Turn | None:
        life = self.life(task)
        return life.turns.get(turn) if life else None

    def file(self, task: str, turn: int, name: str) -> File | None:
        found = self.turn(task, turn)
        return found.files.get(name) if found else None

    def ends(self, task: str) -> int:
        self.life(task)
        return self._ends.get(task, 0)

    def end(self, task: str) -> None:
        del self._lives[task]
        self._ends[task] = self._ends.get(task, 0) + 1
        self.changes += 1

    def lives(self) -> list[tuple[str, Life]]:
        """Return what the list shows, newest first."""
        alive = [(task, life) for task in list(self._lives) if (life := self.life(task))]
        return sorted(alive, key=lambda pair: (pair[1].updated, pair[0]), reverse=True)

    def write(self, task: str, turn: int, who: str, updated: str) -> Turn:
        """Note that `who` wrote below a task at the moment that the answer names; return the turn, new or not."""
        life = self.life(task)
        if life is None:
            life = self._lives[task] = Life(next(self._numbers), who, updated, updated, 0)
        else:
            assert updated > life.updated
        life.updated, life.until = updated, milliseconds(updated) + self.days * DAY_MS
        self.changes += 1
        return life.turns.setdefault(turn, Turn(updated, updated))

    def turn_record(self, task: str, number: int) -> dict[str, Any]:
        turn, life = self.turn(task, number), self.life(task)
        assert turn
        assert life
        return {
            "task_id": task,
            "turn": number,
            "meta": turn.meta,
            "summary_md": turn.summary,
            "artifacts": turn.views(),
            "created_at": turn.created,
            "updated_at": turn.updated,
            "retain_until": rfc3339(life.until),
        }

    def task_summary(self, task: str, life: Life) -> dict[str, Any]:
        return {
            "task_id": task,
            "latest_turn": max(life.turns),
            "turn_count": len(life.turns),
            "updated_at": life.updated,
            "retain_until": rfc3339(life.until),
        }

    def task_object(self, task: str, life: Life) -> dict[str, Any]:
        """Return the task object with all its turns, without a cursor."""
        turns = [
            {
                "turn": number,
                "meta": turn.meta,
                "summary_md": turn.summary[:2000],
                "summary_truncated": len(turn.summary) > 2000,
                "artifacts": turn.views(),
                "created_at": turn.created,
                "updated_at": turn.updated,
            }
            for number, turn in sorted(life.turns.items())
        ]
        return {**self.task_summary(task, life), "owner": life.owner, "created_at": life.created, "turns": turns}

    def digest(self, name: str) -> str:
        text = f"# Project memory: {name}\n"
        for task, life in self.lives():
            turns = "1 turn" if len(life.turns) == 1 else f"{len(life.turns)} turns"
            text += f"\n## {task}\n\nLatest turn {max(life.turns)}, {turns}, updated {life.updated}\n"
            text += f"\n{shown}\n" if (shown := life.summary()) else ""
        return text if self._lives else f"{text}\nNo tasks yet.\n"
