"""PrecisionMemBench's questions, put to memories: what answers first, and nothing of another scope, user or time.

Of 77 cases 66 are put; `precision_cases` says of each other one why it is not. A case has beliefs that a question
must find: as many of the first hits as it names, exactly those. Where it names none, nothing may be found. What it
has pinned or open is what a list by that label must have, and must not. What a case says of a persona is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.memories.beliefs import OPEN, PINNED, USER, data, mind
from tests.memories.precision_cases import ANSWERED_ANYWAY, NOT_PUT, RANKED_OTHERWISE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.memories.beliefs import Mind

CASES = data("retrieval.cases")
PUT = [case for case in CASES if case["caseId"] not in NOT_PUT]
PLACES = {"pinnedFacts": PINNED, "openQuestions": OPEN}


@pytest.fixture(scope="module")
def kept() -> Iterator[Mind]:
    with mind() as made:
        yield made


def wanted(case: dict[str, Any]) -> list[str] | None:
    """Return what a case wants found and nothing else, or None where it does not say."""
    found: list[str] | None = case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude")
    return found


def marked(cases: list[dict[str, Any]], otherwise: Mapping[str, str]) -> list[Any]:
    """Return cases as parameters; those that are known to end otherwise must, or the list is out of date."""
    return [
        pytest.param(
            case,
            id=case["caseId"],
            marks=[pytest.mark.xfail(raises=AssertionError, reason=otherwise[case["caseId"]])]
            if case["caseId"] in otherwise
            else [],
        )
        for case in cases
    ]


ANSWERED = [case for case in PUT if wanted(case)]
UNANSWERED = [case for case in PUT if wanted(case) == []]
LABELLED = [case for case in PUT if PLACES.keys() & case["expect"].keys()]


def test_every_case_is_put_or_listed_with_its_reason() -> None:
    ids = [case["caseId"] for case in CASES]
    assert len(ids) == len(set(ids)) == 77
    assert NOT_PUT.keys() <= set(ids)
    assert all(NOT_PUT.values())
    assert len(PUT) == 66
    put = {case["caseId"] for case in [*ANSWERED, *UNANSWERED]}
    assert {case["caseId"] for case in PUT} - put == {"isolation-user-scoping"}  # says only what must not be found
    assert RANKED_OTHERWISE.keys() <= {case["caseId"] for case in ANSWERED}
    assert ANSWERED_ANYWAY.keys() <= {case["caseId"] for case in UNANSWERED}


@pytest.mark.parametrize("case", marked(ANSWERED, RANKED_OTHERWISE))
def test_what_a_question_wants_is_found_before_all_else(kept: Mind, case: dict[str, Any]) -> None:
    names = wanted(case) or []
    limit = {"top_k": case["budget"]["maxBeliefs"]} if "budget" in case else {}
    found = kept.found(case["query"], case["scope"], **limit)
    assert sorted(found[: len(names)]) == sorted(names)


@pytest.mark.parametrize("case", marked(UNANSWERED, ANSWERED_ANYWAY))
def test_where_nothing_is_an_answer_nothing_is_found(kept: Mind, case: dict[str, Any]) -> None:
    assert kept.found(case["query"], case["scope"], user=case.get("userId", USER)) == []


@pytest.mark.parametrize("case", marked(PUT, {}))
def test_however_deep_a_question_looks_it_finds_only_what_is_held_in_its_scopes(
    kept: Mind, case: dict[str, Any]
) -> None:
    """`found` checks that each says what is believed now: nothing superseded, resolved, or of nobody's."""
    user = case.get("userId", USER)
    found = kept.found(case["query"], case["scope"], None, user=user, top_k=50, min_semantic_similarity=0)
    held = {
        belief["_id"]
        for belief in kept.held.values()
        if belief["user_id"] == user and belief["scope"][0] in case["scope"]
    }
    assert set(found) <= held
    assert set(kept.kept(case["scope"], user=user)) == held
    assert not set(found) & set(case["expect"].get("relevantBeliefs", {}).get("mustExclude", []))


@pytest.mark.parametrize("case", marked(LABELLED, {}))
def test_what_is_labelled_as_pinned_or_open_is_listed_in_its_scopes_and_not_found_as_anything_else(
    kept: Mind, case: dict[str, Any]
) -> None:
    found = kept.found(case["query"], case["scope"], top_k=50, min_semantic_similarity=0)
    for name, label in PLACES.items():
        expected = case["expect"].get(name, {})
        listed = set(kept.kept(case["scope"], label))
        assert set(expected.get("mustInclude", [])) <= listed
        assert not listed & set(expected.get("mustExclude", []))
        assert not listed & set(found)
