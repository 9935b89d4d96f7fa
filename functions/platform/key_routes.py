"""Routes of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.platform.callers import admitted
from functions.platform.models import BODY_BYTES, NewKey, key_shown
from shared.http.answers import json_answer
from shared.http.routing import new_router, request_of
from shared.http.validation import flag_in, integer_in, validated
from shared.kernel.errors import InvalidInput
from shared.kernel.scope import Role
from shared.tenancy.keys import KeyList
from shared.tenancy.models import KeyWish
from shared.tenancy.rules import check_may_administer

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.kernel.clock import Clock
    from shared.tenancy.keys import Keys
    from shared.tenancy.models import Admitted

ROOT = "/v1/api_keys"
PAGE = (1, 100)
DEFAULT_PAGE = 20


def key_routes(keys: Keys, clock: Clock) -> Router:
    """Return the routes that make, list, read and revoke keys."""
    router = new_router()

    @router.post(ROOT)
    def create_api_key() -> Response[Any]:
        request = request_of(router)
        maker = admitted(request)
        check_may_administer(maker)
        body = validated(NewKey, request.json_within(BODY_BYTES))
        issued = keys.create(maker, wish_of(body, maker, clock.now_ms()))
        return json_answer({**key_shown(issued.record), "key": issued.secret}, Cache_Control="no-store")

    @router.get(ROOT)
    def list_api_keys() -> Response[Any]:
        request = request_of(router)
        limit = integer_in(request.query, "limit", within=PAGE, default=DEFAULT_PAGE)
        wanted = KeyList(limit, request.query.get("page"), flag_in(request.query, "include_revoked"))
        page = keys.page(admitted(request), wanted)
        return json_answer({"data": [key_shown(r) for r in page.records], "next_page": page.next_page})

    @router.get(f"{ROOT}/<key_id>")
    def read_api_key(key_id: str) -> Response[Any]:
        return json_answer(key_shown(keys.get(admitted(request_of(router)), key_id)))

    @router.delete(f"{ROOT}/<key_id>")
    def revoke_api_key(key_id: str) -> Response[Any]:
        keys.revoke(admitted(request_of(router)), key_id)
        return json_answer({"id": key_id, "type": "api_key_revoked"})

    return router


def wish_of(body: NewKey, maker: Admitted, now_ms: int) -> KeyWish:
    """Return what `maker` wishes: what it leaves out of tenant and project are its own.

    Raises:
        InvalidInput: an operator that names no tenant, a project for a role that has none, a time that is past.
    """
    role = Role[body.role.upper()]
    tenant = body.tenant_id or maker.scope.tenant or None
    if tenant is None and role is not Role.OPERATOR:
        raise _broken("tenant_id", "An operator must say whose key it makes", body.tenant_id)
    own = maker.key.project if role < Role.TENANT_ADMIN else None
    project = body.project_id if "project_id" in body.model_fields_set else own
    if project is not None and role >= Role.TENANT_ADMIN:
        raise _broken("project_id", f"A key with the role {body.role} is bound to no project; leave it out", project)
    if body.expires_at is not None and int(body.expires_at) <= now_ms:
        raise _broken("expires_at", "Input should be a time to come", None)
    return KeyWish(
        name=body.name,
        role=role,
        tenant=tenant,
        project=project,
        principal=body.principal,
        permissions=tuple(body.permissions),
        expires_at=None if body.expires_at is None else int(body.expires_at),
        rate_limit=body.rate_limit_per_minute,
        quotas=_quotas(body),
    )


def _quotas(body: NewKey) -> dict[Any, int] | None:
    return body.quotas.model_dump(exclude_none=True) or None if body.quotas else None


def _broken(field: str, message: str, value: Any) -> InvalidInput:
    return InvalidInput.at("body", field, message=message, value=value)
