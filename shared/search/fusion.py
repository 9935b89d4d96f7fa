"""Fusion: one order of what the channels found, and for each hit the scores that say why it stands there.

`channel_rrf` is half weighted reciprocal rank fusion and half the weighted sum of the channels' own scores, each
measured against its best. Ranks alone forget that the first was found ten times better than the second; scores
alone depend on how an embedder spreads its similarities. Together they are from 0 to 1, 1 being what is first in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.search.port import Channels, Found, State

RankMethod = Literal["semantic_similarity", "sparse_score", "channel_rrf", "query_rrf"]

DEPTH: Final = 50
"""How deep a channel is to be asked, whatever its `k`: what one channel found in its first `k`, the other may know
further down, and is then scored by both."""

RANKS: Final = 10
"""Reciprocal rank fusion's k: the usual 60 lets whatever both channels know beat the best of either."""

DENSE_WEIGHT: Final = 0.5
CHINESE_DENSE_WEIGHT: Final = 1.0
"""What meaning counts beside words: where words are the same, they are surer. Chinese pairs of characters are not."""

QUESTION_WEIGHT: Final = 0.8
"""What a question's match counts: who asks wants what was told, and questions are the likest to questions."""

HALF_SCORE: Final = 5.0
"""The BM25 score that is shown as 0.5."""

_DECIMALS: Final = 6


@dataclass(frozen=True)
class Hit:
    """A revision of a memory that was found; `score` is from 0 to 1, `details` are the contract's `score_details`."""

    memory_id: str
    revision: int
    score: float
    details: Mapping[str, float | str]

    @property
    def state(self) -> State:
        """What was found: the memory's id and the revision."""
        return self.memory_id, self.revision


def fuse(channels: Sequence[Channels], *, k_dense: int, k_sparse: int, chinese: bool) -> list[Hit]:
    """Put what one or two questions found into one order, best first; equal scores in order of their ids.

    A hit is among the first `k` of a channel of one of them, and there are `k_dense + k_sparse` at most. With one
    `k` at 0 the other channel's own scores rank. The questions of one search are of equal worth: their orders are
    fused by their ranks. `chinese` tells the language of the question.
    """
    weight = CHINESE_DENSE_WEIGHT if chinese else DENSE_WEIGHT
    orders = [_Question(each, k_dense, k_sparse, weight).hits() for each in channels]
    return (orders[0] if len(orders) == 1 else _of_questions(orders))[: k_dense + k_sparse]


def candidates(channels: Sequence[Channels], *, k_dense: int, k_sparse: int) -> set[State]:
    """Return what `fuse` would choose its hits from: whose records are worth reading."""
    both = k_dense > 0 and k_sparse > 0
    return {
        state
        for each in channels
        for found, k in ((each.dense, k_dense), (each.sparse, k_sparse))
        for state in _first_states(_demoted(found) if both else found, k)
    }


@dataclass(frozen=True)
class _Question:
    channels: Channels
    k_dense: int
    k_sparse: int
    weight: float

    def hits(self) -> list[Hit]:
        if not self.k_sparse:
            return _ordered("semantic_similarity", self._similarities(self.channels.dense[: self.k_dense]))
        if not self.k_dense:
            return _ordered("sparse_score", self._matches(self.channels.sparse[: self.k_sparse]))
        return self._fused()

    def _fused(self) -> list[Hit]:
        dense, sparse = _demoted(self.channels.dense), _demoted(self.channels.sparse)
        wanted = _first_states(dense, self.k_dense) | _first_states(sparse, self.k_sparse)
        ranks = _reciprocal_ranks([(_states(dense), self.weight), (_states(sparse), 1.0)])
        strengths = self._strengths(dense, sparse)
        similar, matching = self._similarities(self.channels.dense), self._matches(self.channels.sparse)
        return _ordered(
            "channel_rrf",
            {
                state: {
                    **similar.get(state, {}),
                    **matching.get(state, {}),
                    "channel_rrf": (ranks[state] + strengths[state]) / 2,
                }
                for state in wanted
            },
        )

    def _strengths(self, dense: Sequence[Found], sparse: Sequence[Found]) -> dict[State, float]:
        """Return the weighted sum of each one's scores, as a share of what the best of both channels would have."""
        # Similarities are never near 0: what is the least of many candidates is as good as unlike.
        least = dense[-1].score if len(dense) == DEPTH else min([0.0, *(one.score for one in dense[-1:])])
        strengths = dict.fromkeys((one.state for one in (*dense, *sparse)), 0.0)
        for found, base, weight in ((dense, least, self.weight), (sparse, 0.0, 1.0)):
            for one in found:
                strengths[one.state] += _share(one.score, base, found[0].score) * weight / (self.weight + 1.0)
        return strengths

    @staticmethod
    def _similarities(found: Sequence[Found]) -> dict[State, dict[str, float]]:
        return {one.state: {"semantic_similarity": round(max(one.score, 0.0), _DECIMALS)} for one in found}

    @staticmethod
    def _matches(found: Sequence[Found]) -> dict[State, dict[str, float]]:
        """Bring BM25 scores, which have no upper bound, between 0 and 1, in the same order."""
        return {one.state: {"sparse_score": round(one.score / (one.score + HALF_SCORE), _DECIMALS)} for one in found}


def _of_questions(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    ranks = _reciprocal_ranks([([hit.state for hit in hits], 1.0) for hits in found])
    details: dict[State, dict[str, float]] = {state: {"query_rrf": score} for state, score in ranks.items()}
    for hit in (hit for hits in found for hit in hits):
        known = details[hit.state]
        for name, score in hit.details.items():
            if isinstance(score, float) and name != "rank_score":
                known[name] = max(score, known.get(name, 0.0))
    return _ordered("query_rrf", details)


def _share(score: float, base: float, best: float) -> float:
    """Return how far a score is on the way from a base to the best; all the way when there is none."""
    return max(score - base, 0.0) / (best - base) if best > base else 1.0


def _demoted(found: Sequence[Found]) -> list[Found]:
    weighed = [replace(one, score=one.score * QUESTION_WEIGHT) if one.asks else one for one in found[:DEPTH]]
    return sorted(weighed, key=lambda one: (-one.score, one.state))


def _states(found: Sequence[Found]) -> list[State]:
    return [one.state for one in found]


def _first_states(found: Sequence[Found], k: int) -> set[State]:
    return set(_states(found[:k]))


def _reciprocal_ranks(lists: Sequence[tuple[Sequence[State], float]]) -> dict[State, float]:
    """Return each one's weighted reciprocal ranks, as a share of what the first of every list would have."""
    most = sum(weight for _, weight in lists) / (RANKS + 1)
    scores: dict[State, float] = {}
    for states, weight in lists:
        for rank, state in enumerate(states, start=1):
            scores[state] = scores.get(state, 0.0) + weight / (RANKS + rank) / most
    return scores


def _ordered(method: RankMethod, scores: Mapping[State, Mapping[str, float]]) -> list[Hit]:
    hits = [_hit(state, method, of) for state, of in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.state))


def _hit(state: State, method: RankMethod, scores: Mapping[str, float]) -> Hit:
    shown = {name: round(score, _DECIMALS) for name, score in scores.items()}
    return Hit(*state, shown[method], {"rank_method": method, "rank_score": shown[method], **shown})
