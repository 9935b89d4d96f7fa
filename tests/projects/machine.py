"""The scenery of the state machine: what it draws from, its world with three keys and a neighbour, and its clock."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from shared.kernel.scope import Role
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import Client
from tests.projects.model import Project, Upload, milliseconds
from tests.projects.scenes import nothing_beside
from tests.projects.upkeep import known_empty_hours, sweep
from tests.projects.world import project_world

if TYPE_CHECKING:
    from tests.clients.events import Answer

WHO = st.sampled_from(["owner", "owner", "other", "admin"])
TASKS = st.sampled_from(["a", "a", "b.1"])
TURNS = st.sampled_from([0, 42, 9999])
NAMES = st.sampled_from(["x", "y.z"])
BODIES = st.sampled_from([b"", b"0123456789", b"\x00\xff\r\n%s"])
KINDS = st.sampled_from(["text/plain; charset=utf-8", "application/octet-stream"])
METAS = st.sampled_from([{}, {"model": "m", "cost": 0.1}, {"tokens": {"in": 10**15}, "own": [None, "é"]}])
CONDITIONS = st.sampled_from(["seen", "seen", "stale", "absent", "present"])
LIMITS = st.sampled_from([1, 2, 200])


def condition(kind: str, etag: str | None) -> tuple[dict[str, str], bool]:
    """Return a condition's headers, and whether it holds for what has `etag` now (None: for nothing)."""
    match kind:
        case "seen":
            return {"If-Match": etag or '"none"'}, etag is not None
        case "stale":
            return {"If-Match": '"01ARZ3NDEKTSV4RRFFQ69G5FAV"'}, False
        case "absent":
            return {"If-None-Match": "*"}, etag is None
        case "present":
            return {"If-Match": "*"}, etag is not None
    return {}, True


class Scenery(RuleBasedStateMachine):
    """One project with three keys, and a neighbour who must see nothing of it."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(nothing_beside())
        self.world = world = self.stack.enter_context(project_world())
        self.stack.enter_context(known_empty_hours(world))
        handler = world.handler()
        roles = {"owner": Role.MEMBER, "other": Role.MEMBER, "admin": Role.PROJECT_ADMIN}
        keys = {name: world.key(project="p", role=role, principal=name) for name, role in roles.items()}
        self.clients = {name: Client(handler, key) for name, key in keys.items()}
        self.neighbour = Client(handler, world.key(project="p2"))
        self.settings = tenancy(Environment.of(world.environ), world.cloud.aws, world.clock).projects
        self.project = Project()
        self.uploads: list[Upload] = []
        self.upkeep = 0
        self.digest: tuple[str, str, int] | None = None

    @initialize()
    def start_sweeping(self) -> None:
        sweep(self.world)

    def model(self) -> Project:
        """Return the model at this moment, which is not within a request's time of any task's end."""
        self.project.now = self.world.clock.now
        return self.project

    def check_written(self, answer: Answer, before: int) -> str:
        """Hold the time of a write to the clock's, or to the task's last one; return it."""
        updated: str = answer.json["updated_at"]
        assert before < milliseconds(updated) <= self.world.clock.now
        return updated

    def keep_clear(self) -> None:
        """Leave the last seconds of a task's life: a request's many readings of the clock would end it half way."""
        while any(0 < life.until - self.world.clock.now < 5_000 for _, life in self.model().lives()):
            self.world.clock.move(ms=5_000)
