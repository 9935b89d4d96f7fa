"""The port of search, answered by OpenSearch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from shared.search.opensearch import queries
from shared.search.opensearch.bulk import IndexGone, store
from shared.search.opensearch.connecting import WRITE_SECONDS, translated, unavailable
from shared.search.opensearch.mapping import ASKS, DOCUMENT, definition, digest, state_of
from shared.search.opensearch.names import Aliases, Names, aliases_of, writing
from shared.search.port import REINDEX, Channels, Found, IndexMismatch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from opensearchpy import OpenSearch

    from shared.search.port import Ask, Passage, State

    Search = tuple[dict[str, Any], dict[str, Any]]

SHARDS: Final = 1
"""A shard holds tens of GiB; `make reindex` builds an index of more when there is more."""

_SWITCHES = 3
_STATES = 1_000
"""What one request asks for, or removes."""
_REMOVED = 5_000
"""Passages that one request removes, well within its time-out."""
_CLASHES = 4
"""How often others may have been at the same passages."""
_PASSAGES, _MORE = 3, 20
"""For k memories, so many times k nearest passages are looked at, and some more: a memory has one or a few."""
_WIDER = 4
_FARTHEST = 10_000
_ROUNDING = 1e-6


class Ledger(Protocol):
    """What remembers, outside of the domain, that a stack's index was made once."""

    def tells(self) -> bool:
        """Tell whether it was."""

    def note(self) -> None:
        """Keep that it was."""


class OpenSearchIndex:
    """The index of one stack and one embedder, on a node or domain."""

    def __init__(self, client: OpenSearch, names: Names, ledger: Ledger) -> None:
        self._client = client
        self.names = names
        self._ledger = ledger

    def ensure(self) -> None:
        """Make the index where there never was one; two who do so at once make one.

        Raises:
            IndexMismatch: there is one of another embedder or mapping, or the one that was there is lost. An empty
                one in its place would answer that nothing is known.
        """
        there = self.there()
        if self.names.readable(there):
            return
        if there or self._ledger.tells():
            others = ", ".join(sorted(name.removeprefix(self.names.prefix) for name in there)) or "none"
            wanted = self.names.searched.removeprefix(self.names.prefix)
            raise IndexMismatch(f"The search index {wanted} is not there (but {others}). {REINDEX}")
        first = self.names.index(1)
        self.create(first, SHARDS, aliases=(self.names.prefix, writing(first), self.names.searched))
        self.note_made()

    def note_made(self) -> None:
        """Keep that there is an index from now on."""
        self._ledger.note()

    def create(self, index: str, shards: int, *, aliases: Sequence[str] = ()) -> None:
        """Make an index where it is not there yet, and return when it can be used."""
        body = {**definition(self.names.dimension, shards), "aliases": {name: {} for name in aliases}}
        with translated():
            answer = self._client.indices.create(
                index=index, body=body, params={"request_timeout": WRITE_SECONDS, "ignore": (400,)}
            )
        # Another starter may have been faster: it made the same one.
        if "error" in answer and answer["error"]["type"] != "resource_already_exists_exception":
            raise unavailable()

    def there(self) -> Aliases:
        """Return all indexes of this stack."""
        with translated():
            answer = self._client.indices.get_alias(index=self.names.prefix, params={"ignore": (404,)})
        return {} if "error" in answer else aliases_of(answer)

    def put(self, passages: Sequence[Passage]) -> None:
        """Store passages in every index that takes writes; they are searchable when it returns."""
        for _ in range(_SWITCHES if passages else 0):
            try:
                return store(self._client, self._written(), passages)
            except IndexGone:
                continue
        if passages:
            raise unavailable()
        return None

    def present(self, owner: str, states: Collection[State]) -> set[State]:
        """Return those of the states that are in every index that takes writes: a rebuild loses none of them."""
        asked = sorted(states)
        indexes = self._written() if asked else []
        found: set[State] = set()
        for start in range(0, len(asked), _STATES):
            some = queries.passages(owner, asked[start : start + _STATES])
            answers = self._ask([(queries.header(index, owner), some) for index in indexes])
            found |= set.intersection(*({hit.state for hit in hits} for hits in answers))
        return found

    def search(self, asks: Sequence[Ask]) -> list[Channels]:
        """Answer all questions in one request.

        Another one is needed only where the many passages of some memories crowd out others that are near too.
        """
        widths = [_PASSAGES * ask.k_dense + _MORE for ask in asks]
        hits = self._ask([search for ask, width in zip(asks, widths, strict=True) for search in self._both(ask, width)])
        return [
            Channels(self._nearest(ask, near, width), tuple(words))
            for ask, near, width, words in zip(asks, hits[::2], widths, hits[1::2], strict=True)
        ]

    def remove(self, owner: str, states: Collection[State]) -> None:
        """Remove all passages of these states from every index, whatever its state."""
        wanted = sorted(states)
        for start in range(0, len(wanted), _STATES):
            self._delete(owner, queries.of_states(owner, wanted[start : start + _STATES]))

    def clear(self, owner: str, before_generation: int) -> int:
        """Remove an owner's passages of earlier generations from every index, and return how many there were."""
        with translated():  # a write that nobody waited for may not be visible yet
            self._client.indices.refresh(index=self.names.prefix, params={"request_timeout": WRITE_SECONDS})
        return self._delete(owner, queries.of_generations(owner, before_generation))

    def _written(self) -> list[str]:
        """Return the indexes that take writes.

        Raises:
            Unavailable: there is none; then a rebuild is needed.
        """
        written = self.names.written(self.there())
        if not written:
            raise unavailable()
        return written

    def _both(self, ask: Ask, width: int) -> Iterator[Search]:
        header = queries.header(self.names.searched, ask.owner)
        yield header, queries.by_meaning(ask, width)
        yield header, queries.by_words(ask)

    def _nearest(self, ask: Ask, hits: list[Found], width: int) -> tuple[Found, ...]:
        """Return the nearest states that the hits have; where they leave some out, look farther."""
        found = tuple(one for one in _best_of_each(hits) if one.score >= ask.floor - _ROUNDING)[: ask.k_dense]
        all_seen = len(hits) < width or width >= _FARTHEST or _similarity(hits[-1].score) < ask.floor
        if len(found) == ask.k_dense or all_seen:
            return found
        width = min(width * _WIDER, _FARTHEST)
        (farther,) = self._ask([(queries.header(self.names.searched, ask.owner), queries.by_meaning(ask, width))])
        return self._nearest(ask, farther, width)

    def _ask(self, searches: Sequence[Search]) -> list[list[Found]]:
        """Make searches in one request and return the hits of each, best first."""
        if not searches:
            return []
        lines = [line for search in searches for line in search]
        with translated():
            answer = self._client.msearch(body=lines, index=self.names.prefix)
        return [_hits(one) for one in answer["responses"]]

    def _delete(self, owner: str, query: dict[str, Any]) -> int:
        """Remove what a query finds, all of it, and return how much it was."""
        options = {"routing": digest(owner), "conflicts": "proceed", "refresh": "true", "max_docs": _REMOVED}
        removed = clashes = 0
        while clashes <= _CLASHES:
            with translated():
                answer = self._client.delete_by_query(
                    index=self.names.prefix, body={"query": query}, params=options | {"request_timeout": WRITE_SECONDS}
                )
            if answer["failures"] or answer["timed_out"]:
                raise unavailable()
            removed += int(answer["deleted"])
            clashes += bool(answer["version_conflicts"])
            if not answer["version_conflicts"] and answer["total"] < _REMOVED:
                return removed
        raise unavailable()


def _hits(answer: dict[str, Any]) -> list[Found]:
    """Return what one search found.

    Raises:
        Unavailable: the engine refused it, or only a part of it was looked at.
    """
    if "error" in answer or answer["timed_out"] or answer["_shards"]["failed"]:
        raise unavailable(busy=answer.get("status") == 429)
    return [_of_hit(hit) for hit in answer["hits"]["hits"]]


def _of_hit(hit: dict[str, Any]) -> Found:
    told = hit.get("fields", {})
    (document,) = told.get(DOCUMENT, [None])
    return Found(*state_of(hit["_id"]), hit["_score"], asks=ASKS in told, document_id=document)


def _best_of_each(hits: list[Found]) -> Iterator[Found]:
    seen: set[State] = set()
    for hit in hits:
        if hit.state not in seen:
            seen.add(hit.state)
            yield replace(hit, score=_similarity(hit.score))


def _similarity(score: float) -> float:
    """Return the cosine that the engine's score stands for: it moves it to where no score is negative."""
    return 2 * score - 1
