"""Keys, limits, project settings and usage, composed once for all functions of a process.

In Lambda a process has one function. In the local run several share one `Aws`, and with it what is
remembered of keys and projects: a key that one of them revokes is refused by all at once.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.http.admission import admission, by_method
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.retention.erasures import Erasure, ErasureLog
from shared.tenancy import background
from shared.tenancy.admission import Gatekeeper, Gates
from shared.tenancy.keys import Keys
from shared.tenancy.last_used import LastUsed
from shared.tenancy.limits import RateLimits
from shared.tenancy.models import KeyRecord
from shared.tenancy.projects import Projects
from shared.tenancy.quotas import Quotas
from shared.tenancy.remembered import Remembered
from shared.tenancy.usage import Usage, UsageMeter

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.clients import Aws
    from shared.http.admission import Needs
    from shared.http.surface import Admit
    from shared.kernel.clock import Clock
    from shared.tenancy.background import Later
    from shared.wiring.environment import Environment


REVOKED_KEY = "api_key"
"""The kind of erasure that a revoked key is: what must not come back with a restored table."""


@dataclass(frozen=True)
class Tenancy:
    """What knows who is calling and how their project is set."""

    gatekeeper: Gatekeeper
    keys: Keys
    projects: Projects
    meter: UsageMeter
    quotas: Quotas
    usage: Usage
    clock: Clock

    def admission(self, surface: str, *, needs: Needs = by_method, operators: bool = False) -> Admit:
        """Return the admission of a surface; see `shared.http.admission`."""
        return admission(self.gatekeeper, self.meter, surface, needs=needs, operators=operators)


_lock = threading.Lock()


def tenancy(environment: Environment, aws: Aws, clock: Clock) -> Tenancy:
    """Return the tenancy of a table for these clients and this clock: the same one for all who ask."""
    with _lock:
        known = _known_to(aws)
        # A clock that is known is held by its tenancy, so that its id can't be another's.
        name = (environment.table_name, id(clock))
        if name not in known:
            log = ErasureLog(Objects(aws, environment.bucket_name))
            known[name] = compose(
                Table(aws, environment.table_name), clock, background.later, note_revoked=revocations(log, clock)
            )
        return known[name]


def revocations(log: ErasureLog, clock: Clock) -> Callable[[KeyRecord], None]:
    """Return what notes in the erasure log that a key is revoked."""

    def note(record: KeyRecord) -> None:
        scope = Scope(record.tenant or "", record.project or "")
        log.write(Erasure(ulid(clock.now_ms()), REVOKED_KEY, scope, {"key": record.id}))

    return note


def compose(
    table: Table, clock: Clock, later: Later, *, note_revoked: Callable[[KeyRecord], None] = lambda _: None
) -> Tenancy:
    """Return a tenancy of its own, which remembers nothing; `later` is how it writes beside requests."""
    projects = Projects(table, clock)
    gates = Gates(RateLimits(table, clock), projects, LastUsed(table, clock, later))
    quotas = Quotas(table, clock)
    remembered = Remembered[KeyRecord](clock)
    return Tenancy(
        gatekeeper=Gatekeeper(table, clock, gates, remembered=remembered),
        keys=Keys(table, clock, remembered, note_revoked=note_revoked),
        projects=projects,
        meter=UsageMeter(table, clock, later),
        quotas=quotas,
        usage=Usage(table, clock, quotas),
        clock=clock,
    )


def flush_usage(aws: Aws) -> None:
    """Write the usage that was noted with these clients, before their process ends."""
    background.finish()
    for known in list(_known_to(aws).values()):
        known.meter.flush()


def _known_to(aws: Aws) -> dict[tuple[str, int], Tenancy]:
    # Kept with the clients, since a tenancy holds them: a registry of ours would keep both for ever.
    known: dict[tuple[str, int], Tenancy] = vars(aws).setdefault("tenancies", {})
    return known
