"""What tests of this room sit at: an emulated table, a clock they move, and a tenancy that does nothing by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.aws.table import Table
from shared.kernel.scope import Role
from shared.tenancy.admission import Presented
from shared.tenancy.models import KeyWish
from shared.wiring.tenancy import Tenancy, compose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shared.tenancy.keys import Issued
    from shared.tenancy.models import Admitted, Permission
    from tests.emulator.cloud import Cloud

START = 1_795_000_000_000
PROJECT = "X-Sandbox-Project-Id"
WORKSPACE = "anthropic-workspace-id"


class MovedClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now

    def move(self, *, seconds: float) -> None:
        self.now += int(seconds * 1000)


@dataclass
class Deferred:
    """Collects what would run beside requests, until a test runs it."""

    calls: list[Callable[[], None]] = field(default_factory=list)

    def __call__(self, call: Callable[[], None]) -> None:
        self.calls.append(call)

    def run(self) -> None:
        while self.calls:
            self.calls.pop(0)()


class Desk:
    """A tenancy over one table, `calls` being the AWS calls made so far; `elsewhere()` is another instance."""

    def __init__(self, cloud: Cloud, calls: list[str]) -> None:
        self.cloud = cloud
        self.calls = calls
        self.clock = MovedClock()
        self.deferred = Deferred()
        self.table = Table(cloud.aws, cloud.table_name)
        self.tenancy = self.elsewhere()

    def elsewhere(self) -> Tenancy:
        return compose(self.table, self.clock, self.deferred)

    def issue(self, role: Role = Role.MEMBER, **fields: Any) -> Issued:
        """Make a key of tenant `acme`, or an operator's."""
        wished = {"tenant": None if role is Role.OPERATOR else "acme", "name": role.name.lower(), **fields}
        return self.tenancy.keys.issue(KeyWish(role=role, **wished))

    def admit(
        self,
        secret: str | None,
        needs: Permission = "read",
        *,
        at: Tenancy | None = None,
        tenant: str | None = None,
        projects: Iterable[tuple[str, str]] = (),
    ) -> Admitted:
        """Admit one request to a surface that holds data."""
        presented = Presented(secret, tenant, tuple(projects))
        return (at or self.tenancy).gatekeeper.admit(presented, needs=needs)

    def caller(self, role: Role, *, asking: str | None = None, **fields: Any) -> Admitted:
        """Make a key and return the caller that it makes of a request to the platform surface."""
        issued = self.issue(role, **fields)
        needs = issued.record.permissions[0]
        presented = Presented(issued.secret, asking if role is Role.OPERATOR else None)
        return self.tenancy.gatekeeper.admit(presented, needs=needs, operators=True)
