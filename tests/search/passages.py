"""Passages and asks for tests: vectors of few numbers, made of a text's words, so that likeness can be told by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.search.port import AllOf, Ask, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.models.port import Vector
    from shared.search.port import Channels, Condition, Found, SearchIndex

DIMENSION = 4
OWNER = "acme#main#0123456789abcdef0123456789abcdef"
EAST: Vector = (1.0, 0.0, 0.0, 0.0)
NORTH: Vector = (0.0, 1.0, 0.0, 0.0)
NORTH_EAST: Vector = (0.6, 0.8, 0.0, 0.0)
WEST: Vector = (-1.0, 0.0, 0.0, 0.0)


def passage(memory_id: str = "m1", text: str = "green tea", **fields: Any) -> Passage:
    given = {
        "owner": OWNER,
        "memory_id": memory_id,
        "revision": 1,
        "ordinal": 0,
        "generation": 0,
        "text": text,
        "vector": EAST,
        "modes": ("raw",),
        "kind": "raw",
        "source": "dialogue",
        "created_at": 1_000,
    }
    return Passage(**{**given, **fields})


def ask(text: str = "green tea", **fields: Any) -> Ask:
    given = {"owner": OWNER, "vector": EAST, "k_dense": 10, "k_sparse": 10, "floor": -1.0, "where": AllOf()}
    return Ask(text=text, **{**given, **fields})


def search(index: SearchIndex, text: str = "green tea", **fields: Any) -> Channels:
    (channels,) = index.search([ask(text, **fields)])
    return channels


def by_words(index: SearchIndex, text: str, **fields: Any) -> list[str]:
    """Return the memories that words find, best first."""
    return ids(search(index, text, k_dense=0, **fields).sparse)


def by_meaning(index: SearchIndex, vector: Vector = EAST, **fields: Any) -> list[str]:
    """Return the memories that a vector finds, best first."""
    return ids(search(index, vector=vector, k_sparse=0, **fields).dense)


def where(index: SearchIndex, condition: Condition) -> set[str]:
    """Return the memories for which a condition holds; both channels must agree on it."""
    channels = search(index, where=condition, k_dense=50, k_sparse=50)
    assert set(ids(channels.dense)) == set(ids(channels.sparse))
    return set(ids(channels.dense))


def ids(found: Sequence[Found]) -> list[str]:
    return [one.memory_id for one in found]
