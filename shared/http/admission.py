"""Admission over HTTP: where a request carries its key, tenant and project, and what it is about to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.kernel.errors import Unauthenticated
from shared.tenancy.admission import Presented

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.http.request import Request
    from shared.http.surface import Admit
    from shared.tenancy.admission import Gatekeeper
    from shared.tenancy.models import Admitted, Permission
    from shared.tenancy.usage import UsageMeter

    Needs = Callable[[Request], Permission | None]

TENANT_HEADER = "x-sandbox-tenant-id"
PROJECT_HEADERS = ("X-Sandbox-Project-Id", "anthropic-workspace-id")
_SCHEMES = ("bearer", "token")
_READING = ("GET", "HEAD", "OPTIONS")


def by_method(request: Request) -> Permission | None:
    """Return what a request needs when its verb tells: GET and HEAD read, all others write."""
    return "read" if request.method in _READING else "write"


def admission(
    gatekeeper: Gatekeeper, meter: UsageMeter, surface: str, *, needs: Needs = by_method, operators: bool = False
) -> Admit:
    """Return a surface's admission; `needs` says what a request needs, None for one that needs no key.

    `surface` is the name under which its requests are counted; `operators` lets operators in.
    """

    def admit(request: Request) -> Admitted | None:
        permission = needs(request)
        if permission is None:
            return None
        caller = gatekeeper.admit(presented_by(request.headers), needs=permission, operators=operators)
        if caller.scope.project:
            meter.count_request(caller.scope, surface)
        return caller

    return admit


def presented_by(headers: Mapping[str, str]) -> Presented:
    """Return what a request's headers (by lower-case name) present.

    Raises:
        Unauthenticated: two different keys.
    """
    projects = tuple((name, headers[name.lower()].strip()) for name in PROJECT_HEADERS if name.lower() in headers)
    tenant = headers.get(TENANT_HEADER)
    return Presented(_secret(headers), None if tenant is None else tenant.strip(), projects)


def _secret(headers: Mapping[str, str]) -> str | None:
    found = {headers.get("x-api-key", "").strip()} - {""}
    words = headers.get("authorization", "").split()
    if len(words) == 2 and words[0].lower() in _SCHEMES:
        found.add(words[1])
    if len(found) > 1:
        raise Unauthenticated("The request carries two different keys; send one.")
    return found.pop() if found else None
