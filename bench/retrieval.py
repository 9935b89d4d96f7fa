"""How well memories are found again: conversations go in raw through the HTTP API, questions are asked, ranks counted.

Beside the product's own order: words alone (BM25), meaning alone (vectors), and what both give when they are fused
as is usual (reciprocal ranks, equal weights, k = 60).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log2
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.client import Memories
    from bench.corpora import Corpus, Question, Said, Talk

SHOWN = 10
DEEP = 50
BATCH = 200
USUAL_K = 60
WAYS = ("hybrid", "BM25 alone", "dense alone", "equal RRF, k = 60")
_ASKED: dict[str, dict[str, Any]] = {
    "hybrid": {"top_k": DEEP},
    "BM25 alone": {"k_dense": 0, "k_sparse": DEEP},
    "dense alone": {"k_dense": DEEP, "k_sparse": 0, "min_semantic_similarity": 0},
}


@dataclass
class Score:
    """Recall and NDCG of the first ten of one way, question by question."""

    recalls: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    def note(self, found: Sequence[str], evidence: frozenset[str]) -> None:
        """Count one answer."""
        hits = [name in evidence for name in found[:SHOWN]]
        ideal = sum(1 / log2(rank + 2) for rank in range(min(len(evidence), SHOWN)))
        self.recalls.append(sum(hits) / len(evidence))
        self.gains.append(sum(hit / log2(rank + 2) for rank, hit in enumerate(hits)) / ideal)

    def __str__(self) -> str:
        return f"{fmean(self.recalls):.3f} / {fmean(self.gains):.3f}"

    @property
    def recall(self) -> float:
        """The mean recall of the first ten."""
        return fmean(self.recalls)


def measure(corpus: Corpus, api: Memories) -> dict[str, Score]:
    """Store a data set and ask all its questions."""
    for task in [task for talk in corpus.talks for task in _store(talk, api)]:
        api.finished(task)
    scores = {way: Score() for way in WAYS}
    for talk in corpus.talks:
        names = _names(talk)
        for question in talk.questions:
            _ask(api, talk.user, question, names=names, scores=scores)
    return scores


def _store(talk: Talk, api: Memories) -> Iterable[str]:
    for number, session in enumerate(talk.sessions):
        for start in range(0, len(session), BATCH):
            messages = [_message(said) for said in session[start : start + BATCH]]
            yield api.add(talk.user, messages, mode="raw", session_id=f"{talk.user}-{number}")


def _message(said: Said) -> dict[str, Any]:
    sender = {} if said.speaker == said.role else {"sender_id": said.speaker}
    return {"role": said.role, "content": said.text, "timestamp": said.at, **sender}


def _names(talk: Talk) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for session in talk.sessions:
        for said in session:
            names.setdefault(said.text, []).append(said.name)
    return names


def _ask(
    api: Memories, user: str, question: Question, *, names: dict[str, list[str]], scores: dict[str, Score]
) -> None:
    found = {
        way: _found(api.search(user, question.text, output_mode="raw", **how), names) for way, how in _ASKED.items()
    }
    found["equal RRF, k = 60"] = _usual(found["BM25 alone"], found["dense alone"])
    for way, order in found.items():
        scores[way].note(order, question.evidence)


def _found(hits: list[dict[str, Any]], names: dict[str, list[str]]) -> list[str]:
    """Return the names of the messages that were found; equal texts take their names in turn."""
    seen: dict[str, int] = {}
    order = []
    for hit in hits:
        known = names[hit["memory"]]
        order.append(known[min(seen.get(hit["memory"], 0), len(known) - 1)])
        seen[hit["memory"]] = seen.get(hit["memory"], 0) + 1
    return order


def _usual(*channels: list[str]) -> list[str]:
    scores: dict[str, float] = {}
    for channel in channels:
        for rank, name in enumerate(channel, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (USUAL_K + rank)
    return sorted(scores, key=lambda name: -scores[name])
