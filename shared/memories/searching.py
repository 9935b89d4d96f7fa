"""Search: embed, ask the index once, keep what the records confirm, fuse, show (design §7)."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each
from shared.kernel.errors import LodestoreError, TooLarge, Unavailable
from shared.kernel.strict_json import compact
from shared.memories.balances import shown
from shared.memories.originals import Originals
from shared.memories.records import document_key, has_form, memory_key
from shared.memories.rewriting import rewritten
from shared.memories.sight import LOOKS, document_of, is_visible, read_all
from shared.memories.texts import size_of, texts_of
from shared.memories.views import hit_view, marks_of
from shared.search.analysis import is_chinese
from shared.search.fusion import DEPTH, candidates, fuse
from shared.search.port import AllOf, AnyOf, Ask, Channels, Is, Not

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing
    from shared.memories.context import Entry
    from shared.memories.models import OutputMode
    from shared.memories.records import UserAddress
    from shared.models.port import Embedder
    from shared.search.fusion import Hit
    from shared.search.port import Condition, Found, SearchIndex, State
    from shared.tenancy.models import KeyRecord
    from shared.tenancy.quotas import Balance, Quotas, Reservation

    Record = dict[str, Any]

CANDIDATES: Final = 50
"""How many candidates a channel works to, whatever is asked for (contract, "Settled here")."""

SPARE: Final = 10
"""How many more than are needed a channel is asked for, since an index may still hold what is over."""


_SAID: Final = ("raw", "chunk")
"""Kinds that are what was really said or written."""

RECENT_MS: Final = 60_000
"""How long before it is seen a change may be dated: a worker dates its writes from its plan, and clocks differ."""


@dataclass(frozen=True)
class SearchWish:
    """One checked search; `floor` None is the embedder's own, `where` what `filters` ask."""

    address: UserAddress
    query: str
    output_mode: OutputMode = "summary"
    raw_text: bool = False
    k_dense: int = 10
    k_sparse: int = 10
    floor: float | None = None
    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    where: Condition = field(default_factory=AllOf)
    context: tuple[Entry, ...] = ()

    @property
    def shows_originals(self) -> bool:
        """Tell whether summaries are to be shown as what was really said."""
        return self.raw_text and self.output_mode == "summary"

    def condition(self, without: AbstractSet[Is] = frozenset()) -> Condition:
        """Return what a passage must be, to be found; `without` are the documents and readings that are left out."""
        parts: list[Condition] = [Is("modes", (self.output_mode,)), self.where]
        if without:
            parts.append(Not(AnyOf(tuple(sorted(without, key=repr)))))
        if self.sources:
            parts.append(Is("source", self.sources))
        if self.document_ids:
            parts.append(Is("document_id", self.document_ids))
        return AllOf(tuple(parts))


@dataclass(frozen=True)
class _Records:
    """What the records say of what was found: the rows of those states that are current and can be seen.

    `items` are all that was read; `changed_at` is when (ms) the last of those was changed that have another state by
    now; `unseen` are documents that are not there, and readings that none names: nothing of them can be seen.
    """

    rows: dict[State, Item]
    items: dict[Key, Item]
    changed_at: int = 0
    unseen: frozenset[Is] = frozenset()


@dataclass(frozen=True)
class Searching:
    """Searches.

    `answer_bytes` is the most that an answer's hits may take: 4.4 million, in base64, are just below Lambda's 6 MB.
    """

    backing: Backing
    index: SearchIndex
    embedder: Embedder
    quotas: Quotas
    answer_bytes: int

    def search(self, wish: SearchWish, key: KeyRecord) -> Record:
        """Return the `data` of an answer, and count the call where the key has a quota; a failed one is given back.

        Raises:
            RateLimited: the key's searches of this month are used up.
            TooLarge: what was found is more than an answer holds.
            Unavailable: the embedder, the index or a store does not answer.
        """
        reservation = self.quotas.reserve(key, "memory_search")
        second = rewritten(wish.query, wish.context)
        try:
            hits = self._hits(wish, [wish.query] if second is None else [wish.query, second])
        except Exception:
            if reservation is not None:
                with suppress(LodestoreError):
                    self.quotas.give_back(reservation)
            raise
        state = "fast_search" if second is None else "query_rewrite_search"
        return {
            "task_id": str(uuid.uuid4()),
            "status": "completed",
            "data": hits,
            "balances": shown([self._settled(reservation)]),
            "buckets": None,
            "meta_info": {"mode": "fast", "pipeline_status": state, "recall_decision": None},
        }

    def _settled(self, reservation: Reservation | None) -> Balance | None:
        if reservation is None:
            return None
        with suppress(LodestoreError):  # it is counted already, only still among the reserved ones
            self.quotas.settle(reservation)
        left = reservation.balance
        return left and replace(left, used=left.used + 1, reserved=left.reserved - 1)

    def _hits(self, wish: SearchWish, queries: Sequence[str]) -> list[Record]:
        asks, without = self._asks(wish, queries), frozenset[Is]()
        for look in range(1, LOOKS + 1):
            began = self.backing.clock.now_ms() - RECENT_MS
            found = self.index.search([replace(ask, where=wish.condition(without)) for ask in asks])
            read = candidates(found, k_dense=_some_more(wish.k_dense), k_sparse=_some_more(wish.k_sparse))
            records = self._records(wish.address, read, found)
            if look < LOOKS and (records.changed_at >= began or _crowded(records, read, found)):
                # What changed between the index's answer and the records' is found under its new state too; what is of
                # a document's other readings took the places of what can be seen.
                without |= records.unseen
                continue
            rows = records.rows
            hits = _fused(wish, [_without(channels, read - rows.keys()) for channels in found])
            hits = [hit for hit in hits if hit.state in rows]
            try:
                return self._shown(wish, hits, records)
            except ObjectMissing:
                continue  # a long one was changed or removed since its row was read: look again
        raise Unavailable

    def _asks(self, wish: SearchWish, queries: Sequence[str]) -> list[Ask]:
        floor = self.embedder.floor if wish.floor is None else wish.floor
        vectors = each(self.embedder.of_query, queries) if wish.k_dense else [()] * len(queries)
        k_dense, k_sparse = (DEPTH + SPARE if k else 0 for k in (wish.k_dense, wish.k_sparse))
        ask = partial(Ask, wish.address.owner, k_dense=k_dense, k_sparse=k_sparse, floor=floor)
        return [ask(text, vector) for text, vector in zip(queries, vectors, strict=True)]

    def _records(self, address: UserAddress, states: Iterable[State], found: Sequence[Channels]) -> _Records:
        """Return what the records have of some states: one round of reads, for their documents too."""
        keys = {state: memory_key(address.scope, state[0]) for state in states}
        if not keys:
            return _Records({}, {})
        named = {one.document_id for one in _all(found) if one.document_id and one.state in keys}
        documents = {name: document_key(address.scope, name) for name in named if has_form(name)}
        items = read_all(self.backing.table, [address.generation_key, *documents.values(), *keys.values()])
        generations = items.get(address.generation_key)
        theirs = {state: row for state, key in keys.items() if (row := items.get(key)) and row["user"] == address.user}
        seen = {s: row for s, row in theirs.items() if is_visible(row, generations, document_of(row, items))}
        current = {state: row for state, row in seen.items() if row["revision"] == state[1]}
        changed_at = max((seen[state]["updated_at"] for state in seen.keys() - current.keys()), default=0)
        gone = {Is("document_id", (name,)) for name, key in documents.items() if key not in items}
        other = {Is("reading", (row["token"],)) for s, row in theirs.items() if s not in seen and "token" in row}
        return _Records(current, items, changed_at, frozenset(gone | other))

    def _shown(self, wish: SearchWish, hits: Sequence[Hit], records: _Records) -> list[Record]:
        rows = [records.rows[hit.state] for hit in hits]
        originals: list[str | None] = [None] * len(rows)
        if wish.shows_originals:
            originals = Originals(self.backing, wish.address, self.answer_bytes).of_rows(rows)
        self._check(sum(size_of(row) for row, found in zip(rows, originals, strict=True) if found is None))
        texts = texts_of(self.backing.objects, rows)
        views = []
        for hit, row, text, original in zip(hits, rows, texts, originals, strict=True):
            said = row["kind"] in _SAID or row.get("verbatim")
            missing = wish.shows_originals and original is None and not said
            marks = marks_of(row, document_of(row, records.items)) | ({"raw_text_missing": True} if missing else {})
            scores = {"score": hit.score, "score_details": dict(hit.details)}
            views.append(hit_view(wish.address.scope, row, original or text, scores=scores, marks=marks))
        self._check(sum(len(compact(view).encode()) for view in views))
        return views

    def _check(self, size: int) -> None:
        if size > self.answer_bytes:
            hint = "Ask for fewer: a lower top_k, k_dense or k_sparse, a filter, or no return_raw_text."
            raise TooLarge(f"What was found takes more than {self.answer_bytes} bytes. {hint}", hint=hint)


def _all(found: Sequence[Channels]) -> Iterable[Found]:
    return (one for channels in found for one in (*channels.dense, *channels.sparse))


def _crowded(records: _Records, read: AbstractSet[State], found: Sequence[Channels]) -> bool:
    """Tell whether more might be found without the readings that can't be seen: they are more than the spare ones."""
    full = any(len(one) >= DEPTH for channels in found for one in (channels.dense, channels.sparse))
    return bool(records.unseen) and full and len(read - records.rows.keys()) > SPARE // 2


def _fused(wish: SearchWish, found: Sequence[Channels]) -> list[Hit]:
    return fuse(found, k_dense=wish.k_dense, k_sparse=wish.k_sparse, chinese=is_chinese(wish.query))


def _some_more(k: int) -> int:
    """Return how many of a channel's candidates to read, so that a few stale ones do not take others' places."""
    return k and k + SPARE // 2 + k // SPARE


def _without(channels: Channels, stale: AbstractSet[State]) -> Channels:
    """Return the channels without what the records do not confirm."""
    dense, sparse = (
        tuple(one for one in found if one.state not in stale) for found in (channels.dense, channels.sparse)
    )
    return Channels(dense, sparse)
