"""From a request to the plan of what becomes of the user's memories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.memories.correcting import Correcting
from shared.memories.judging import Judge
from shared.memories.plan import Plan
from shared.memories.telling import Telling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.extraction.port import Learnt
    from shared.memories.drafting import Draft, Entry
    from shared.memories.means import Means
    from shared.memories.plan import Change


@dataclass(frozen=True)
class Planner:
    """Plans one task's changes; `draft` makes the rows of new memories."""

    means: Means
    draft: Draft

    def learn(self) -> Plan:
        """Return the plan with what was learnt; nothing is decided yet.

        Raises:
            ExtractionFailed: nothing can be made of the model's answers.
            Unavailable: the model can't be asked now.
        """
        return Plan(self.draft.at, self.draft.timed(self.means.extractor.extract(self.draft.conversation())))

    def decide(self, plan: Plan) -> Plan:
        """Return the plan with its changes: facts are decided about, and then what is to be kept of the rest.

        Raises:
            Unavailable: the index, the table or a model can't be asked now.
        """
        return replace(plan, changes=self._changes(plan, ()))

    def decide_again(self, plan: Plan, done: int) -> Plan:
        """Return the plan with all decided anew that is not applied yet: the changes from place `done` on.

        Raises:
            Unavailable: the index, the table or a model can't be asked now.
        """
        return replace(plan, at=self.draft.at, changes=self._changes(plan, plan.decided[:done]))

    def _changes(self, plan: Plan, applied: Sequence[Change]) -> tuple[Change, ...]:
        entries = list(self.draft.entries(plan.extraction))
        if plan.extraction is None or self.draft.add.add_only:
            added = (self._added(entry, n) for n, entry in enumerate(entries) if n >= len(applied))
            return (*applied, *added)
        facts = plan.extraction.facts
        telling = Telling(self.draft, plan.extraction)
        judge = Judge(self.means, self.draft)
        places = {e.number: n for n, e in enumerate(entries) if e.kind == "fact"}
        judged = self._judged(judge, {n: p for n, p in places.items() if p >= len(applied)}, facts, telling=telling)
        made = {n: applied[p] if p < len(applied) else judged[n] for n, p in places.items()}
        correcting = Correcting(self.means, self.draft, list(made.values()), telling.wishes)
        rest = telling.after(correcting, judge)
        decided = [*applied[: len(entries)]]
        for place in range(len(decided), len(entries)):
            entry = entries[place]
            decided.append(made[entry.number] if entry.kind == "fact" else rest(entry, place))
        decided += applied[len(entries) :]
        corrected = {change.memory_id for change in applied[len(entries) :]}
        return (*decided, *correcting.changes(len(decided), corrected, own=bool(applied)))

    @staticmethod
    def _judged(
        judge: Judge, places: dict[int, int], facts: Sequence[Learnt], *, telling: Telling
    ) -> dict[int, Change]:
        also = [telling.mark] if telling.mark else []
        return judge.judge({n: facts[n] for n in places}, places, *also)

    def _added(self, entry: Entry, place: int) -> Change:
        return self.draft.dated(place).addition(entry.learnt, entry.kind, entry.number, reason=entry.reason)
