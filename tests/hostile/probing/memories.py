"""Probes of memories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tests.hostile.holdings import MEMORIES
from tests.hostile.probing.registry import probe

if TYPE_CHECKING:
    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party


TALK: Final = [{"role": "user", "content": "I like tea.", "timestamp": -1}]


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
