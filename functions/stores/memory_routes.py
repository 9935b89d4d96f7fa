"""Routes of memories."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from functions.stores.asking import STORE, Asked
from shared.http.answers import json_answer
from shared.http.routing import new_router, request_of
from shared.kernel.errors import InvalidInput
from shared.stores.listing import MemoryList
from shared.stores.models import SHA256, NewMemory, Wish
from shared.stores.sight import memory_id_of

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.stores.listing import MemoryLists
    from shared.stores.memories import Memories

MEMORIES = f"{STORE}/memories"
MEMORY = f"{MEMORIES}/<memory_id>"
ORDERS = ("path", "created_at", "updated_at")

_DEPTH = re.compile(r"[0-9]{1,99}", re.ASCII)


def memory_routes(memories: Memories, lists: MemoryLists) -> Router:
    """Return the routes of memories."""
    router = new_router()

    @router.post(MEMORIES)
    def create_memory(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        full, author, wanted = asked.full("basic"), asked.author, NewMemory.of(asked.body())
        return json_answer(memories.create(asked.store(memory_store_id), wanted, actor=author, full=full))

    @router.get(MEMORIES)
    def list_memories(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        wanted = memory_list_of(asked)
        return json_answer(lists.page(asked.store(memory_store_id), wanted).view())

    @router.get(MEMORY)
    def retrieve_memory(memory_store_id: str, memory_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        full = asked.full("full")
        return json_answer(memories.retrieve(asked.store(memory_store_id), _id(memory_id), full=full))

    @router.post(MEMORY)
    def update_memory(memory_store_id: str, memory_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        full, author, wish = asked.full("basic"), asked.author, Wish.of(asked.body())
        address = asked.store(memory_store_id)
        return json_answer(memories.update(address, _id(memory_id), wish, actor=author, full=full))

    @router.delete(MEMORY)
    def delete_memory(memory_store_id: str, memory_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        author, expected = asked.author, _expected(asked)
        address, named = asked.store(memory_store_id), _id(memory_id)
        memories.delete(address, named, expected=expected, actor=author)
        return json_answer({"id": named, "type": "memory_deleted"})

    return router


def memory_list_of(asked: Asked) -> MemoryList:
    """Return the list that a request asks for, by the rules of its dialect.

    Raises:
        InvalidInput: a broken rule.
    """
    full = asked.full("basic")
    limit, page, depth = asked.limit(full=full), asked.text("page"), _depth(asked)
    prefix = asked.text("path_prefix")
    if asked.newest:
        if prefix is not None and not prefix.endswith("/"):
            raise _broken("path_prefix", "A path prefix ends with '/'", prefix)
        return MemoryList(limit, prefix or "/", depth, page=page, full=full, dialect="newest")
    order_by, order = asked.choice("order_by", ORDERS, "path"), asked.choice("order", ("asc", "desc"), "asc")
    if depth and order_by != "path":
        raise _broken("depth", "Only a list by path has a depth", str(depth))
    return MemoryList(
        limit,
        prefix or "/",
        depth,
        order_by=order_by or "path",
        descending=order == "desc",
        page=page,
        full=full,
        dialect="first",
    )


def _depth(asked: Asked) -> int:
    text = asked.text("depth")
    if text is None:
        return 0
    if not _DEPTH.fullmatch(text) or (asked.newest and int(text) > 1):
        raise _broken("depth", "0 or 1" if asked.newest else "An integer from 0 up", text)
    return int(text)


def _expected(asked: Asked) -> str | None:
    text = asked.text("expected_content_sha256")
    if text is not None and not SHA256.fullmatch(text):
        raise _broken("expected_content_sha256", "64 lower-case hexadecimal characters", text)
    return text


def _id(raw: str) -> str:
    return memory_id_of(raw)


def _broken(name: str, message: str, value: str) -> InvalidInput:
    return InvalidInput.at("query", name, message=message, value=value[:200])
