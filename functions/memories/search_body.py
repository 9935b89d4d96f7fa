"""The body of a search, read against the seed's and the contract's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from functions.memories.bodies import context_of
from functions.memories.fields import ID_CHARACTERS, Fields
from shared.memories.filters import condition_of
from shared.memories.records import UserAddress
from shared.memories.rows import SOURCES
from shared.memories.searching import CANDIDATES, SearchWish

if TYPE_CHECKING:
    from shared.kernel.scope import Scope

QUERY_CHARACTERS: Final = 1_024
OUTPUT_MODES: Final = ("summary", "facts", "raw")
ACCEPTED_K: Final = 100
"""A public client asks for as many; channels work to 50 (contract, "Settled here")."""
DOCUMENTS: Final = 100
DEFAULT_K: Final = 10
REFUSED: Final = -1
"""Stands for a number that its own rule has refused already, so that no second rule blames another field."""


def search_wish(body: Any, scope: Scope) -> SearchWish:
    """Return a checked search.

    Raises:
        InvalidInput: names each field and its rule.
    """
    fields = Fields.of_body(body)
    user_id = fields.identifier("user_id", required=True) or ""
    query = _query_of(fields)
    fields.choice("mode", ("fast",), "fast")
    sources = _words(fields, "sources", most=len(SOURCES)) or ()
    k_dense, k_sparse = _channels(fields)
    mode = fields.choice("output_mode", OUTPUT_MODES, "facts" if sources == ("document",) else "summary")
    wish: dict[str, Any] = {
        "raw_text": fields.flag("return_raw_text", default=False),
        "floor": _floor_of(fields),
        "sources": _sources(fields, sources),
        "document_ids": _documents(fields, sources),
        "context": context_of(fields),
    }
    fields.check()
    where = condition_of(fields.given.get("filters"), "body", "filters")
    return SearchWish(
        UserAddress(scope, user_id),
        query,
        cast("Any", mode),
        k_dense=min(k_dense, CANDIDATES),
        k_sparse=min(k_sparse, CANDIDATES),
        where=where,
        **wish,
    )


def _query_of(fields: Fields) -> str:
    query = fields.text("query", most=QUERY_CHARACTERS, required=True)
    if query is not None and not query.strip():
        fields.refuse("query", "query must have a character that is not space", "string_too_short", value=query)
    return query or ""


def _channels(fields: Fields) -> tuple[int, int]:
    top_k = fields.integer("top_k", 1, ACCEPTED_K, default=DEFAULT_K) or REFUSED
    k_dense, k_sparse = (_k(fields, name, top_k) for name in ("k_dense", "k_sparse"))
    if k_dense == k_sparse == 0:
        fields.refuse("k_dense", "k_dense and k_sparse can't both be 0", "combination", value=0)
    return k_dense, k_sparse


def _k(fields: Fields, name: str, top_k: int) -> int:
    if fields.given.get(name) is None:
        return top_k
    k = fields.integer(name, 0, ACCEPTED_K)
    return REFUSED if k is None else k


def _floor_of(fields: Fields) -> float | None:
    floor = fields.given.get("min_semantic_similarity")
    if floor is None or (type(floor) in (int, float) and 0 <= floor <= 1):
        return None if floor is None else float(floor)
    fields.refuse("min_semantic_similarity", "Input should be a number from 0 to 1", "float_type", value=floor)
    return None


def _sources(fields: Fields, sources: tuple[str, ...]) -> tuple[str, ...]:
    if not set(sources) <= set(SOURCES) or len(set(sources)) < len(sources):
        fields.refuse("sources", f"Each once: {', '.join(SOURCES)}", "enum", value=list(sources))
    return sources


def _documents(fields: Fields, sources: tuple[str, ...]) -> tuple[str, ...]:
    documents = _words(fields, "document_ids", most=DOCUMENTS)
    if documents is not None and sources != ("document",):
        fields.refuse("document_ids", 'document_ids need sources ["document"]', "combination")
    # Ids are UUIDs, in small letters or capitals, here as in a path.
    return tuple(dict.fromkeys(document.lower() for document in documents or ()))


def _words(fields: Fields, name: str, *, most: int) -> tuple[str, ...] | None:
    """Return a list of 1 to `most` strings; null is as if left out."""
    if fields.given.get(name) is None:
        return None
    words = fields.items(name)
    if words is None:
        return None
    if not 0 < len(words) <= most or not all(type(w) is str and w.strip() and len(w) <= ID_CHARACTERS for w in words):
        fields.refuse(
            name, f"Input should be a list of 1 to {most} strings, none of them blank", "list_type", value=words
        )
        return None
    return tuple(words)
