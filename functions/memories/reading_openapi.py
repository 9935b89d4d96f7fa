"""Searching, reading, changing and forgetting, described (seed; contract, "Beyond the document")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.memories.add_routes import ROOT
from functions.memories.add_schemas import TEXT, UUID
from functions.memories.describing import EVERY_ERROR, told
from shared.http.openapi import answer, parameter, typed
from shared.memories.models import KINDS

if TYPE_CHECKING:
    from shared.http.openapi import Json

MEMORY = f"{ROOT}/{{memory_id}}"

_ID = parameter("path", "memory_id", UUID)
_USER = {**parameter("query", "user_id", typed("string", minLength=1)), "required": True}
_LIMIT = parameter("query", "limit", typed("integer", minimum=1, maximum=100, default=50))
_CURSOR = parameter("query", "cursor", TEXT, "The `next_cursor` of the page before")
_KIND = parameter("query", "kind", typed("string", enum=list(KINDS)))
_FILTERS = parameter("query", "filters", TEXT, "As in a search, as JSON")
_SCOPE = parameter(
    "query",
    "scope",
    typed("string", enum=["memory", "source"], default="memory"),
    "`source`: what else came from the same messages too",
)
_IF_MATCH = parameter("header", "If-Match", TEXT)
_IF_NONE_MATCH = parameter("header", "If-None-Match", TEXT)


def reading() -> dict[str, dict[str, Json]]:
    """Return the descriptions by path and verb."""
    return {**_searching(), **_lists(), **_memory()}


def _searching() -> dict[str, dict[str, Json]]:
    return {
        f"{ROOT}/search": {
            "post": told(
                "search_memories",
                "Search a user's memories by meaning and by words",
                body="SearchRequest",
                errors=(*EVERY_ERROR, 413, 415),
                answers={"200": "SearchAnswer"},
            )
        }
    }


def _lists() -> dict[str, dict[str, Json]]:
    return {
        ROOT: {
            "get": told(
                "list_user_memories",
                "A user's memories, the newest first",
                *(_USER, _KIND, _FILTERS, _LIMIT, _CURSOR),
                errors=EVERY_ERROR,
                answers={"200": "LearntMemoryPage"},
            ),
            "delete": told(
                "forget_user",
                "Forget all of a user: invisible at once, removed soon after",
                _USER,
                errors=(*EVERY_ERROR, 409),
                answers={"202": "ErasureAccepted"},
            ),
        },
        f"{ROOT}/erasures/{{task_id}}": {
            "get": told(
                "get_erasure",
                "What forgetting a user, or deleting a file, has removed so far; for 30 days",
                parameter("path", "task_id", UUID),
                errors=(*EVERY_ERROR, 404),
                answers={"200": "ErasureReceipt"},
            )
        },
    }


def _memory() -> dict[str, dict[str, Json]]:
    read = told(
        "get_memory",
        "One memory",
        _ID,
        _IF_NONE_MATCH,
        errors=(*EVERY_ERROR, 404),
        answers={"200": "LearntMemoryAnswer"},
    )
    read["responses"]["304"] = answer("As the caller has it", headers=("ETag",))
    history = told(
        "get_memory_history",
        "Each state and decision of a memory, the newest first",
        *(_ID, _LIMIT, _CURSOR),
        errors=(*EVERY_ERROR, 404),
        answers={"200": "LearntMemoryHistory"},
    )
    change = told(
        "change_memory",
        "Change a memory; it is searchable when it is answered",
        *(_ID, _IF_MATCH),
        body="LearntMemoryChange",
        errors=(*EVERY_ERROR, 404, 409, 412, 413, 415),
        answers={"200": "LearntMemoryAnswer"},
    )
    forget = told(
        "forget_memory",
        "Forget a memory and its history",
        *(_ID, _SCOPE),
        errors=(*EVERY_ERROR, 404, 409),
        answers={"200": "LearntMemoryForgotten"},
    )
    return {MEMORY: {"get": read, "patch": change, "delete": forget}, f"{MEMORY}/history": {"get": history}}
