"""Conditions hold inside both indexes, before a channel is cut to its k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.search.port import AllOf, AnyOf, Is, Within
from tests.search.passages import by_meaning, by_words, passage, where

if TYPE_CHECKING:
    from shared.search.port import Keyword, SearchIndex


@pytest.mark.parametrize("field", ["kind", "source", "document_id", "agent_id", "app_id", "session_id"])
def test_a_field_is_one_of_the_values(index: SearchIndex, field: Keyword) -> None:
    index.put([passage("a", **{field: "one"}), passage("b", **{field: "two"}), passage("c", **{field: "three"})])
    assert where(index, Is(field, ("one",))) == {"a"}
    assert where(index, Is(field, ("one", "three", "nine"))) == {"a", "c"}
    assert where(index, Is(field, ("nine",))) == set()
    assert where(index, Is(field, ())) == set()


@pytest.mark.parametrize("field", ["modes", "types"])
def test_one_of_several_values_is_enough(index: SearchIndex, field: Keyword) -> None:
    index.put([passage("a", **{field: ("x", "y")}), passage("b", **{field: ("y",)}), passage("c", **{field: ()})])
    assert where(index, Is(field, ("y",))) == {"a", "b"}
    assert where(index, Is(field, ("x",))) == {"a"}
    assert where(index, Is(field, ("x", "y"))) == {"a", "b"}


def test_values_are_compared_exactly(index: SearchIndex) -> None:
    odd = ["s", "S", "s1", "s%", "s*", "s ", " s", "a:b", "a,b", "' OR 1=1 --", '"}', "会话", "é", "e\u0301", "x" * 255]
    index.put([passage(f"m{n}", session_id=value) for n, value in enumerate(odd)])
    for n, value in enumerate(odd):
        assert where(index, Is("session_id", (value,))) == {f"m{n}"}
    assert where(index, Is("session_id", ("%",))) == where(index, Is("session_id", ("*",))) == set()


def test_moments_lie_within_bounds(index: SearchIndex) -> None:
    index.put([passage(f"m{at}", created_at=at, event_at=-at) for at in (10, 20, 30)])
    assert where(index, Within("created_at")) == {"m10", "m20", "m30"}
    assert where(index, Within("created_at", gt=10)) == {"m20", "m30"}
    assert where(index, Within("created_at", gte=10, lt=30)) == {"m10", "m20"}
    assert where(index, Within("created_at", gte=20, lte=20)) == {"m20"}
    assert where(index, Within("created_at", gt=20, lt=20)) == set()
    assert where(index, Within("event_at", lte=-20)) == {"m20", "m30"}


def test_moments_far_away_are_compared_too(index: SearchIndex) -> None:
    index.put([passage("old", created_at=-62_135_596_800_000), passage("new", created_at=253_402_300_799_999)])
    assert where(index, Within("created_at", lt=0)) == {"old"}
    assert where(index, Within("created_at", gte=253_402_300_799_999)) == {"new"}


def test_a_passage_without_a_moment_never_lies_within(index: SearchIndex) -> None:
    index.put([passage("dated", event_at=5), passage("undated", event_at=None)])
    assert where(index, Within("event_at", gt=0)) == {"dated"}
    assert where(index, Within("event_at", lt=9)) == {"dated"}
    assert where(index, Within("event_at")) == {"dated"}


def test_a_passage_without_a_value_is_none_of_them(index: SearchIndex) -> None:
    index.put([passage("with", agent_id="a"), passage("without")])
    assert where(index, Is("agent_id", ("a", "", "None", "null"))) == {"with"}


def test_conditions_are_joined(index: SearchIndex) -> None:
    index.put([passage(f"{s}{at}", session_id=s, created_at=at) for s in "abc" for at in (1, 2)])
    a, b, late = Is("session_id", ("a",)), Is("session_id", ("b",)), Within("created_at", gt=1)
    assert where(index, AllOf((a, late))) == {"a2"}
    assert where(index, AllOf((a, b))) == set()
    assert where(index, AnyOf((a, b))) == {"a1", "a2", "b1", "b2"}
    assert where(index, AnyOf((a, AllOf((b, late))))) == {"a1", "a2", "b2"}
    assert where(index, AllOf((AnyOf((a, b)), AnyOf((late,)), AllOf()))) == {"a2", "b2"}
    assert where(index, AllOf()) == {"a1", "a2", "b1", "b2", "c1", "c2"}
    assert where(index, AnyOf(())) == set()


def test_conditions_may_be_nested_and_long(index: SearchIndex) -> None:
    index.put([passage("a", session_id="a"), passage("b", session_id="b")])
    nested: AllOf | AnyOf | Is = Is("session_id", ("a",))
    for _ in range(8):
        nested = AnyOf((AllOf((nested,)), Is("session_id", ("nobody",))))
    assert where(index, nested) == {"a"}
    assert where(index, Is("session_id", (*(f"s{n}" for n in range(500)), "b"))) == {"b"}


def test_few_that_fit_are_found_among_many_that_are_better(index: SearchIndex) -> None:
    better = [passage(f"m{n}", "tea tea tea", created_at=2_000) for n in range(200)]
    index.put([*better, *(passage(f"old{n}", "some tea", vector=(0.6, 0.8, 0, 0), created_at=5) for n in range(5))])
    condition = Within("created_at", lt=10)
    assert by_words(index, "tea", k_sparse=5, where=condition) == [f"old{n}" for n in range(5)]
    assert by_meaning(index, k_dense=5, where=condition) == [f"old{n}" for n in range(5)]


def test_a_condition_is_asked_anew_after_each_change(index: SearchIndex) -> None:
    mine = Is("session_id", ("s",))
    index.put([passage("a", session_id="s")])
    assert where(index, mine) == {"a"}
    index.put([passage("b", session_id="s")])
    assert where(index, mine) == {"a", "b"}
