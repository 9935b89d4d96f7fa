"""Who calls the platform surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.kernel.errors import PermissionDenied, Unauthenticated
from shared.kernel.scope import Role
from shared.tenancy.models import Admitted

if TYPE_CHECKING:
    from shared.http.request import Request


def admitted(request: Request) -> Admitted:
    """Return who sent a request, with the key that admitted it."""
    if not isinstance(request.caller, Admitted):
        raise Unauthenticated("Send an API key.")
    return request.caller


def of_a_tenant(request: Request) -> Admitted:
    """Return who sent a request that is about a tenant's data.

    Raises:
        PermissionDenied: an operator.
    """
    caller = admitted(request)
    if caller.role is Role.OPERATOR:
        raise PermissionDenied("An operator's key makes keys; it sees no data.")
    return caller
