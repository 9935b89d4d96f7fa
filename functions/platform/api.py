"""The function of the platform surface: keys, projects, usage, health, and the API's own document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.platform.key_routes import key_routes
from functions.platform.project_routes import project_routes, usage_routes
from functions.platform.status_routes import OPEN, document_routes, health_routes
from shared.http.admission import by_method
from shared.http.dialects import envelope
from shared.http.surface import Surface
from shared.http.telemetry import Telemetry
from shared.wiring.environment import Environment
from shared.wiring.handlers import lazily
from shared.wiring.readiness import Readiness
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.aws.clients import Aws
    from shared.http.request import Request
    from shared.kernel.clock import Clock
    from shared.tenancy.models import Permission
    from shared.wiring.tenancy import Tenancy

SURFACE = "platform"


def needs(request: Request) -> Permission | None:
    """Return what a request needs: nothing on the open paths, else what its verb tells."""
    return None if request.path in OPEN else by_method(request)


def routers(known: Tenancy, readiness: Readiness, version: str) -> Iterable[Router]:
    """Return every route of the surface."""
    yield key_routes(known.keys, known.clock)
    yield project_routes(known.projects)
    yield usage_routes(known.usage)
    yield health_routes(readiness, version)
    yield document_routes()


def build(environ: Mapping[str, str], aws: Aws, clock: Clock) -> Surface:
    """Return a new instance of the function."""
    environment = Environment.of(environ)
    known = tenancy(environment, aws, clock)
    return Surface(
        routers(known, Readiness(environment, aws), environment.lodestore_version),
        dialect=envelope,
        admit=known.admission(SURFACE, needs=needs, operators=True),
        telemetry=Telemetry(SURFACE, environment.powertools_metrics_namespace),
    )


handler = lazily(build)
