"""Routes of projects' settings and of usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.platform.callers import of_a_tenant
from functions.platform.models import BODY_BYTES, ProjectChange, project_shown, usage_shown
from shared.http.answers import json_answer
from shared.http.routing import new_router, request_of
from shared.http.validation import integer_in, validated
from shared.kernel.errors import InvalidInput, PermissionDenied
from shared.kernel.scope import NAME, Role, Scope
from shared.tenancy.admission import NAME_RULE

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.tenancy.models import Admitted
    from shared.tenancy.projects import Projects
    from shared.tenancy.usage import Usage

PROJECT = "/v1/projects/<project_id>"
USAGE = "/v1/usage"
PAGE = (1, 100)
DEFAULT_PAGE = 20


def project_routes(projects: Projects) -> Router:
    """Return the routes that read and set a project's settings."""
    router = new_router()

    @router.get(PROJECT)
    def read_project(project_id: str) -> Response[Any]:
        scope = _scope(of_a_tenant(request_of(router)), project_id)
        return json_answer(project_shown(scope.project, projects.get(scope)))

    @router.put(PROJECT)
    def put_project(project_id: str) -> Response[Any]:
        request = request_of(router)
        caller = of_a_tenant(request)
        scope = _scope(caller, project_id)
        if caller.role < Role.PROJECT_ADMIN:
            raise PermissionDenied("A member's key can't set its project.")
        change = validated(ProjectChange, request.json_within(BODY_BYTES))
        return json_answer(project_shown(scope.project, projects.change(scope, change.model_dump(exclude_unset=True))))

    return router


def usage_routes(usage: Usage) -> Router:
    """Return the route that tells usage."""
    router = new_router()

    @router.get(USAGE)
    def read_usage() -> Response[Any]:
        request = request_of(router)
        caller = of_a_tenant(request)
        limit = integer_in(request.query, "limit", within=PAGE, default=DEFAULT_PAGE)
        if caller.role is Role.TENANT_ADMIN:
            page = usage.of_tenant(caller.scope.tenant, limit=limit, page=request.query.get("page"))
        else:
            page = usage.of_project(caller.scope, caller.key)
        return json_answer(usage_shown(caller.scope.tenant, page))

    return router


def _scope(caller: Admitted, project: str) -> Scope:
    """Return the project that a path names.

    Raises:
        InvalidInput: no possible project.
        PermissionDenied: a key that is bound to another one.
    """
    if not NAME.fullmatch(project):
        raise InvalidInput.at("path", "project_id", message=NAME_RULE, value=project[:200])
    if caller.key.project not in (None, project):
        raise PermissionDenied("This key is bound to another project than the request names.")
    return Scope(caller.scope.tenant, project)
