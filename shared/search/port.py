"""The port of search indexes: what goes in, what is asked, what comes back.

An index only ever says where to look. The records decide: a hit counts when its memory's record is there,
of that revision, and not forgotten. So a passage is never changed: a memory's next revision has passages of its own,
and those of the one before may go later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.models.port import Vector

Keyword = Literal["modes", "source", "kind", "document_id", "reading", "agent_id", "app_id", "session_id", "types"]
"""The fields of a passage that are compared exactly."""

Moment = Literal["created_at", "event_at"]
"""The fields of a passage that are compared as moments (ms since the epoch)."""


REINDEX: Final = "Run `make reindex` with the same settings to make it anew from what is stored."
"""What to do about an index that is not the one that is wanted; without its settings it would make that of others."""


class IndexMismatch(Unavailable):
    """The index was made for another embedder or mapping; the message says what to run."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after=60)


@dataclass(frozen=True)
class Passage:
    """A piece of one revision of a memory, as it is indexed: under `{memory_id}.{revision}.{ordinal}`.

    `owner` is one user of one project (`UserAddress.owner`): it routes, filters, and names the embedded index's file.
    `text` is the piece; `speaker`, `previous`, `following` and `day` (the event's date in words) are found by too.
    `modes` are the output modes that find it; `types` the memory type and the categories; moments are in ms.
    `document_id` and `reading` name the document that it is of, and the reading of it that it came from.
    """

    owner: str
    memory_id: str
    revision: int
    ordinal: int
    generation: int
    text: str
    vector: Vector
    modes: tuple[str, ...]
    kind: str
    source: str
    created_at: int
    event_at: int | None = None
    speaker: str = ""
    previous: str = ""
    following: str = ""
    day: str = ""
    types: tuple[str, ...] = ()
    document_id: str | None = None
    reading: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    session_id: str | None = None

    @property
    def id(self) -> str:
        """Its name in the index."""
        return f"{self.memory_id}.{self.revision}.{self.ordinal}"


@dataclass(frozen=True)
class Is:
    """The field is one of these values."""

    field: Keyword
    values: tuple[str, ...]


@dataclass(frozen=True)
class Within:
    """The moment lies in these bounds (ms); a passage without one never does."""

    field: Moment
    gt: int | None = None
    gte: int | None = None
    lt: int | None = None
    lte: int | None = None


@dataclass(frozen=True)
class AllOf:
    """Every part holds; none: everything does."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """The part does not hold."""

    part: Condition


Condition = Is | Within | AllOf | AnyOf | Not


@dataclass(frozen=True)
class Ask:
    """One question of one owner: at most `k_dense` states by meaning, `k_sparse` by words; 0 leaves a channel out.

    `floor` is the least similarity of the dense channel; `where` holds for both, inside the engine.
    """

    owner: str
    text: str
    vector: Vector
    k_dense: int
    k_sparse: int
    floor: float
    where: Condition = field(default_factory=AllOf)


State = tuple[str, int]
"""A memory's id and a revision of it."""


@dataclass(frozen=True)
class Found:
    """A revision of a memory that a channel found, by its best passage; `asks`: that passage is a question.

    Dense scores are similarities (-1 to 1), sparse ones BM25; `document_id` is the passage's. Two revisions of one
    memory may both be found, between the moment the second is current and the removal of the first's passages: which
    one counts, the record says.
    """

    memory_id: str
    revision: int
    score: float
    asks: bool = False
    document_id: str | None = None

    @property
    def state(self) -> State:
        """What was found: the memory's id and the revision."""
        return self.memory_id, self.revision


@dataclass(frozen=True)
class Channels:
    """What both channels found, best first, a state once in each; equal scores in order of their ids."""

    dense: tuple[Found, ...] = ()
    sparse: tuple[Found, ...] = ()


class SearchIndex(Protocol):
    """An index of passages. Every method may raise `Unavailable`; then nothing may be taken as done."""

    def ensure(self) -> None:
        """Make the index where there is none.

        Raises:
            IndexMismatch: it is there, and not for this embedder and mapping.
        """

    def put(self, passages: Sequence[Passage]) -> None:
        """Store passages, all of them searchable when it returns; storing them again changes nothing.

        Raises:
            Unavailable: at least one is not stored.
        """

    def present(self, owner: str, states: Collection[State]) -> set[State]:
        """Return those of the states that search would find now."""

    def search(self, asks: Sequence[Ask]) -> list[Channels]:
        """Answer all questions in one round trip, in order."""

    def remove(self, owner: str, states: Collection[State]) -> None:
        """Remove all passages of these states, and let no search find them when it returns."""

    def clear(self, owner: str, before_generation: int) -> int:
        """Remove an owner's passages of earlier generations, and return how many there were."""


class Rebuild(Protocol):
    """An index made anew beside the one that is searched, from the records, while those are written.

    Every method may raise `Unavailable`; then the rebuild goes on where it was when it is begun again.
    """

    def begin(self) -> str | None:
        """Make the new index, or go on with the one that was begun: then return the last mark that was noted.

        When it returns, whatever is put into the searched index is put into the new one too.
        """

    def put(self, passages: Sequence[Passage]) -> None:
        """Store passages in the new index; whoever removes them from now on finds them there."""

    def discard(self, passages: Sequence[Passage]) -> None:
        """Take back passages that were put: their memories have changed or gone meanwhile."""

    def note(self, mark: str) -> None:
        """Keep how far the rebuild is."""

    def finish(self) -> None:
        """Let the new index be the one that is searched, from one moment to the next, and drop all others."""
