"""Fusion: one order of what the channels found, and for each hit the scores that say why it stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.search.port import Channels, Found, State

RankMethod = Literal["semantic_similarity", "sparse_score", "channel_rrf", "query_rrf"]

RANKS: Final = 10
"""Reciprocal rank fusion's k: the usual 60 lets whatever both channels know beat the best of either."""

DENSE_WEIGHT: Final = 0.7
CHINESE_DENSE_WEIGHT: Final = 1.0
"""What a rank by meaning counts beside one by words. Pairs of characters are worse words than words are."""

HALF_SCORE: Final = 5.0
"""The BM25 score that is shown as 0.5."""


@dataclass(frozen=True)
class Hit:
    """A revision of a memory that was found; `score` is from 0 to 1, `details` are the contract's `score_details`."""

    memory_id: str
    revision: int
    score: float
    details: Mapping[str, float | str]


def fuse(channels: Sequence[Channels], *, chinese: bool, dense: bool = True, sparse: bool = True) -> list[Hit]:
    """Put what one or two questions found into one order, best first; equal scores in order of their ids.

    `dense` and `sparse` tell which channels were asked: with one, its own scores rank. The questions of one search
    are of equal worth, and their orders are fused in turn.
    """
    found = [_of_question(each, chinese=chinese, dense=dense, sparse=sparse) for each in channels]
    return found[0] if len(found) == 1 else _of_questions(found)


def _of_question(channels: Channels, *, chinese: bool, dense: bool, sparse: bool) -> list[Hit]:
    similarities = {(one.memory_id, one.revision): max(one.score, 0.0) for one in channels.dense}
    matches = {(one.memory_id, one.revision): _shown(one.score) for one in channels.sparse}
    if not sparse:
        return _ordered("semantic_similarity", {state: {"semantic_similarity": s} for state, s in similarities.items()})
    if not dense:
        return _ordered("sparse_score", {state: {"sparse_score": s} for state, s in matches.items()})
    weight = CHINESE_DENSE_WEIGHT if chinese else DENSE_WEIGHT
    fused = _fused([(channels.dense, weight), (channels.sparse, 1.0)])
    scores = {
        state: {
            **({"semantic_similarity": similarities[state]} if state in similarities else {}),
            **({"sparse_score": matches[state]} if state in matches else {}),
            "channel_rrf": score,
        }
        for state, score in fused.items()
    }
    return _ordered("channel_rrf", scores)


def _of_questions(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    fused = _fused([(hits, 1.0) for hits in found])
    details: dict[State, dict[str, float]] = {}
    for hit in (hit for hits in found for hit in hits):
        known = details.setdefault((hit.memory_id, hit.revision), {"query_rrf": fused[hit.memory_id, hit.revision]})
        for name, score in hit.details.items():
            if isinstance(score, float) and name != "rank_score":
                known[name] = max(score, known.get(name, 0.0))
    return _ordered("query_rrf", details)


def _fused(lists: Sequence[tuple[Sequence[Found] | Sequence[Hit], float]]) -> dict[State, float]:
    """Return each one's weighted reciprocal ranks, as a share of what the first of every list would have."""
    most = sum(weight for _, weight in lists) / (RANKS + 1)
    scores: dict[State, float] = {}
    for found, weight in lists:
        for rank, one in enumerate(found, start=1):
            state = (one.memory_id, one.revision)
            scores[state] = scores.get(state, 0.0) + weight / (RANKS + rank) / most
    return scores


def _ordered(method: RankMethod, scores: Mapping[State, Mapping[str, float]]) -> list[Hit]:
    hits = [
        Hit(*state, round(of[method], 6), {"rank_method": method, "rank_score": round(of[method], 6), **of})
        for state, of in scores.items()
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory_id, hit.revision))


def _shown(score: float) -> float:
    """Bring a BM25 score, which has no upper bound, between 0 and 1, in the same order."""
    return score / (score + HALF_SCORE)
