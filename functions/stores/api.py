"""The function of memory stores (`/v1/memory_stores`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.stores.asking import told
from functions.stores.memory_routes import memory_routes
from functions.stores.store_routes import store_routes
from functions.stores.version_routes import version_routes
from shared.http.surface import Surface
from shared.http.telemetry import Telemetry
from shared.stores.listing import MemoryLists
from shared.stores.memories import Memories
from shared.stores.stores import Stores
from shared.stores.versions import Versions
from shared.wiring.environment import Environment
from shared.wiring.handlers import lazily
from shared.wiring.stores import SURFACE, store_backing
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.stores.backing import Backing


def routers(backing: Backing) -> Iterable[Router]:
    """Return every route of the surface."""
    yield store_routes(Stores(backing))
    yield memory_routes(Memories(backing), MemoryLists(backing))
    yield version_routes(Versions(backing))


def build(environ: Mapping[str, str], aws: Aws, clock: Clock) -> Surface:
    """Return a new instance of the function."""
    environment = Environment.of(environ)
    callers = tenancy(environment, aws, clock)
    backing = store_backing(environ, aws, clock, meter=callers.meter)
    telemetry = Telemetry(SURFACE, environment.powertools_metrics_namespace)
    return Surface(routers(backing), dialect=told, admit=callers.admission(SURFACE), telemetry=telemetry)


handler = lazily(build)
