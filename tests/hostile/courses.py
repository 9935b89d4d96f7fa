"""Courses of hostile requests: each is a tenant of its own and the requests of a seed, and can be run again."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unittest.mock import patch

from shared.kernel.scope import Role
from shared.memories.tasks import Tasks
from tests.clients.whole import Whole, whole
from tests.hostile.document import asked_by
from tests.hostile.drafts import Draft, drafts_of
from tests.hostile.holdings import Party, held_by
from tests.hostile.oracle import faults_of, watched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

COURSE = 500
"""Requests a course."""

STACK = 5
"""Courses a stack: the emulator is quickest with few rows."""


@dataclass(frozen=True)
class Finding:
    """An answer that is wrong: in which course, after which requests, and how."""

    seed: str
    drafts: list[Draft]
    faults: list[str]

    @property
    def kind(self) -> str:
        """What it is a finding of, whatever the request said: findings of a kind are one."""
        last = self.drafts[-1]
        operation = asked_by(last.request({}))
        where = operation.name if operation else f"{last.method} somewhere"
        return f"{where}: {self.faults[0][:60]}"


@dataclass
class Told:
    """What courses did: requests by operation, answers by status, and what was wrong."""

    operations: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return self.statuses.total()


@dataclass
class Ground:
    """A stack with a tenant for each course."""

    stack: Whole
    told: Told = field(default_factory=Told)

    def held(self, name: str) -> dict[str, str]:
        """Make a tenant that holds something of everything, and return its names and its key."""
        secret = self.stack.key(Role.TENANT_ADMIN, tenant=name)
        names = held_by(Party(self.stack, secret, "alpha"), name, "alpha", name)
        return {**dict(names.items()), "secret": secret}

    def run(self, seed: str, count: int = COURSE) -> None:
        """Run a course."""
        self.replay(seed, drafts_of(seed, count))

    def replay(self, seed: str, drafts: Sequence[Draft]) -> list[Finding]:
        """Send drafts in order, and note and return what is wrong."""
        held, found = self.held(f"t{seed.replace('/', '-')}"), []
        for number, draft in enumerate(drafts):
            faults = self._send(draft, held)
            if faults:
                found.append(Finding(seed, list(drafts[: number + 1]), faults))
        self.told.findings += found
        return found

    def _send(self, draft: Draft, held: Mapping[str, str]) -> list[str]:
        request = draft.request(held)
        operation = asked_by(request)
        with watched() as written:
            answer = self.stack.send(request)
        self.told.operations[operation.name if operation else "(none)"] += 1
        self.told.statuses[answer.status] += 1
        return faults_of(request, answer, written, served=self.stack.serves(request))


@contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """Start a stack where nothing is written beside requests, and nobody waits."""
    with ExitStack() as around:
        around.enter_context(patch.object(Tasks, "ended_within", lambda *_: None))
        around.enter_context(patch("shared.tenancy.background.later", lambda call: call()))
        yield Ground(around.enter_context(whole(folder)))


def run_courses(folder: Path, seed: int, courses: Sequence[int]) -> Told:
    """Run courses by number, some on each stack."""
    told = Told()
    for first in range(0, len(courses), STACK):
        with ground(folder) as field_of:
            field_of.told = told
            for number in courses[first : first + STACK]:
                field_of.run(f"{seed}/{number}")
    return told
