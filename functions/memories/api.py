"""The function of memories (`/v1/memories`)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from functions.memories.abilities import Abilities
from functions.memories.add_routes import ROOT, Adding, add_routes
from functions.memories.bodies import Deployed
from functions.memories.file_routes import file_routes
from functions.memories.limits import Limits
from functions.memories.memory_routes import memory_routes
from functions.memories.search_routes import search_routes
from shared.http.admission import by_method
from shared.http.dialects import report
from shared.http.surface import Surface
from shared.http.telemetry import Telemetry
from shared.memories.accepting import Accepting
from shared.memories.tasks import Tasks
from shared.wiring.handlers import lazily
from shared.wiring.memories import SURFACE, Memories, SearchIsOff

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.aws.clients import Aws
    from shared.http.request import Request
    from shared.http.surface import Admit
    from shared.kernel.clock import Clock
    from shared.kernel.scope import Caller
    from shared.tenancy.models import Permission


def routers(composed: Memories) -> Iterable[Router]:
    """Return every route of the surface."""
    yield add_routes(_adding(composed))
    yield search_routes(composed)
    yield memory_routes(composed)
    yield file_routes(composed)


def build(environ: Mapping[str, str], aws: Aws, clock: Clock) -> Surface:
    """Return a new instance of the function."""
    composed = Memories(environ, aws, clock)
    telemetry = Telemetry(SURFACE, composed.environment.powertools_metrics_namespace)
    return Surface(
        routers(composed),
        dialect=report,
        admit=_admission(composed),
        telemetry=telemetry,
        new_id=lambda: str(uuid4()),
    )


def needs_of(request: Request) -> Permission | None:
    """Return what a request needs: searching is a POST that reads."""
    return "read" if request.path == f"{ROOT}/search" else by_method(request)


def _admission(composed: Memories) -> Admit:
    admit = composed.callers.admission(SURFACE, needs=needs_of)

    def admitted(request: Request) -> Caller | None:
        caller = admit(request)
        if not composed.is_on:
            raise SearchIsOff
        return caller

    return admitted


def _adding(composed: Memories) -> Adding:
    environment = composed.environment
    deployed = Deployed(Limits.of(composed.environ), _abilities(composed), environment.memory_language)
    return Adding(
        composed.backing,
        Accepting(composed.backing, composed.quotas),
        Tasks(composed.backing),
        deployed,
        environment.direct_body_bytes,
        run=None if environment.stage == "prod" else composed.run,
    )


def _abilities(composed: Memories) -> Abilities:
    return Abilities(composed.reads_documents, pictures=composed.reads_pictures, captions=composed.describes_images)


handler = lazily(build)
