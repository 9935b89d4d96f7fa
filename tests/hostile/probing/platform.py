"""Probes of the platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.hostile.probing.registry import probe

if TYPE_CHECKING:
    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party


@probe
def create_api_key(p: Party, own: Names, other: Names) -> list[Request]:
    wish = {
        "name": "mine",
        "role": "member",
        "permissions": ["read"],
        "expires_at": None,
        "rate_limit_per_minute": 5,
        "quotas": {"memory_write": 1},
    }
    named: list[dict[str, Any]] = [
        {"tenant_id": other.tenant},
        {"tenant_id": other.tenant, "project_id": other.project},
        {"tenant_id": own.tenant, "project_id": other.project},
        {"tenant_id": own.tenant, "project_id": own.project, "principal": other.principal},
    ]
    return [p.request("POST", "/v1/api_keys", json_body={**wish, **names}) for names in named]


@probe
def list_api_keys(p: Party, own: Names, other: Names) -> list[Request]:
    query = {"limit": 1, "page": other.keys_cursor, "include_revoked": "true"}
    return [p.request("GET", "/v1/api_keys", query=query)]


@probe
def read_api_key(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"/v1/api_keys/{other.key}")]


@probe
def revoke_api_key(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("DELETE", f"/v1/api_keys/{other.key}")]


@probe
def read_project(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"/v1/projects/{other.project}")]


@probe
def put_project(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"retention_days": 7, "rate_limit_per_minute": 1000}
    return [p.request("PUT", f"/v1/projects/{other.project}", json_body=body)]


@probe
def read_usage(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", "/v1/usage", query={"limit": 1, "page": other.usage_cursor})]
