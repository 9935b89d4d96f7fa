"""A memory of one user in miniature: what is extracted is decided about, and the decisions are carried out."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.extraction.deciding import RuleDecider
from shared.extraction.port import Decision, Known, Learnt
from shared.extraction.rules import RuleExtractor
from tests.extraction.conversations import NOW, conversation

EXTRACTOR = RuleExtractor()
DECIDER = RuleDecider()
MINUTE = 60_000


@dataclass
class Remembering:
    """What one user's memory holds; the known are given as they come, none left out, the newest first."""

    memories: dict[str, Learnt] = field(default_factory=dict)
    past: list[tuple[str, str]] = field(default_factory=list)
    log: list[Decision] = field(default_factory=list)
    told: int = 0

    def tell(self, *said: str | tuple[str, str], speaker: str | None = None) -> None:
        """Learn from a conversation a minute after the one before."""
        self.told += 1
        for fact in EXTRACTOR.extract(conversation(*said, speaker=speaker, at=NOW + self.told * MINUTE)).facts:
            self._carry_out(fact)

    @property
    def current(self) -> list[str]:
        """The texts that search would find."""
        return [memory.text for memory in self.memories.values()]

    def _carry_out(self, fact: Learnt) -> None:
        known = [
            Known(memory_id, 1, each.text, 0.5, each.memory_type, each.categories, each.event_at)
            for memory_id, each in reversed(self.memories.items())
        ]
        decision = DECIDER.decide(fact, known)
        self.log.append(decision)
        if decision.event == "ADD":
            self.memories[f"m{len(self.log)}"] = fact
        if decision.event in ("UPDATE", "DELETE"):
            assert decision.target is not None
            self.past.append((decision.target, self.memories[decision.target].text))
            if decision.event == "UPDATE":
                self.memories[decision.target] = fact
            else:
                del self.memories[decision.target]
