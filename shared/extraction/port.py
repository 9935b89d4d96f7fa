"""The ports of learning: what a conversation is, what is extracted from it, and what is decided about each fact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from shared.kernel.errors import LodestoreError
from shared.models.converse import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

MemoryType = Literal["core", "episodic", "semantic", "procedural"]
Event = Literal["ADD", "UPDATE", "DELETE", "NONE"]

CATEGORIES = ("preference", "constraint", "decision", "plan", "event", "identity", "relationship", "skill", "other")
"""The finer labels; a fact has none, one or several."""


class ExtractionFailed(LodestoreError):
    """The model answered, and nothing can be made of it, even after it was asked to repair; asking again won't help.

    `details` may hold `reply`, what it said, for the task's record.
    """


@dataclass(frozen=True)
class Turn:
    """One message: its position in the request, who spoke, what was said, and when (ms; None: not told).

    `captions` say what the images show that came with it: nobody's words. Where nothing was said, `text` is blank.
    """

    position: int
    role: Literal["user", "assistant"]
    text: str
    speaker: str | None = None
    at: int | None = None
    captions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """What is to be learnt from.

    `language` is the one asked for (`zh`, `en`, or `source`: that of the text); `code` is a coding session;
    `instructions` guide the extraction (not the facts); `context` is what was said before, not to be stored;
    `at` is the moment (ms) that relative times without a message's own are counted from.
    """

    turns: tuple[Turn, ...]
    at: int
    language: str = "source"
    code: bool = False
    instructions: str | None = None
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Learnt:
    """A summary or a fact: its text, its type and categories, the event's time (ms), and the turns it came from.

    The event's time is None where neither the words nor the turns tell one: when it was received is none.

    `forget`: not something to keep but an explicit wish that what `text` says be forgotten.
    """

    text: str
    memory_type: MemoryType = "semantic"
    categories: tuple[str, ...] = ()
    event_at: int | None = None
    positions: tuple[int, ...] = ()
    forget: bool = False


@dataclass(frozen=True)
class Extraction:
    """All that a conversation taught; a conversation of greetings teaches nothing, and that is no failure.

    `usage` is what a language model was asked for it.
    """

    summary: Learnt | None
    facts: tuple[Learnt, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Extractor(Protocol):
    """Learns from conversations; one implementation asks a language model, one works by rules."""

    def extract(self, conversation: Conversation) -> Extraction:
        """Return what is to be kept.

        Raises:
            ExtractionFailed: the model's answers can't be used.
            Unavailable: the model can't be asked now.
        """

    def summarise(self, summaries: Sequence[str], conversation: Conversation) -> Learnt:
        """Return one summary of several, those of a group's parts in order; `conversation` has the language and time.

        Raises:
            ExtractionFailed: the model's answers can't be used.
            Unavailable: the model can't be asked now.
        """


@dataclass(frozen=True)
class Known:
    """A memory that the user has already, near to a fact: `similarity` is that of their vectors.

    `told_at` is when it came to say what it says (ms): it counts where no time of the event is known.
    """

    memory_id: str
    revision: int
    text: str
    similarity: float
    memory_type: str = "semantic"
    categories: tuple[str, ...] = ()
    event_at: int | None = None
    immutable: bool = False
    told_at: int | None = None


QUOTE: Final = ": “"


@dataclass(frozen=True)
class Decision:
    """What becomes of a fact, and why: one sentence, that quotes a memory at its end, if at all, behind `QUOTE`.

    ADD keeps it as a new memory; UPDATE puts it in the place of `target`; DELETE forgets `target`; NONE changes
    nothing (`target` is what says it already, or None when there was nothing to forget).
    """

    event: Event
    reason: str
    target: str | None = None

    @property
    def told(self) -> str:
        """The reason without what it quotes: what is kept of a decision must not outlive the words of a memory."""
        reason, quote, _ = self.reason.partition(QUOTE)
        return f"{reason}." if quote else reason


class Decider(Protocol):
    """Decides about one fact beside what is known, the nearest first."""

    def decide(self, fact: Learnt, known: Sequence[Known]) -> Decision:
        """Return the decision. An immutable memory is never its target, but may be a NONE's."""
