"""What a task is going to write, decided once and kept: no crash asks a model again, or decides over its own writes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shared.extraction.port import Extraction, Learnt
from shared.memories.rows import memory_id_of
from shared.models.converse import Usage

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.extraction.port import Event
    from shared.search.port import State


@dataclass(frozen=True)
class Change:
    """One decision, and the memory's row that it makes (`row`: ADD, UPDATE) of the one that was (`old`: all but ADD).

    `text` is the row's whole text where an object holds it; `task` decided it, led by the messages at `positions`;
    `fact` is the place of the fact that was decided about in the extraction, None for what is written as it comes;
    `stale` is the memory that a fingerprint still names, and that is gone or says something else by now;
    `forgets`: what the memory said before was to be forgotten, so that its past does not say it either.
    """

    event: Event
    reason: str
    row: Item | None = None
    old: Item | None = None
    text: str | None = None
    task: str = ""
    positions: tuple[int, ...] = ()
    fact: int | None = None
    stale: str | None = None
    forgets: bool = False

    @property
    def whole_text(self) -> str:
        """The text of the state that it makes."""
        row = self.row or {}
        return self.text if self.text is not None else str(row.get("text", ""))

    @property
    def memory_id(self) -> str | None:
        """The memory that it is about; None where there was nothing to forget."""
        row = self.row or self.old
        return memory_id_of(row) if row else None

    @property
    def made(self) -> State | None:
        """The state that it makes."""
        return state_of(self.row) if self.row else None

    @property
    def ended(self) -> State | None:
        """The state that it ends."""
        return state_of(self.old) if self.old and self.event in {"UPDATE", "DELETE"} else None


@dataclass(frozen=True)
class Plan:
    """The moment (ms) that a task's writes are dated from, what was learnt (None: nothing was to be), and the changes.

    `changes` is None until they are decided.
    """

    at: int
    extraction: Extraction | None
    changes: tuple[Change, ...] | None = None

    @property
    def decided(self) -> tuple[Change, ...]:
        """The changes; none while they are not decided."""
        return self.changes or ()

    def to_json(self) -> dict[str, Any]:
        """Return it as an object keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Plan:
        """Return what an object kept."""
        changes = kept["changes"]
        return cls(
            kept["at"],
            _extraction(kept["extraction"]) if kept["extraction"] else None,
            None if changes is None else tuple(Change(**{**c, "positions": tuple(c["positions"])}) for c in changes),
        )


def state_of(row: Item) -> State:
    """Return the state that a row is in."""
    return memory_id_of(row), row["revision"]


def _extraction(kept: dict[str, Any]) -> Extraction:
    summary = kept["summary"]
    usage = Usage(**kept["usage"])
    return Extraction(_learnt(summary) if summary else None, tuple(map(_learnt, kept["facts"])), usage)


def _learnt(kept: dict[str, Any]) -> Learnt:
    return Learnt(**{**kept, "categories": tuple(kept["categories"]), "positions": tuple(kept["positions"])})
