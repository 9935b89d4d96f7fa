"""Project memory's function over an emulated stack, with keys, a clock to move and the sweeper at hand."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from functions.platform import sweeper
from functions.projects import api
from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.kernel.clock import DAY_MS
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import CONTEXT, Client
from tests.emulator.cloud import emulated_cloud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.local.transactions import Conflicts
    from tests.emulator.cloud import Cloud

ROOT = "/sandbox/memory/v1"
START_MS = 1_790_000_000_000


@dataclass
class MovedClock:
    """A clock that stands until it is moved; every reading takes a millisecond."""

    now: int = START_MS

    def now_ms(self) -> int:
        self.now += 1
        return self.now

    def move(self, *, days: float = 0, ms: int = 0) -> None:
        self.now += int(days * DAY_MS) + ms


@dataclass
class World:
    """One stack with its project memory."""

    cloud: Cloud
    clock: Any = field(default_factory=MovedClock)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        local = {"DIRECT_BODY_BYTES": str(50 << 20)}
        return {**self.cloud.environment("ProjectsFunction"), **local, **self.settings}

    @property
    def table(self) -> Table:
        return Table(self.cloud.aws, self.cloud.table_name)

    @property
    def objects(self) -> Objects:
        return Objects(self.cloud.aws, self.cloud.bucket_name)

    def handler(self) -> Any:
        """Return a new instance of the function."""
        return api.build(self.environ, self.cloud.aws, self.clock)

    def sweep(self, job: str = "sweep") -> dict[str, Any]:
        """Run the sweeper's function once."""
        environ = self.cloud.environment("SweeperFunction")
        return sweeper.build(environ, self.cloud.aws, self.clock)({"job": job}, CONTEXT)

    def leftovers(self) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the table's rows and the bucket's keys, but for keys, counters, usage and the erasure log."""
        rows = [(i["pk"]["S"], i["sk"]["S"]) for i in self.cloud.items()]
        kept = ("K", "SYS#", "USE", "U#", "R#", "S#")
        left = [row for row in rows if not row[0].startswith(kept) and not row[1].startswith("count#")]
        return left, [key for key in self.cloud.object_keys() if not key.startswith("keep/erasures/")]

    def key(self, *, tenant: str = "acme", project: str | None = None, role: Role = Role.MEMBER, **wish: Any) -> str:
        keys = tenancy(Environment.of(self.environ), self.cloud.aws, self.clock).keys
        return keys.issue(KeyWish(name="test", role=role, tenant=tenant, project=project, **wish)).secret

    def client(self, **key: Any) -> Client:
        """Return a client with a new key and an instance of its own."""
        return Client(self.handler(), self.key(**key))


@contextmanager
def project_world(*, conflicts: Conflicts | None = None, **world: Any) -> Iterator[World]:
    with emulated_cloud(conflicts=conflicts) as cloud:
        yield World(cloud, **world)


def turn_path(task: str = "t1", turn: int | str = 1) -> str:
    return f"{ROOT}/tasks/{task}/turns/{turn}"


def artifact_path(task: str = "t1", turn: int | str = 1, name: str = "log.txt") -> str:
    return f"{turn_path(task, turn)}/artifacts/{name}"
