"""How each operation of the API can be asked for what is somebody else's: one probe an operation, by its id.

A probe is given who asks, the names of what they hold themselves, and those of what they don't, and returns the
requests. Every parameter and every field of the operation has to be in one of them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tests.hostile.holdings import FILES, MEMORIES, PROJECTS, STORES

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party

    Probe = Callable[[Party, Names, Names], list[Request]]

PROBES: dict[str, Probe] = {}

TALK: Final = [{"role": "user", "content": "I like tea.", "timestamp": -1}]


def probe(of: Probe) -> Probe:
    """Register a probe under the id of its operation."""
    PROBES[of.__name__] = of
    return of


def _task(other: Names) -> str:
    return f"{PROJECTS}/tasks/{other.task}"


def _turn(other: Names) -> str:
    return f"{_task(other)}/turns/1"


def _artifact(other: Names) -> str:
    return f"{_turn(other)}/artifacts/{other.artifact}"


# ---- Project memory ------------------------------------------------------------------------------------------------


@probe
def read_digest(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"{PROJECTS}/project.md", headers={"if-none-match": other.digest_etag})]


@probe
def list_tasks(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"{PROJECTS}/tasks", query={"limit": 5, "cursor": other.tasks_cursor})]


@probe
def read_task(p: Party, own: Names, other: Names) -> list[Request]:
    return [
        p.request("GET", _task(other)),
        p.request("GET", _task(other), query={"limit": 1, "cursor": other.turns_cursor}),
        p.request("GET", _task(own), query={"limit": 1, "cursor": other.turns_cursor}),
        p.request("GET", _task(own), query={"cursor": other.tasks_cursor}),
    ]


@probe
def delete_task(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("DELETE", _task(other))]


@probe
def read_turn(p: Party, own: Names, other: Names) -> list[Request]:
    tag = {"if-none-match": other.turn_etag}
    return [p.request("GET", _turn(other)), p.request("GET", _turn(other), headers=tag)]


@probe
def put_turn(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"meta": {"exit_code": 0}, "summary_md": "mine"}
    new = f"{PROJECTS}/tasks/new-{other.task}/turns/1"
    return [
        p.request("PUT", _turn(other), json_body=body, headers={"if-match": other.turn_etag}),
        p.request("PUT", _turn(own), json_body=body, headers={"if-match": other.turn_etag}),
        p.request("PUT", new, json_body=body, headers={"if-none-match": "*"}),
    ]


@probe
def patch_turn(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"meta": {"exit_code": 0}, "summary_md": "mine"}
    return [
        p.request("PATCH", _turn(other), json_body=body),
        p.request("PATCH", _turn(other), json_body=body, headers={"if-match": other.turn_etag, "if-none-match": '"x"'}),
    ]


@probe
def read_artifact(p: Party, own: Names, other: Names) -> list[Request]:
    tags = {"if-none-match": other.artifact_etag}
    part = {"range": "bytes=0-3", "if-range": other.artifact_etag}
    return [p.request("GET", _artifact(other), headers=how) for how in ({}, tags, part)]


@probe
def describe_artifact(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("HEAD", _artifact(other), headers={"if-none-match": other.artifact_etag})]


@probe
def put_artifact(p: Party, own: Names, other: Names) -> list[Request]:
    guarded = {"if-match": other.artifact_etag}
    new = f"{PROJECTS}/tasks/art-{other.task}/turns/1/artifacts/{other.artifact}"
    return [
        p.request("PUT", _artifact(other), body=b"mine", headers=guarded),
        p.request("PUT", _artifact(own), body=b"mine", headers=guarded),
        p.request("PUT", new, body=b"mine", headers={"if-none-match": "*"}),
    ]


@probe
def start_upload(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"size": 4, "content_type": "text/plain", "sha256": other.content_hash}
    return [p.request("POST", f"{_artifact(other)}/upload", json_body=body)]


@probe
def complete_upload(p: Party, own: Names, other: Names) -> list[Request]:
    theirs, tags = {"upload_id": other.upload}, {"if-match": other.artifact_etag, "if-none-match": other.artifact_etag}
    return [
        p.request("POST", f"{_artifact(other)}/complete", json_body=theirs),
        p.request("POST", f"{_artifact(own)}/complete", json_body=theirs, headers=tags),
    ]


# ---- Memory stores -------------------------------------------------------------------------------------------------


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


# ---- Memories ------------------------------------------------------------------------------------------------------


@probe
def add_memories(p: Party, own: Names, other: Names) -> list[Request]:
    body: dict[str, Any] = {
        "user_id": other.user,
        "messages": TALK,
        "async_mode": True,
        "wait": 0,
        "mode": "raw",
        "content_type": "work",
        "memory_output_language": "en",
        "agent_id": other.agent,
        "app_id": other.app,
        "session_id": other.chat,
        "metadata": {"idempotency_key": other.idempotency},
        "timestamp": -1,
        "add_only": True,
        "window_context": [],
    }
    code = {
        **{name: body[name] for name in ("user_id", "messages", "session_id")},
        "content_type": "code",
        "metadata": {"source": "memorax-code"},
        "chunk": {"group_id": other.group, "index": 1, "count": 2},
        "code_extraction_instructions": "Keep all.",
    }
    named = {"idempotency-key": other.idempotency}
    plain = {"user_id": other.user, "messages": TALK}
    return [
        p.request("POST", f"{MEMORIES}/add", json_body=body),
        p.request("POST", f"{MEMORIES}/add", json_body=code),
        p.request("POST", f"{MEMORIES}/add", json_body={**plain, "user_id": f"{other.user}-2"}, headers=named),
        *(p.request("POST", f"{MEMORIES}/add", json_body=body) for body in _with_file(own.user, other)),
        *(p.request("POST", f"{MEMORIES}/add", json_body=body) for body in _with_file(other.user, other)),
    ]


def _with_file(user: str, other: Names) -> list[dict[str, Any]]:
    """Return adds of a user that name another's file: as a document, and as an image."""
    text = {"type": "text", "text": "See."}
    parts = (
        ("document", {"type": "file", "file": {"file_id": other.file}}),
        ("work", {"type": "input_image", "file_id": other.file, "caption": "A caption."}),
    )
    return [
        {
            "user_id": user,
            "content_type": kind,
            "messages": [{"role": "user", "content": [text, part], "timestamp": -1}],
        }
        for kind, part in parts
    ]


@probe
def get_add_status(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"{MEMORIES}/add/status/{task}") for task in (other.addition, other.erasure)]


@probe
def search_memories(p: Party, own: Names, other: Names) -> list[Request]:
    asked = {"user_id": other.user, "query": "quetzalcoatl", "mode": "fast", "top_k": 50, "k_dense": 50, "k_sparse": 50}
    identities = {"agent_id": {"eq": other.agent}, "app_id": {"eq": other.app}, "session_id": {"eq": other.chat}}
    bodies: list[dict[str, Any]] = [
        {**asked, "output_mode": "raw", "return_raw_text": True, "min_semantic_similarity": 0.0},
        {**asked, "output_mode": "summary", "window_context": []},
        {**asked, "user_id": own.user, "output_mode": "raw", "filters": identities},
        {**asked, "user_id": own.user, "output_mode": "raw", "filters": {"mem_type": {"in": [other.category]}}},
        {**asked, "user_id": own.user, "sources": ["document"], "document_ids": [other.document]},
    ]
    return [p.request("POST", f"{MEMORIES}/search", json_body=body) for body in bodies]


@probe
def list_user_memories(p: Party, own: Names, other: Names) -> list[Request]:
    filters = json.dumps({"session_id": {"eq": other.chat}})
    wanted: list[dict[str, Any]] = [
        {"user_id": other.user, "kind": "raw", "limit": 1},
        {"user_id": other.user, "limit": 1, "cursor": other.remembered_cursor},
        {"user_id": own.user, "limit": 1, "cursor": other.remembered_cursor},
        {"user_id": own.user, "filters": filters},
    ]
    return [p.request("GET", MEMORIES, query=query) for query in wanted]


@probe
def forget_user(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("DELETE", MEMORIES, query={"user_id": f"{other.user}-3"})]


@probe
def get_erasure(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"{MEMORIES}/erasures/{task}") for task in (other.erasure, other.addition)]


@probe
def get_memory(p: Party, own: Names, other: Names) -> list[Request]:
    tag = {"if-none-match": other.remembered_etag}
    return [
        p.request("GET", f"{MEMORIES}/{other.remembered}"),
        p.request("GET", f"{MEMORIES}/{other.remembered}", headers=tag),
        p.request("GET", f"{MEMORIES}/{own.remembered}", headers=tag),
    ]


@probe
def change_memory(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"memory": "mine", "metadata": {"a": 1}, "categories": ["mine"], "immutable": True}
    tag = {"if-match": other.remembered_etag}
    return [
        p.request("PATCH", f"{MEMORIES}/{other.remembered}", json_body=body),
        p.request("PATCH", f"{MEMORIES}/{other.remembered}", json_body=body, headers=tag),
        p.request("PATCH", f"{MEMORIES}/{own.remembered}", json_body=body, headers=tag),
    ]


@probe
def forget_memory(p: Party, own: Names, other: Names) -> list[Request]:
    path = f"{MEMORIES}/{other.remembered}"
    return [p.request("DELETE", path), p.request("DELETE", path, query={"scope": "source"})]


@probe
def get_memory_history(p: Party, own: Names, other: Names) -> list[Request]:
    page = {"limit": 1, "cursor": other.history_cursor}
    return [
        p.request("GET", f"{MEMORIES}/{other.remembered}/history"),
        p.request("GET", f"{MEMORIES}/{other.remembered}/history", query=page),
        p.request("GET", f"{MEMORIES}/{own.remembered}/history", query=page),
    ]


# ---- Files ---------------------------------------------------------------------------------------------------------


def _file(own: Names, other: Names) -> list[tuple[str, dict[str, Any]]]:
    """Return the ways to name a file: by its id, and with the user it is of, or another."""
    path = f"{FILES}/{other.file}"
    return [(path, {}), (path, {"user_id": other.user}), (path, {"user_id": own.user})]


@probe
def start_file(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"user_id": other.user, "filename": other.filename, "size": 4, "sha256": other.content_hash}
    return [p.request("POST", FILES, json_body=body)]


@probe
def complete_file(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("POST", f"{path}/complete", query=query) for path, query in _file(own, other)]


@probe
def list_files(p: Party, own: Names, other: Names) -> list[Request]:
    users = (other.user, own.user)
    pages = [{"user_id": user, "limit": 1, "cursor": other.files_cursor} for user in users]
    return [p.request("GET", FILES, query=query) for query in ({"user_id": other.user}, *pages)]


@probe
def get_file(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", path, query=query) for path, query in _file(own, other)]


@probe
def read_file(p: Party, own: Names, other: Names) -> list[Request]:
    headers = {"if-none-match": other.file_etag}
    part = {"range": "bytes=0-3", "if-range": other.file_etag}
    return [
        p.request("GET", f"{path}/content", query=query, headers=how)
        for path, query in _file(own, other)
        for how in ({}, headers, part)
    ]


@probe
def describe_file(p: Party, own: Names, other: Names) -> list[Request]:
    headers = {"if-none-match": other.file_etag}
    return [p.request("HEAD", f"{path}/content", query=query, headers=headers) for path, query in _file(own, other)]


@probe
def delete_file(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("DELETE", path, query=query) for path, query in _file(own, other)]


# ---- Platform ------------------------------------------------------------------------------------------------------


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
