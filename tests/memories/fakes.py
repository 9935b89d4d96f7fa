"""Small models for tests: fast, deterministic, and told what to say."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from shared.extraction.port import Decision, Extraction, Learnt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.extraction.port import Conversation, Known
    from shared.models.port import Vector

DIMENSION = 64


@dataclass
class HashEmbedder:
    """Embeds a text as its words: texts that share words are near."""

    name: str = "hash-64"
    dimension: int = DIMENSION
    floor: float = 0.05
    asked: list[str] = field(default_factory=list)

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return [self._vector(text) for text in texts]

    def of_query(self, text: str) -> Vector:
        return self._vector(text)

    def _vector(self, text: str) -> Vector:
        parts = [0.001] * self.dimension
        for word in re.findall(r"\w+", text.lower()):
            parts[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1.0
        length = math.sqrt(sum(part * part for part in parts))
        return [part / length for part in parts]


@dataclass
class SentenceExtractor:
    """Learns every sentence of the user as a fact; `Forget:` begins a wish to forget."""

    calls: int = 0

    def extract(self, conversation: Conversation) -> Extraction:
        self.calls += 1
        facts = [
            Learnt(
                sentence.removeprefix("Forget: "),
                event_at=turn.at,
                positions=(turn.position,),
                forget=sentence.startswith("Forget: "),
            )
            for turn in conversation.turns
            if turn.role == "user"
            for sentence in re.split(r"(?<=\.) ", turn.text)
            if sentence
        ]
        positions = tuple(turn.position for turn in conversation.turns)
        summary = Learnt(" ".join(turn.text for turn in conversation.turns)[:500], positions=positions)
        return Extraction(summary, tuple(facts))

    def summarise(self, summaries: Sequence[str], conversation: Conversation) -> Learnt:
        del conversation
        self.calls += 1
        return Learnt(" | ".join(summaries))


@dataclass
class WordDecider:
    """A fact `topic: value` supersedes what is known under its topic; a wish to forget forgets the nearest."""

    asked: int = 0

    def decide(self, fact: Learnt, known: Sequence[Known]) -> Decision:
        self.asked += 1
        near = [k for k in known if not k.immutable]
        if fact.forget:
            target = next((k for k in near if k.similarity > 0.6), None)
            return Decision("DELETE", "asked for", target.memory_id) if target else Decision("NONE", "not known")
        topic, colon, _ = fact.text.partition(":")
        if colon:
            same = next((k for k in near if k.text.partition(":")[0] == topic), None)
            if same:
                event = "NONE" if same.text == fact.text else "UPDATE"
                return Decision(event, f"about {topic}", same.memory_id)
        return Decision("ADD", "new")


@dataclass
class Failing:
    """Stands in front of a port: each call asks `rule(name)` for an error to raise, instead of it or after it."""

    behind: Any
    rule: Callable[[str], BaseException | None]
    after: bool = False
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.behind, name)
        return partial(self._call, name, real) if callable(real) else real

    def _call(self, name: str, real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.calls.append(name)
        error = self.rule(name)
        if error is not None and not self.after:
            raise error
        result = real(*args, **kwargs)
        if error is not None:
            raise error
        return result
