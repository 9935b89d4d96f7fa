"""A table that was restored to an earlier moment is made fit to be read again: steps that can be done again.

How far they are is kept in the table itself. Nobody else reads or writes it meanwhile: it is closed (`opening`).
What a step does is done by the rooms; here is what drives them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shared.aws.parallel import each
from shared.aws.writes import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.objects import Objects
    from shared.aws.table import Page, Start, Table
    from shared.retention.erasures import Erasure, ErasureLog

    Note = Callable[[str, int], None]
    """Keeps where a step is, and how many it has done since it was begun."""
    Tell = Callable[[str, int], None]
    """Hears which step is under way, and how many things it has done in this run."""
    Replay = Callable[[Erasure], None]
    Repair = Callable[[Item], None]

STATE: Final[Key] = ("SYS#table", "restore")

MARGIN_MS: Final = 15 * 60_000
"""An entry is written before what it tells of is so, by another clock: the log is read from so long before."""

SKEW_MS: Final = 60_000
"""What was logged so long before the moment is in the restored table for certain, or is nobody's work any more."""


class RestoreRefused(Exception):
    """Why a table is not restored, in a sentence for whoever ran the command."""


@dataclass(frozen=True)
class Step:
    """One step: its name, and what does it from a mark (empty: from its beginning).

    `run` tells whether it met something new: then what comes after it is to be done from its beginning. A step that is
    done `always` is done in every run, wherever the one before has ended.
    """

    name: str
    run: Callable[[str, Note], bool]
    always: bool = False


class Restoration:
    """The steps of one restored table, in order; interrupted, they go on where they were."""

    def __init__(self, table: Table, moment: int, steps: Sequence[Step]) -> None:
        self._table = table
        self._moment = moment
        self._steps = steps
        self._reached = 0
        self._marks: dict[str, str] = {}

    def run(self, tell: Tell) -> None:
        """Do what is left to be done.

        Raises:
            RestoreRefused: the table was begun as one of a later moment, or has what this version does not know.
            Unavailable: something does not answer; what was done is kept.
        """
        self._begin()
        for place, step in enumerate(self._steps):
            if place < self._reached and not step.always:
                continue
            self._reached = max(self._reached, place)
            tell(step.name, 0)
            if step.run(self._marks.get(step.name, ""), self._noting(step, tell)) and place < self._reached:
                self._reached = place
                self._marks = {name: self._marks[name] for name in self._names[: place + 1] if name in self._marks}
        self._reached, self._marks = 0, {}  # whoever runs it again, after a drill, begins anew
        self._keep()

    @property
    def _names(self) -> list[str]:
        return [step.name for step in self._steps]

    def _noting(self, step: Step, tell: Tell) -> Note:
        def note(mark: str, count: int) -> None:
            self._marks[step.name] = mark
            self._keep()
            tell(step.name, count)

        return note

    def _begin(self) -> None:
        state = self._table.get(STATE)
        if state is None or state["table"] != self._table.name:
            return  # a copy of a table that was restored once itself: its state is of that time
        if state["moment"] > self._moment:
            raise RestoreRefused("It was begun with a later moment: this one would replay more. Restore another table.")
        self._reached = self._names.index(state["step"])
        self._marks = dict(state["marks"])

    def _keep(self) -> None:
        pk, sk = STATE
        told = {
            "table": self._table.name,
            "moment": self._moment,
            "step": self._names[self._reached],
            "marks": self._marks,
        }
        self._table.write(Put({"pk": pk, "sk": sk, **told}))


class Replaying:
    """Replays the erasure log from a moment on; `replays` by the kind of an entry."""

    def __init__(self, log: ErasureLog, replays: Mapping[str, Replay], moment: int) -> None:
        self._log = log
        self._replays = replays
        self._moment = moment

    def __call__(self, mark: str, note: Note) -> bool:
        """Replay every entry since the moment, or since the one that `mark` names by its time (ms).

        Raises:
            RestoreRefused: an entry of a kind that this version does not know.
        """
        last = 0
        for number, entry in enumerate(self._log.replay(int(mark or self._moment - MARGIN_MS)), 1):
            replay = self._replays.get(entry.kind)
            if replay is None:
                message = f"The erasure log has an entry of kind {entry.kind!r} ({entry.key}): run a newer version."
                raise RestoreRefused(message)
            replay(entry)
            last = entry.at
            note(str(last), number)
        return last > int(mark or 0)

    def partitions(self) -> dict[str, set[str]]:
        """Return the users' partitions of which something was erased since the moment, with the sort keys named."""
        found: dict[str, set[str]] = {}
        for entry in self._log.replay(self._moment - SKEW_MS):
            if "pk" in entry.ids:
                found.setdefault(entry.ids["pk"], set()).update(entry.ids.get("rows", ()))
        return found


class Walk:
    """A walk through the table: every row that `keep` lets through is given to what repairs its kind of partition.

    `repairs` by what a partition's key begins with; None where nothing is to be repaired.
    """

    def __init__(
        self, table: Table, keep: str, repairs: Mapping[str, Repair | None], *, values: Mapping[str, str] | None = None
    ) -> None:
        self._table = table
        self._keep = keep
        self._repairs = repairs
        self._values = dict(values or {})

    def __call__(self, mark: str, note: Note) -> bool:
        """Walk on from the page that `mark` names.

        Raises:
            RestoreRefused: a row of a kind that this version does not know.
        """
        count = 0
        for page in self._pages(json.loads(mark) if mark else None):
            for row in self.wanted(page.items):
                self._repair(row)
            count += len(page.items)
            if page.last is not None:
                mark = json.dumps(page.last)
            note(mark, count)  # that of the last page is its beginning: it is walked again, and nothing before it
        return False

    def wanted(self, rows: Sequence[Item]) -> Sequence[Item]:
        """Return those of a page's rows that are to be repaired."""
        return rows

    def _repair(self, row: Item) -> None:
        kind = row["pk"].partition("#")[0]
        if kind not in self._repairs:
            raise RestoreRefused(f"A row of an unknown kind is in the table ({kind}#…): run a newer version.")
        repair = self._repairs[kind]
        if repair:
            repair(row)

    def _pages(self, start: Start) -> Iterator[Page]:
        while True:
            page = self._table.scan(self._keep, self._values, start)
            yield page
            if page.last is None:
                return
            start = page.last


class LostObjects(Walk):
    """The walk for rows that name an object (`object`; of a memory store's head, `content`) that is gone.

    `also` tells of rows that are to be repaired though their object is there.
    """

    def __init__(
        self,
        table: Table,
        objects: Objects,
        repairs: Mapping[str, Repair | None],
        *,
        also: Callable[[Item], bool],
    ) -> None:
        super().__init__(table, "attribute_exists(#object) OR attribute_exists(#content)", repairs)
        self._objects = objects
        self._also = also

    def wanted(self, rows: Sequence[Item]) -> Sequence[Item]:
        """Return the rows whose object is gone, and what else is to be repaired."""
        there = each(self._objects.exists, [row.get("object") or row["content"] for row in rows])
        return [row for row, found in zip(rows, there, strict=True) if not found or self._also(row)]
