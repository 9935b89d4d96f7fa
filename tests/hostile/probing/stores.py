"""Probes of memory stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.hostile.holdings import STORES
from tests.hostile.probing.registry import probe

if TYPE_CHECKING:
    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party


def _stores(p: Party, method: str, path: str, **how: Any) -> Request:
    """Return a request in the newest dialect."""
    beta = {"anthropic-beta": "agent-memory-2026-07-22"}
    return p.request(method, f"{STORES}{path}", **{**how, "headers": {**beta, **how.get("headers", {})}})


@probe
def create_store(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"name": other.store, "description": other.store, "metadata": {"of": other.store}}
    return [_stores(p, "POST", "", json_body=body)]


@probe
def list_stores(p: Party, own: Names, other: Names) -> list[Request]:
    times = {"created_at[gte]": "2020-01-01T00:00:00Z", "created_at[lte]": "2020-01-02T00:00:00Z"}
    return [
        _stores(p, "GET", "", query={"limit": 1, "page": other.stores_cursor, "include_archived": "true"}),
        _stores(p, "GET", "", query=times),
    ]


@probe
def retrieve_store(p: Party, own: Names, other: Names) -> list[Request]:
    return [_stores(p, "GET", f"/{other.store}")]


@probe
def update_store(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"name": "mine", "description": "mine", "metadata": {"mine": "yes"}}
    return [_stores(p, "POST", f"/{other.store}", json_body=body)]


@probe
def delete_store(p: Party, own: Names, other: Names) -> list[Request]:
    return [_stores(p, "DELETE", f"/{other.store}")]


@probe
def archive_store(p: Party, own: Names, other: Names) -> list[Request]:
    return [_stores(p, "POST", f"/{other.store}/archive", json_body={})]


@probe
def create_memory(p: Party, own: Names, other: Names) -> list[Request]:
    how: dict[str, Any] = {
        "json_body": {"path": other.path, "content": "mine"},
        "query": {"view": "full"},
        "headers": {"x-sandbox-session-id": other.session},
    }
    # The second time the path is taken: the conflict may name what is in one's own store alone.
    return [_stores(p, "POST", f"/{store}/memories", **how) for store in (other.store, own.store, own.store)]


@probe
def list_memories(p: Party, own: Names, other: Names) -> list[Request]:
    below = {"path_prefix": f"{other.path.rpartition('/')[0]}/", "depth": 1, "limit": 1, "view": "full"}
    page = {"page": other.paths_cursor, "limit": 1}
    first = {"anthropic-beta": "managed-agents-2026-04-01"}
    ordered = {"order_by": "updated_at", "order": "desc", "page": other.paths_cursor}
    return [
        _stores(p, "GET", f"/{other.store}/memories", query=below),
        _stores(p, "GET", f"/{own.store}/memories", query=below),
        _stores(p, "GET", f"/{own.store}/memories", query=page),
        _stores(p, "GET", f"/{own.store}/memories", query=ordered, headers=first),
        _stores(p, "GET", f"/{other.store}/memories", query=page),
    ]


@probe
def retrieve_memory(p: Party, own: Names, other: Names) -> list[Request]:
    full = {"view": "full"}
    pairs = ((other.store, other.memory), (own.store, other.memory), (other.store, own.memory))
    return [_stores(p, "GET", f"/{store}/memories/{memory}", query=full) for store, memory in pairs]


@probe
def update_memory(p: Party, own: Names, other: Names) -> list[Request]:
    same = {"type": "content_sha256", "content_sha256": other.content_hash}
    how: dict[str, Any] = {
        "json_body": {"path": "/taken.md", "content": "mine", "precondition": same},
        "query": {"view": "full"},
        "headers": {"x-sandbox-session-id": other.session},
    }
    pairs = ((other.store, other.memory), (own.store, other.memory), (other.store, own.memory), (own.store, own.memory))
    return [_stores(p, "POST", f"/{store}/memories/{memory}", **how) for store, memory in pairs]


@probe
def delete_memory(p: Party, own: Names, other: Names) -> list[Request]:
    pairs = ((other.store, other.memory), (own.store, other.memory), (other.store, own.memory), (own.store, own.memory))
    how: dict[str, Any] = {
        "query": {"expected_content_sha256": other.content_hash},
        "headers": {"x-sandbox-session-id": other.session},
    }
    return [
        *(_stores(p, "DELETE", f"/{store}/memories/{memory}", **how) for store, memory in pairs),
        *(_stores(p, "DELETE", f"/{store}/memories/{memory}") for store, memory in pairs[:3]),
    ]


@probe
def list_versions(p: Party, own: Names, other: Names) -> list[Request]:
    wanted: list[dict[str, Any]] = [
        {"memory_id": other.memory, "operation": "created", "view": "full"},
        {"session_id": other.session},
        {"api_key_id": other.key},
        {"service_account_id": other.principal},
        {"page": other.versions_cursor, "limit": 1},
        {"created_at[gte]": "2020-01-01T00:00:00Z", "created_at[lte]": "2020-01-02T00:00:00Z"},
    ]
    stores = (own.store, other.store)
    return [_stores(p, "GET", f"/{store}/memory_versions", query=query) for store in stores for query in wanted]


@probe
def retrieve_version(p: Party, own: Names, other: Names) -> list[Request]:
    pairs = ((other.store, other.version), (own.store, other.version), (other.store, own.version))
    return [_stores(p, "GET", f"/{s}/memory_versions/{version}", query={"view": "full"}) for s, version in pairs]


@probe
def redact_version(p: Party, own: Names, other: Names) -> list[Request]:
    pairs = ((other.store, other.version), (own.store, other.version), (other.store, own.version))
    return [_stores(p, "POST", f"/{s}/memory_versions/{version}/redact", json_body={}) for s, version in pairs]
