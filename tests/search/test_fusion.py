"""One order of what channels and questions found, and what each score in it means."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from shared.search.fusion import DEPTH, candidates, fuse
from shared.search.port import Channels, Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.search.fusion import Hit


def test_with_both_channels_what_both_found_comes_first() -> None:
    hits = _fuse(_channels(dense=[("a", 0.8), ("b", 0.79)], sparse=[("c", 9.0), ("b", 8.9)]))
    assert _ids(hits) == ["b", "c", "a"]
    assert {hit.details["rank_method"] for hit in hits} == {"channel_rrf"}


def test_a_hit_has_the_scores_of_the_channels_that_found_it() -> None:
    both, words, meaning = _fuse(_channels(dense=[("a", 0.8), ("b", 0.4)], sparse=[("a", 5.0), ("c", 4.0)]))
    assert both.details == {
        "rank_method": "channel_rrf",
        "rank_score": 1.0,
        "channel_rrf": 1.0,
        "semantic_similarity": 0.8,
        "sparse_score": 0.5,
    }
    assert "semantic_similarity" not in words.details
    assert "sparse_score" not in meaning.details


@pytest.mark.parametrize("chinese", [True, False])
def test_scores_are_the_rank_scores_between_0_and_1_and_fall(*, chinese: bool) -> None:
    dense = [(f"m{n:02}", 1 - n / 60) for n in range(DEPTH)]
    sparse = [(f"m{n:02}", 99.0 - n) for n in range(30, 80)]
    for k_dense, k_sparse in ((50, 50), (10, 10), (50, 0), (0, 50), (1, 40)):
        hits = fuse([_channels(dense, sparse)], k_dense=k_dense, k_sparse=k_sparse, chinese=chinese)
        assert all(
            hit.score == hit.details["rank_score"] == hit.details[str(hit.details["rank_method"])] for hit in hits
        )
        assert all(0 < hit.score <= 1 for hit in hits)
        assert all(before.score >= after.score for before, after in pairwise(hits))


def test_one_channel_ranks_by_its_own_scores() -> None:
    found = _channels(dense=[("a", 0.8), ("b", 0.4)], sparse=[("b", 20.0), ("a", 5.0)])
    by_meaning = fuse([found], k_dense=10, k_sparse=0, chinese=False)
    assert [(hit.memory_id, hit.score) for hit in by_meaning] == [("a", 0.8), ("b", 0.4)]
    assert by_meaning[0].details == {
        "rank_method": "semantic_similarity",
        "rank_score": 0.8,
        "semantic_similarity": 0.8,
    }
    by_words = fuse([found], k_dense=0, k_sparse=10, chinese=False)
    assert [(hit.memory_id, hit.score) for hit in by_words] == [("b", 0.8), ("a", 0.5)]
    assert by_words[0].details == {"rank_method": "sparse_score", "rank_score": 0.8, "sparse_score": 0.8}


def test_the_method_is_of_the_channels_that_ran_not_of_those_that_found() -> None:
    (hit,) = _fuse(_channels(dense=[], sparse=[("a", 5.0)]))
    assert hit.details["rank_method"] == "channel_rrf"
    assert hit.details["sparse_score"] == 0.5
    (hit,) = _fuse(_channels(dense=[("a", 0.5)], sparse=[]))
    assert hit.details["rank_method"] == "channel_rrf"


def test_nothing_found_is_no_hit() -> None:
    for k_dense, k_sparse in ((10, 10), (0, 10), (10, 0)):
        assert fuse([Channels()], k_dense=k_dense, k_sparse=k_sparse, chinese=False) == []
        assert fuse([Channels(), Channels()], k_dense=k_dense, k_sparse=k_sparse, chinese=False) == []


def test_equal_hits_are_in_order_of_their_ids() -> None:
    found = _channels(dense=[("b", 0.5), ("a", 0.5)], sparse=[])
    assert _ids(fuse([found], k_dense=10, k_sparse=0, chinese=False)) == ["a", "b"]


def test_hits_are_among_the_first_k_of_a_channel() -> None:
    dense = [(f"d{n}", 0.9 - n / 100) for n in range(20)]
    sparse = [(f"s{n}", 30.0 - n) for n in range(20)]
    hits = fuse([_channels(dense, sparse)], k_dense=3, k_sparse=2, chinese=False)
    assert set(_ids(hits)) == {"d0", "d1", "d2", "s0", "s1"}


def test_what_a_channel_knows_below_its_k_still_counts() -> None:
    dense = [("a", 0.80), ("b", 0.79), *((f"d{n}", 0.5) for n in range(5)), ("y", 0.49)]
    sparse = [("x", 9.0), ("y", 8.9)]
    hits = fuse([_channels(dense, sparse)], k_dense=1, k_sparse=2, chinese=False)
    assert _ids(hits) == ["y", "x", "a"]
    assert hits[0].details["semantic_similarity"] == 0.49


def test_a_question_says_less_than_its_answer() -> None:
    asked, answer = Found("asked", 1, 0.80, asks=True), Found("answer", 1, 0.75)
    said = (Found("asked", 1, 9.0, asks=True), Found("answer", 1, 8.5))
    hits = _fuse(Channels((asked, answer), said))
    assert _ids(hits) == ["answer", "asked"]
    assert hits[1].details["semantic_similarity"] == 0.8, "what is shown is the similarity as it is"
    assert hits[1].details["sparse_score"] == pytest.approx(9 / 14, abs=1e-6)


def test_a_question_that_fits_far_better_still_comes_first() -> None:
    hits = _fuse(Channels((Found("asked", 1, 0.9, asks=True), Found("other", 1, 0.4)), ()))
    assert _ids(hits) == ["asked", "other"]


def test_two_revisions_of_a_memory_are_two_hits() -> None:
    hits = _fuse(Channels((Found("a", 1, 0.9), Found("a", 2, 0.8)), (Found("a", 2, 5.0),)))
    assert [hit.state for hit in hits] == [("a", 2), ("a", 1)]


def test_two_questions_are_fused_by_their_ranks() -> None:
    first = _channels(dense=[("a", 0.9), ("b", 0.8)], sparse=[("a", 9.0)])
    second = _channels(dense=[("b", 0.7), ("c", 0.6)], sparse=[("b", 9.0), ("c", 8.0)])
    hits = fuse([first, second], k_dense=10, k_sparse=10, chinese=False)
    assert _ids(hits) == ["b", "a", "c"]
    best = hits[0].details
    assert best["rank_method"] == "query_rrf"
    assert best["rank_score"] == best["query_rrf"] == hits[0].score
    assert best["semantic_similarity"] == 0.8, "the better one of both"
    assert isinstance(best["channel_rrf"], float)


def test_two_questions_have_no_more_hits_than_one() -> None:
    first = _channels(dense=[(f"a{n}", 0.9) for n in range(5)], sparse=[])
    second = _channels(dense=[(f"b{n}", 0.9) for n in range(5)], sparse=[])
    assert len(fuse([first, second], k_dense=3, k_sparse=2, chinese=False)) == 5


def test_meaning_counts_more_in_chinese() -> None:
    found = _channels(dense=[("meant", 0.8), ("other", 0.1)], sparse=[("said", 8.0), ("other", 0.1)])
    assert _ids(fuse([found], k_dense=10, k_sparse=10, chinese=False))[0] == "said"
    english = _score("meant", fuse([found], k_dense=10, k_sparse=10, chinese=False))
    assert _score("meant", fuse([found], k_dense=10, k_sparse=10, chinese=True)) > english


def test_candidates_are_what_hits_are_chosen_from() -> None:
    questions = [Found(f"q{n}", 1, 0.9, asks=True) for n in range(10)]
    found = Channels((*questions, Found("told", 1, 0.8)), tuple(Found(f"s{n}", 1, 9.0 - n) for n in range(9)))
    for k_dense, k_sparse in ((2, 3), (0, 3), (2, 0)):
        hits = fuse([found], k_dense=k_dense, k_sparse=k_sparse, chinese=False)
        assert candidates([found], k_dense=k_dense, k_sparse=k_sparse) == {hit.state for hit in hits}
    assert ("told", 1) in candidates([found], k_dense=1, k_sparse=1)


def _channels(dense: Sequence[tuple[str, float]], sparse: Sequence[tuple[str, float]]) -> Channels:
    return Channels(
        tuple(Found(memory_id, 1, score) for memory_id, score in dense),
        tuple(Found(memory_id, 1, score) for memory_id, score in sparse),
    )


def _fuse(found: Channels) -> list[Hit]:
    return fuse([found], k_dense=10, k_sparse=10, chinese=False)


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.memory_id for hit in hits]


def _score(memory_id: str, hits: Sequence[Hit]) -> float:
    return next(hit.score for hit in hits if hit.memory_id == memory_id)
