"""Memory stores, composed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.stores.backing import MEMORIES_A_STORE, Backing
from shared.wiring.environment import Environment, EnvironmentInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.tenancy.usage import UsageMeter

SURFACE = "stores"


def store_backing(environ: Mapping[str, str], aws: Aws, clock: Clock, *, meter: UsageMeter) -> Backing:
    """Return what memory stores stand on, with their usage noted under their surface.

    Raises:
        EnvironmentInvalid: `MEMORIES_A_STORE`, where it is set, is not a number above 0, or `VERSION_RETENTION_DAYS`
            no number.
    """
    environment = Environment.of(environ)
    table, objects = Table(aws, environment.table_name), Objects(aws, environment.bucket_name)
    return Backing(table, objects, clock, partial(meter.note, surface=SURFACE), _limit(environ), _days(environ))


def _limit(environ: Mapping[str, str]) -> int:
    text = environ.get("MEMORIES_A_STORE", str(MEMORIES_A_STORE))
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise EnvironmentInvalid(f"MEMORIES_A_STORE is not a number above 0: {text!r}")
    return int(text)


def _days(environ: Mapping[str, str]) -> int:
    text = environ.get("VERSION_RETENTION_DAYS", "0")
    if not text.isascii() or not text.isdigit():
        raise EnvironmentInvalid(f"VERSION_RETENTION_DAYS is not a number of days: {text!r}")
    return int(text)
