"""Filters: what they let through, in a search and in a list alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.memories.shelf import ids_of, shelf_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.shelf import Reader

DAY = 86_400_000
NOV_1 = 1_793_491_200_000
"""2026-11-01T00:00:00Z"""

MEMORIES: dict[str, dict[str, Any]] = {
    "eve": {"at": NOV_1 - 1, "agent_id": "a", "session_id": "s1", "memory_type": "core"},
    "midnight": {"at": NOV_1, "agent_id": "a", "session_id": "s2", "categories": ["preference"]},
    "noon": {"at": NOV_1 + DAY // 2, "agent_id": "b", "session_id": "s1", "categories": ["constraint", "plan"]},
    "last": {"at": NOV_1 + DAY - 1, "agent_id": "b", "app_id": "x", "event_at": NOV_1 - 365 * DAY},
    "next": {"at": NOV_1 + DAY, "app_id": "x", "event_at": NOV_1},
}
ALL = set(MEMORIES)


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Reader, dict[str, str]]]:
    with shelf_world() as shelf:
        names = {
            shelf.put(f"cedar {name}", number=number, **fields)
            for number, (name, fields) in enumerate(MEMORIES.items())
        }
        assert len(names) == len(MEMORIES)
        client = shelf.client()
        yield client, {memory["id"]: memory["memory"].removeprefix("cedar ") for memory in client.listed()}


CASES: list[tuple[Any, set[str]]] = [
    ({}, ALL),
    ({"agent_id": {"eq": "a"}}, {"eve", "midnight"}),
    ({"agent_id": {"eq": "A"}}, set()),
    ({"agent_id": {"eq": "*"}}, set()),
    ({"agent_id": {"eq": "' OR 1=1 --"}}, set()),
    ({"session_id": {"eq": "s"}}, set()),
    ({"agent_id": {"eq": "b"}, "session_id": {"eq": "s1"}}, {"noon"}),
    ({"and": [{"agent_id": {"eq": "b"}, "session_id": {"eq": "s1"}}]}, {"noon"}),
    ({"or": [{"agent_id": {"eq": "a"}}, {"agent_id": {"eq": "b"}}]}, ALL - {"next"}),
    ({"or": [{"agent_id": {"eq": "a"}, "session_id": {"eq": "s1"}}, {"app_id": {"eq": "x"}}]}, {"eve", "last", "next"}),
    ({"and": [{"session_id": {"eq": "s1"}}], "or": [{"agent_id": {"eq": "a"}}, {"app_id": {"eq": "x"}}]}, {"eve"}),
    ({"session_id": {"eq": "s1"}, "or": [{"agent_id": {"eq": "b"}}]}, {"noon"}),
    ({"mem_type": {"eq": "core"}}, {"eve"}),
    ({"mem_type": {"eq": " preference "}}, {"midnight"}),
    ({"mem_type": {"in": ["plan", "preference"]}}, {"midnight", "noon"}),
    ({"mem_type": {"in": ["semantic"]}}, ALL - {"eve"}),
    ({"mem_type": {"eq": "procedural"}}, set()),
    ({"created_at": {"eq": "2026-11-01"}}, {"midnight", "noon", "last"}),
    ({"created_at": {"gt": "2026-11-01"}}, {"next"}),
    ({"created_at": {"gte": "2026-11-01"}}, ALL - {"eve"}),
    ({"created_at": {"lt": "2026-11-01"}}, {"eve"}),
    ({"created_at": {"lte": "2026-11-01"}}, ALL - {"next"}),
    ({"created_at": {"gte": "2026-11-01T12:00:00Z", "lt": "2026-11-02T00:00:00Z"}}, {"noon", "last"}),
    ({"created_at": {"gt": "2026-11-01T12:00:00Z"}}, {"last", "next"}),
    ({"created_at": {"eq": "2026-11-01T20:00:00+08:00"}}, {"noon"}),
    ({"created_at": {"lte": "2026-11-01T00:00:00Z"}}, {"eve", "midnight"}),
    ({"created_at": {"gt": "2026-10-31T23:59:59.999Z", "lt": "2026-11-01T00:00:00.0001Z"}}, {"midnight"}),
    ({"created_at": {"eq": "2026-11-01T00:00:00.0001Z"}}, set()),
    (
        {"and": [{"created_at": {"gte": "2026-10-01"}}, {"created_at": {"gte": "2026-11-01T12:00:00Z"}}]},
        {"noon", "last", "next"},
    ),
    ({"created_at": {"gte": "2026-11-02"}, "and": [{"created_at": {"lt": "2026-11-01"}}]}, set()),
    ({"or": [{"created_at": {"lt": "2026-11-01"}}, {"created_at": {"gte": "2026-11-02"}}]}, {"eve", "next"}),
    ({"event_created_at": {"gte": "2020-01-01"}}, {"last", "next"}),
    ({"event_created_at": {"lt": "2026-01-01"}}, {"last"}),
    ({"event_created_at": {"eq": "2026-11-01"}, "created_at": {"gt": "2026-11-01"}}, {"next"}),
    ({"created_at": {"lt": "0001-01-02"}}, set()),
    ({"created_at": {"gt": "9999-12-30"}}, set()),
]


def _named(value: Any) -> str:
    # Processes that share the tests must call them the same, and the order of a set is each one's own.
    return "+".join(sorted(value)) if isinstance(value, set) else str(value)[:70]


@pytest.mark.parametrize(("filters", "wanted"), CASES, ids=_named)
def test_a_search_and_a_list_let_the_same_through(
    place: tuple[Reader, dict[str, str]], filters: Any, wanted: set[str]
) -> None:
    client, names = place
    for ask in ({"k_dense": 0}, {"k_sparse": 0}, {}):
        found = client.hits("cedar", output_mode="raw", filters=filters, min_semantic_similarity=0, **ask)
        assert {names[each] for each in ids_of(found)} == wanted
    listed = client.listed(filters=filters, limit=2)
    assert [names[each] for each in ids_of(listed)] == [name for name in reversed(MEMORIES) if name in wanted]
