"""Project memory, composed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.projects.backing import Backing

if TYPE_CHECKING:
    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.tenancy.usage import UsageMeter
    from shared.wiring.environment import Environment

SURFACE = "projects"


def project_backing(environment: Environment, aws: Aws, clock: Clock, *, meter: UsageMeter) -> Backing:
    """Return what project memory stands on, with its usage noted under its surface."""
    table, objects = Table(aws, environment.table_name), Objects(aws, environment.bucket_name)
    return Backing(table, objects, clock, partial(meter.note, surface=SURFACE))
