"""What was asked of the server during a soak, what it said, and what must hold of it in the end.

A write is acknowledged (2xx), refused (4xx: nothing of it may be there), or unknown: no answer, or a 5xx. What may be
read of a thing is then what was acknowledged last, or anything unknown that was asked for since.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = None


@dataclass
class Reply:
    """An answer, or none."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def acknowledged(self) -> bool:
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        return 400 <= self.status < 500 and self.status != 429

    @property
    def json(self) -> Any:
        return json.loads(self.body)


NO_ANSWER = Reply(0)


@dataclass
class Thing:
    """Something that is written as a whole by one writer at a time: what a reader may find there."""

    possible: list[Any] = field(default_factory=lambda: [ABSENT])
    acknowledged: int = 0
    unknown: int = 0

    def write(self, value: Any, reply: Reply) -> None:
        """Take note of a write and its answer."""
        if reply.acknowledged:
            self.possible = [value]
            self.acknowledged += 1
        elif not reply.refused:
            self.possible.append(value)
            self.unknown += 1

    def seen(self, value: Any) -> None:
        """Take note of what was read: who wrote it and got no answer is dead by now."""
        self.possible = [value]


class History:
    """Every request and its answer, in a file; counts; and what was found wrong. Safe for threads."""

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self.answers: Counter[str] = Counter()
        self.violations: list[str] = []
        self.checked: Counter[str] = Counter()

    def note(self, actor: str, method: str, path: str, reply: Reply, sent: str = "") -> None:
        """Write one request down."""
        kind = f"{reply.status // 100}xx" if reply.status else "no answer"
        line = json.dumps([actor, method, path, sent[:300], reply.status, reply.body[:300].decode("utf-8", "replace")])
        with self._lock:
            self.answers[kind] += 1
            self._file.write(line + "\n")

    def hold(self, what: str, *, holds: bool, told: object) -> None:
        """Check a promise: count it, and note it as broken where it does not hold."""
        with self._lock:
            self.checked[what] += 1
            if not holds:
                self.violations.append(f"{what}: {told}"[:1_500])
                self._file.write(json.dumps(["VIOLATION", what, str(told)]) + "\n")
                self._file.flush()

    def close(self) -> None:
        self._file.close()
