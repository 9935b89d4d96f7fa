"""Questions as the engine takes them: one search a channel, everything within one owner's passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from shared.search.analysis import query_terms
from shared.search.fields import BOOSTS, K1
from shared.search.opensearch.mapping import (
    ASKS,
    DOCUMENT,
    GENERATION,
    OWNER,
    STATE,
    VECTOR,
    digest,
    digests,
    numbers,
    state_name,
)
from shared.search.port import AllOf, AnyOf, Is, Not, Within

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.search.port import Ask, Condition, State

_CLAUSES: Final = 900
"""Of words times fields in one search."""
_CLAUSES_WITH_FILTERS: Final = 1_000
"""With the conditions beside them: the engine takes 1,024. The longest filter of a request is about 810."""
_EVERYWHERE: Final = 100
"""The words that are looked for in every field, of a very long question more in the text alone: from both its ends."""
_FACTOR: Final = K1 + 1
"""What this engine's BM25 is multiplied by, beside the formula."""
_FARTHEST: Final = 2**63 - 1
_BEST_FIRST: Final = [{"_score": "desc"}, {STATE: "asc"}]
_BARE: Final[dict[str, Any]] = {"_source": False, "track_total_hits": False, "docvalue_fields": [ASKS, DOCUMENT]}
_NOTHING: Final[dict[str, Any]] = {**_BARE, "size": 0, "query": {"match_none": {}}}


def header(index: str, owner: str) -> dict[str, Any]:
    """Return where a search goes: to its owner's shard, always the same copy of it, and all of it or nothing."""
    where = digest(owner)
    return {"index": index, "routing": where, "preference": where, "allow_partial_search_results": False}


def by_words(ask: Ask) -> dict[str, Any]:
    """Return the sparse channel's search: the best passage of each state."""
    words = query_terms(ask.text) if ask.k_sparse else []
    if not words:
        return _NOTHING
    most = min(_CLAUSES, _CLAUSES_WITH_FILTERS - _clauses(ask.where))
    found_by = [_words(name, _ends(words, _room(name, len(words), most)), boost) for name, boost in BOOSTS.items()]
    matching = {"should": found_by, "minimum_should_match": 1, "filter": within(ask.owner, ask.where)}
    return {
        **_BARE,
        "size": ask.k_sparse,
        "query": {"bool": matching},
        "collapse": {"field": STATE},
        "sort": _BEST_FIRST,
    }


def by_meaning(ask: Ask, width: int) -> dict[str, Any]:
    """Return the dense channel's search: the nearest passages, among which a state may have several."""
    if not ask.k_dense or not any(ask.vector):
        return _NOTHING
    near = {"vector": numbers(ask.vector), "k": width, "filter": {"bool": {"filter": within(ask.owner, ask.where)}}}
    return {**_BARE, "size": width, "query": {"knn": {VECTOR: near}}, "sort": _BEST_FIRST}


def passages(owner: str, states: Sequence[State]) -> dict[str, Any]:
    """Return the search that tells which of some states are there."""
    return {**_BARE, "size": len(states), "query": of_states(owner, states), "collapse": {"field": STATE}}


def of_states(owner: str, states: Collection[State]) -> dict[str, Any]:
    """Return the query that finds the passages of some states."""
    return {"bool": {"filter": [_term(OWNER, owner), {"terms": {STATE: [state_name(state) for state in states]}}]}}


def of_generations(owner: str, before: int) -> dict[str, Any]:
    """Return the query that finds an owner's passages of the generations before one."""
    return {"bool": {"filter": [_term(OWNER, owner), {"range": {GENERATION: {"lt": before}}}]}}


def within(owner: str, where: Condition) -> list[dict[str, Any]]:
    """Return the filters of an owner's passages for which a condition holds."""
    return [_term(OWNER, owner), _filter(where)]


def _term(field: str, value: str) -> dict[str, Any]:
    return {"term": {field: digest(value)}}


def _filter(condition: Condition) -> dict[str, Any]:
    match condition:
        case Is(name, values):
            return {"terms": {name: digests(values)}}
        case Within(name):
            return {"range": {name: _bounds(condition)}}
        case AllOf(parts):
            return {"bool": {"filter": [_filter(part) for part in parts]}} if parts else {"match_all": {}}
        case AnyOf(parts):
            alternatives = [_filter(part) for part in parts]
            return {"bool": {"should": alternatives, "minimum_should_match": 1}} if parts else {"match_none": {}}
        case Not(part):
            return {"bool": {"must_not": [_filter(part)]}}


def _bounds(moment: Within) -> dict[str, int]:
    given = {"gt": moment.gt, "gte": moment.gte, "lt": moment.lt, "lte": moment.lte}
    return {name: max(-_FARTHEST, min(_FARTHEST, ms)) for name, ms in given.items() if ms is not None}


def _words(field: str, words: list[str], boost: float) -> dict[str, Any]:
    return {"match": {field: {"query": " ".join(words), "boost": boost / _FACTOR}}}


def _room(field: str, wanted: int, most: int) -> int:
    """Return how many words may be looked for in a field, of `most` in all."""
    everywhere = _EVERYWHERE * most // _CLAUSES
    others = (len(BOOSTS) - 1) * min(wanted, everywhere)
    return most - others if field == "text" else everywhere


def _clauses(condition: Condition) -> int:
    """Return how many clauses the engine counts of a condition."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            return sum(map(_clauses, parts))
        case Not(part):
            return _clauses(part)
        case Within():
            return 2  # the engine has two ways to look, and counts both
        case Is():
            return 1


def _ends(words: list[str], room: int) -> list[str]:
    return words if len(words) <= room else words[: room // 2] + words[-room // 2 :]
