"""Deciding about the facts of one task, in order: each beside the nearest that is known by then.

The index says where to look and the records what is there, as in a search. It may be late or hold what is gone: that
a fact said before in the same words is not there twice is left to the fingerprint rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from operator import mul
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each
from shared.extraction.fingerprint import fingerprint
from shared.extraction.port import Decision, Known
from shared.kernel.clock import day_of
from shared.memories.plan import Change, state_of
from shared.memories.records import memory_key
from shared.memories.rows import memory_id_of
from shared.memories.sight import read_all
from shared.memories.texts import text_of
from shared.search.port import Ask, Is

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.aws.items import Item
    from shared.extraction.port import Learnt
    from shared.memories.drafting import Draft
    from shared.memories.means import Means
    from shared.models.port import Vector
    from shared.search.port import Channels, State

DENSE, SPARSE = 8, 4
"""How many memories each channel may name for a fact."""

SHOWN = 12
"""How many of them the decider sees."""

ASKS = 50
"""Questions of one round trip to the index."""

SAME_WORDS = "The same was known already, in the same words."

Facts = dict[int, "Learnt"]
"""Facts by their number in the task."""


def fingerprint_of(fact: Learnt, received_at: int) -> str:
    """Return what two facts have in common that must not both be there: for what happened, its day belongs to it.

    It is the day of receipt (ms) where no other is known: what is told again on another day happened again.
    """
    digest = fingerprint(fact.text)
    at = received_at if fact.event_at is None else fact.event_at
    return f"{digest}{day_of(at)}" if fact.memory_type == "episodic" else digest


@dataclass
class _Seen:
    """A memory that may be near: its row, its text, and its vector where it is known."""

    row: Item
    text: str
    vector: Vector | None = None
    gone: bool = False


@dataclass
class Judge:
    """Decides about one task's facts; `draft` makes their rows."""

    means: Means
    draft: Draft
    _seen: dict[str, _Seen] = field(default_factory=dict)  # by memory, as this task will have left it
    _fresh: list[str] = field(default_factory=list)  # those that this task itself has made or changed
    _named: dict[str, str] = field(default_factory=dict)  # the memory that a fingerprint names

    def judge(self, facts: Facts, numbers: dict[int, int], *also: str) -> dict[int, Change]:
        """Return the change of each fact; `numbers` are the places of these changes in the task's plan.

        `also` are fingerprints that are asked about afterwards.

        Raises:
            Unavailable: the index, the table or a model can't be asked now.
        """
        vectors = self._embed(facts)
        near = self._look(facts, vectors, also)
        changes = {}
        for n, fact in facts.items():
            changes[n] = self._one(fact, n, self.draft.dated(numbers[n]), vector=vectors[n], near=near[n])
        return changes

    def standing(self, digest: str) -> tuple[Item | None, str | None]:
        """Return the memory that has a fingerprint, else the one that it names in vain; it was asked `also` about."""
        same = self._same(digest)
        return (same.row, None) if same else (None, self._named.get(digest))

    def _embed(self, facts: Facts) -> dict[int, Vector]:
        return dict(zip(facts, self.means.embedder.of_texts([f.text for f in facts.values()]), strict=True))

    def _look(self, facts: Facts, vectors: dict[int, Vector], also: Sequence[str]) -> dict[int, dict[str, float]]:
        """Read all memories that may be near, and return for each fact which, with their similarity."""
        found = dict(zip(facts, self._search([self._ask(f, vectors[n]) for n, f in facts.items()]), strict=True))
        states = {state for channels in found.values() for state in _states(channels)}
        self._read(states, {*also, *map(self._fingerprint_of, facts.values())})
        self._complete({state[0] for channels in found.values() for state in _states(channels)})
        return {n: self._similarities(vectors[n], channels) for n, channels in found.items()}

    def _ask(self, fact: Learnt, vector: Vector) -> Ask:
        facts_only = Is("kind", ("fact",))
        return Ask(self.draft.address.owner, fact.text, vector, DENSE, SPARSE, -1.0, where=facts_only)

    def _search(self, asks: Sequence[Ask]) -> list[Channels]:
        starts = range(0, len(asks), ASKS)
        return [channels for n in starts for channels in self.means.index.search(asks[n : n + ASKS])]

    def _read(self, states: set[State], fingerprints: set[str]) -> None:
        address, table = self.draft.address, self.means.backing.table
        keys = {memory_key(address.scope, memory_id) for memory_id, _ in states}
        marks = {address.fingerprint_key(digest): digest for digest in fingerprints}
        rows = read_all(table, [*keys, *marks])
        self._named = {digest: rows[key]["memory"] for key, digest in marks.items() if self._is_current(rows.get(key))}
        named = [memory_key(address.scope, memory_id) for memory_id in self._named.values()]
        more = read_all(table, [key for key in named if key not in rows])
        # What says something else by now is known by what it says now: another writer may have been faster.
        current = [r for k, r in rows.items() if k in keys or k in named]
        self._keep([row for row in (*current, *more.values()) if self._is_current(row)])

    def _is_current(self, row: Item | None) -> bool:
        draft = self.draft
        return bool(row and row["user"] == draft.address.user and row["generation"] == draft.task["generation"])

    def _keep(self, rows: Iterable[Item]) -> None:
        for row, text in each(self._with_text, rows):
            if text is not None:
                self._seen[memory_id_of(row)] = _Seen(row, text)

    def _with_text(self, row: Item) -> tuple[Item, str | None]:
        try:
            return row, text_of(self.means.backing.objects, row)
        except ObjectMissing:
            return row, None  # changed or removed since it was read

    def _complete(self, memory_ids: set[str]) -> None:
        """Give a vector to each memory that was found by a channel that has no similarity, or by its fingerprint."""
        lacking = [seen for memory_id, seen in self._seen.items() if seen.vector is None and memory_id in memory_ids]
        for seen, vector in zip(lacking, self.means.embedder.of_texts([s.text for s in lacking]), strict=True):
            seen.vector = vector

    def _similarities(self, vector: Vector, channels: Channels) -> dict[str, float]:
        return {
            memory_id: _dot(vector, seen.vector)
            for memory_id, _ in _states(channels)
            if (seen := self._seen.get(memory_id)) and seen.vector is not None
        }

    def _one(self, fact: Learnt, n: int, draft: Draft, *, vector: Vector, near: dict[str, float]) -> Change:
        digest = self._fingerprint_of(fact)
        same = self._same(digest)
        change = self._change(self._decide(fact, vector, near, same=same), fact, n, draft=draft)
        if change.row is not None:
            change.row["fingerprint"] = digest
        stale = None if same else self._named.get(digest)
        change = replace(change, fact=n, stale=stale, task=draft.task["task"], positions=tuple(fact.positions))
        self._apply(change, fact, vector, digest=digest)
        return change

    def _fingerprint_of(self, fact: Learnt) -> str:
        return fingerprint_of(fact, self.draft.task["received_at"])

    def _same(self, digest: str) -> _Seen | None:
        """Return the memory that says the same in the same words; a fingerprint may name one that no longer does."""
        seen = self._seen.get(self._named.get(digest, ""))
        return seen if seen and not seen.gone and seen.row["fingerprint"] == digest else None

    def _decide(self, fact: Learnt, vector: Vector, near: dict[str, float], *, same: _Seen | None) -> Decision:
        if same is not None and not fact.forget:
            return Decision("NONE", SAME_WORDS, memory_id_of(same.row))
        known = self._known(vector, near, same)
        decision = self.means.decider.decide(fact, known)
        target = next((k for k in known if k.memory_id == decision.target), None)
        if decision.event == "UPDATE" and (target is None or target.immutable):
            return Decision("ADD", decision.reason)
        if decision.event == "DELETE" and (target is None or target.immutable):
            return Decision("NONE", decision.reason)
        return decision if target else replace(decision, target=None)

    def _known(self, vector: Vector, near: dict[str, float], same: _Seen | None) -> list[Known]:
        similarities = dict(near)
        for memory_id in self._fresh:
            seen = self._seen[memory_id]
            similarities[memory_id] = _dot(vector, seen.vector) if seen.vector is not None else 0.0
        if same is not None:
            similarities[memory_id_of(same.row)] = 1.0
        order = sorted(similarities, key=lambda memory_id: (-similarities[memory_id], memory_id))
        living = [memory_id for memory_id in order if not self._seen[memory_id].gone]
        return [_known(self._seen[memory_id], similarities[memory_id]) for memory_id in living[:SHOWN]]

    def _change(self, decision: Decision, fact: Learnt, n: int, *, draft: Draft) -> Change:
        old = self._seen[decision.target].row if decision.target else None
        if decision.event == "ADD":
            return draft.addition(fact, "fact", n, reason=decision.told)
        if decision.event == "UPDATE" and old is not None:
            return draft.revised(old, fact, decision.told)
        return Change(decision.event, decision.told, old=old)

    def _apply(self, change: Change, fact: Learnt, vector: Vector, *, digest: str) -> None:
        memory_id = change.memory_id
        if memory_id is None or change.event == "NONE":
            return
        if change.row is None:
            self._seen[memory_id].gone = True
            return
        self._seen[memory_id] = _Seen(change.row, fact.text, vector)
        self._named[digest] = memory_id
        if memory_id not in self._fresh:
            self._fresh.append(memory_id)


def _states(channels: Channels) -> list[State]:
    return list(dict.fromkeys((f.memory_id, f.revision) for f in (*channels.dense, *channels.sparse)))


def _known(seen: _Seen, similarity: float) -> Known:
    row = seen.row
    memory_id, revision = state_of(row)
    return Known(
        memory_id,
        revision,
        seen.text,
        similarity,
        memory_type=row["memory_type"],
        categories=tuple(row["categories"]),
        event_at=row["event_at"],
        immutable=row["immutable"],
        told_at=row["decided_at"],
    )


def _dot(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, one, other)))
