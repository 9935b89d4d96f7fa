"""From a request to the plan of what becomes of the user's memories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.memories.judging import Judge
from shared.memories.plan import Plan

if TYPE_CHECKING:
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
        return Plan(self.draft.at, self.means.extractor.extract(self.draft.conversation()))

    def decide(self, plan: Plan) -> Plan:
        """Return the plan with its changes: a summary and raw messages are always added, facts are decided about.

        Raises:
            Unavailable: the index, the table or a model can't be asked now.
        """
        entries = list(self.draft.entries(plan.extraction))
        judging = not self.draft.add.add_only
        places = {e.number: place for place, e in enumerate(entries) if e.kind == "fact" and judging}
        judged = {places[fact]: change for fact, change in self._judged(plan, places).items()}
        changes = (judged.get(place) or self._added(entry, place) for place, entry in enumerate(entries))
        return replace(plan, changes=tuple(changes))

    def decide_again(self, plan: Plan, done: int) -> Plan:
        """Return the plan with all facts decided anew whose changes, from place `done` on, are not applied yet.

        Raises:
            Unavailable: the index, the table or a model can't be asked now.
        """
        places = {c.fact: n for n, c in enumerate(plan.decided) if n >= done and c.fact is not None}
        judged = self._judged(plan, places)
        again = {places[fact]: change for fact, change in judged.items()}
        changes = tuple(again.get(n, change) for n, change in enumerate(plan.decided))
        return replace(plan, at=self.draft.at, changes=changes)

    def _judged(self, plan: Plan, places: dict[int, int]) -> dict[int, Change]:
        facts = plan.extraction.facts if plan.extraction else ()
        chosen = {n: facts[n] for n in places}
        return Judge(self.means, self.draft).judge(chosen, places) if chosen else {}

    def _added(self, entry: Entry, place: int) -> Change:
        return self.draft.dated(place).addition(entry.learnt, entry.kind, entry.number, entry.reason)
