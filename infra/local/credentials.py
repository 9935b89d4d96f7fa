"""The keys of a local run: made at its first start, kept for the next ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.kernel.scope import Role
from shared.tenancy.models import DEFAULT_PROJECT, KeyWish

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.tenancy.keys import Keys

TENANT = "local"
WISHES = {
    "api_key": KeyWish("local run", Role.TENANT_ADMIN, tenant=TENANT),
    "operator_key": KeyWish("local operator", Role.OPERATOR),
}


def credentials_of(keys: Keys, known: Mapping[str, Any], base_url: str) -> dict[str, str]:
    """Return what `credentials.json` says; keys in `known` that are still good are kept, others are made."""
    secrets = {name: _kept_or_made(keys, known.get(name), wish) for name, wish in WISHES.items()}
    return {"base_url": base_url, "tenant_id": TENANT, "project_id": DEFAULT_PROJECT, **secrets}


def _kept_or_made(keys: Keys, secret: Any, wish: KeyWish) -> str:
    record = keys.authenticated(secret) if isinstance(secret, str) else None
    wished = (wish.role, wish.tenant, None)
    if record and (record.role, record.tenant, record.project) == wished:
        return str(secret)
    return keys.issue(wish).secret
