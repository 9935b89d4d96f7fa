"""The function of project memory (`/sandbox/memory/v1`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.projects.artifact_routes import artifact_routes, upload_routes
from functions.projects.task_routes import digest_routes, task_routes
from functions.projects.turn_routes import turn_routes
from shared.http.dialects import detail
from shared.http.surface import Surface
from shared.http.telemetry import Telemetry
from shared.projects.artifacts import Artifacts
from shared.projects.digest import Digests
from shared.projects.tasks import Tasks
from shared.projects.turns import Turns
from shared.projects.uploads import Uploads
from shared.wiring.environment import Environment
from shared.wiring.handlers import lazily
from shared.wiring.projects import SURFACE, project_backing
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.projects.backing import Backing


def routers(backing: Backing, direct_bytes: int) -> Iterable[Router]:
    """Return every route of the surface."""
    yield digest_routes(Digests(backing))
    yield task_routes(Tasks(backing))
    yield turn_routes(Turns(backing))
    yield artifact_routes(Artifacts(backing), direct_bytes)
    yield upload_routes(Uploads(backing))


def build(environ: Mapping[str, str], aws: Aws, clock: Clock) -> Surface:
    """Return a new instance of the function."""
    environment = Environment.of(environ)
    callers = tenancy(environment, aws, clock)
    backing = project_backing(environment, aws, clock, meter=callers.meter)
    return Surface(
        routers(backing, environment.direct_body_bytes),
        dialect=detail,
        admit=callers.admission(SURFACE),
        telemetry=Telemetry(SURFACE, environment.powertools_metrics_namespace),
    )


handler = lazily(build)
