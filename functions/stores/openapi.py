"""Memory stores, described (contract "memory stores", §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.stores.asking import SESSION_HEADER
from functions.stores.schemas import HASH, SCHEMAS, TEXT
from shared.http.openapi import Description, ErrorStyle, json_content, ok, operation, parameter, ref, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.http.openapi import Json

ERRORS = ErrorStyle("MemoryStores", "Error", {409: "MemoryStoreConflict"})
TAG = "Memory stores"
ROOT = "/v1/memory_stores"
STORE = f"{ROOT}/{{memory_store_id}}"
MEMORIES = f"{STORE}/memories"
MEMORY = f"{MEMORIES}/{{memory_id}}"
VERSIONS = f"{STORE}/memory_versions"
VERSION = f"{VERSIONS}/{{memory_version_id}}"

_EVERY_ERROR = (400, 401, 403, 405, 429, 503)
_BELOW_A_STORE = (*_EVERY_ERROR, 404)
_WRITE_ERRORS = (*_BELOW_A_STORE, 409, 413)

_STORE_ID = parameter("path", "memory_store_id", TEXT)
_MEMORY_ID = parameter("path", "memory_id", TEXT)
_VERSION_ID = parameter("path", "memory_version_id", TEXT)
_LIMIT = parameter("query", "limit", typed("integer", minimum=1, maximum=100, default=20), "At most 20 with contents")
_PAGE = parameter("query", "page", TEXT, "The `next_page` of the page before")
_FROM = parameter("query", "created_at[gte]", typed("string", format="date-time"))
_TO = parameter("query", "created_at[lte]", typed("string", format="date-time"))
_ARCHIVED = parameter("query", "include_archived", typed("boolean", default=False))
_BETA = parameter(
    "header",
    "anthropic-beta",
    TEXT,
    "`managed-agents-2026-04-01` (as without one) or `agent-memory-2026-07-22`, which differ in the list of memories",
)
_SESSION = parameter(
    "header", SESSION_HEADER, typed("string", pattern="^[\\x20-\\x7e]{1,255}$"), "The session that the change is by"
)
_PREFIX = parameter("query", "path_prefix", TEXT, "Where paths begin; in the newest dialect it ends with `/`")
_DEPTH = parameter("query", "depth", typed("integer", minimum=0), "Levels shown, 0: all; newest dialect: 0 or 1")
_ORDER_BY = parameter("query", "order_by", typed("string", enum=["path", "created_at", "updated_at"]))
_ORDER = parameter("query", "order", typed("string", enum=["asc", "desc"]))
_EXPECTED = parameter("query", "expected_content_sha256", typed("string", pattern=HASH))
_FILTERS = (
    parameter("query", "memory_id", TEXT),
    parameter("query", "operation", typed("string", enum=["created", "modified", "deleted"])),
    parameter("query", "session_id", TEXT),
    parameter("query", "api_key_id", TEXT),
    parameter("query", "service_account_id", TEXT),
)


def _view(default: str) -> Json:
    return parameter("query", "view", typed("string", enum=["basic", "full"], default=default), "With contents or not")


def _told(
    name: str, summary: str, *parameters: Json, errors: Iterable[int], answers: str, body: Json | None = None
) -> Json:
    responses = {"200": ok(answers)} | ERRORS.refer(errors)
    return operation((name, summary), *parameters, _BETA, tag=TAG, body=body, responses=responses)


def _changed(name: str, summary: str, *parameters: Json, takes: str, answers: str) -> Json:
    body = _body(takes, required=False)
    return _told(name, summary, *parameters, body=body, errors=_WRITE_ERRORS, answers=answers)


def _body(schema: str, *, required: bool = True) -> Json:
    return {"required": required, "content": json_content(ref(schema))}


def _stores() -> dict[str, dict[str, Json]]:
    return {
        ROOT: {
            "post": _told(
                "create_store",
                "Create a store",
                body=_body("NewMemoryStore"),
                errors=(*_EVERY_ERROR, 409, 413),
                answers="MemoryStore",
            ),
            "get": _told(
                "list_stores",
                "List stores, newest first",
                *(_LIMIT, _PAGE, _FROM, _TO, _ARCHIVED),
                errors=_EVERY_ERROR,
                answers="MemoryStoreList",
            ),
        },
    }


def _store() -> dict[str, dict[str, Json]]:
    return {
        STORE: {
            "get": _told("retrieve_store", "One store", _STORE_ID, errors=_BELOW_A_STORE, answers="MemoryStore"),
            "post": _changed(
                "update_store",
                "Change a store's name, description or metadata",
                _STORE_ID,
                takes="MemoryStoreChange",
                answers="MemoryStore",
            ),
            "delete": _told(
                "delete_store",
                "Delete a store with all its memories and versions, for good",
                _STORE_ID,
                errors=(*_BELOW_A_STORE, 409),
                answers="MemoryStoreDeleted",
            ),
        },
        f"{STORE}/archive": {
            "post": _changed(
                "archive_store",
                "Archive a store, for good: it can be read, emptied and deleted",
                _STORE_ID,
                takes="Nothing",
                answers="MemoryStore",
            )
        },
    }


def _memories() -> dict[str, dict[str, Json]]:
    return {
        MEMORIES: {
            "post": _told(
                "create_memory",
                "Create a memory at a path that is free",
                *(_STORE_ID, _view("basic"), _SESSION),
                body=_body("NewMemory"),
                errors=_WRITE_ERRORS,
                answers="Memory",
            ),
            "get": _told(
                "list_memories",
                "List memories by path, rolled up below a depth",
                *(_STORE_ID, _PREFIX, _DEPTH, _ORDER_BY, _ORDER, _LIMIT, _PAGE, _view("basic")),
                errors=_BELOW_A_STORE,
                answers="MemoryList",
            ),
        }
    }


def _memory() -> dict[str, dict[str, Json]]:
    which = (_STORE_ID, _MEMORY_ID)
    return {
        MEMORY: {
            "get": _told(
                "retrieve_memory", "One memory", *which, _view("full"), errors=_BELOW_A_STORE, answers="Memory"
            ),
            "post": _changed(
                "update_memory",
                "Change a memory's content, or move it, or both",
                *(*which, _view("basic"), _SESSION),
                takes="MemoryChange",
                answers="Memory",
            ),
            "delete": _told(
                "delete_memory",
                "Delete a memory; its versions stay",
                *(*which, _EXPECTED, _SESSION),
                errors=(*_BELOW_A_STORE, 409),
                answers="MemoryDeleted",
            ),
        }
    }


def _versions() -> dict[str, dict[str, Json]]:
    which = (_STORE_ID, _VERSION_ID)
    return {
        VERSIONS: {
            "get": _told(
                "list_versions",
                "List versions, newest first; filters combine",
                *(_STORE_ID, *_FILTERS, _FROM, _TO, _LIMIT, _PAGE, _view("basic")),
                errors=_BELOW_A_STORE,
                answers="MemoryVersionList",
            )
        },
        VERSION: {
            "get": _told(
                "retrieve_version", "One version", *which, _view("full"), errors=_BELOW_A_STORE, answers="MemoryVersion"
            )
        },
        f"{VERSION}/redact": {
            "post": _changed(
                "redact_version",
                "Erase what a version says; not the head of a live memory",
                *which,
                takes="Nothing",
                answers="MemoryVersion",
            )
        },
    }


DESCRIPTION = Description(TAG, {**_stores(), **_store(), **_memories(), **_memory(), **_versions()}, SCHEMAS, ERRORS)
