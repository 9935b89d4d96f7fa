"""Correcting what still says a fact that was superseded or forgotten: summaries, and of the forgotten the messages.

Looked for where the fact came from: among all that came of the same add, for each state that it had and each time it
was said again. A task that supersedes and forgets nothing asks nothing for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.extraction.cutting import holds_any, told, without
from shared.memories.drafting import line_of
from shared.memories.groups import is_part, tasks_of, wholes_of
from shared.memories.past import past_rows
from shared.memories.plan import Change
from shared.memories.records import by_origin
from shared.memories.rows import memory_id_of
from shared.memories.sight import read_all
from shared.memories.texts import text_of
from shared.search.passages import CONTEXT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from shared.aws.items import Item
    from shared.memories.drafting import Draft
    from shared.memories.means import Means

SOURCES = 20
"""Adds that what a task supersedes is looked for in; what it forgets is looked for in all."""

OUTDATED = "What it said is no longer so, and was taken out."
FORGOTTEN = "It was asked to be forgotten, and was taken out."


@dataclass(frozen=True)
class Unwanted:
    """What a fact said that is not so any more, where it came from, and the wish that it be forgotten, if it was one.

    `positions` are messages of the add `origin`; none means all.
    """

    text: str
    origin: str
    positions: frozenset[int]
    forgets: bool = False
    wish: str = ""

    def is_in(self, row: Item) -> bool:
        """Tell whether a row of the same add is about some of its messages."""
        there = set(row["positions"])
        return not there or not self.positions or not self.positions.isdisjoint(there)


@dataclass(frozen=True)
class Correcting:
    """Finds what one task's changes to facts make wrong; `wishes` are the texts of its wishes, by the fact."""

    means: Means
    draft: Draft
    decided: Sequence[Change]
    wishes: dict[int, str]

    @property
    def kept(self) -> list[str]:
        """What the facts say that the task makes or changes."""
        ended = {change.ended for change in self.decided}
        return [c.whole_text for c in self.decided if c.row and c.fact is not None and c.made not in ended]

    def within(self) -> list[Unwanted]:
        """Return what the task's own messages said and took back."""
        own = self.draft.task["task"]
        return [self._unwanted(c, c.old) for c in self._ending if c.old and c.old["origin"] == own]

    def changes(self, place: int, but: Collection[str | None], *, own: bool) -> list[Change]:
        """Return the corrections, for places from `place` on; of memories `but` some, which were corrected already.

        `own`: something of this task may be written already.
        """
        unwanted = list(dict.fromkeys(self._everywhere()))
        if not own:
            unwanted = [u for u in unwanted if u.origin != self.draft.task["task"]]
        sources = Sources(self, self._bounded(unwanted))
        made = [c for c in sources.corrections() if c.memory_id not in but]
        for number, change in enumerate(made):  # one moment for each, as for all that a task writes
            if change.row is not None:
                at = max(change.row["decided_at"], self.draft.at + place + number)
                change.row.update(decided_at=at, updated_at=at)
        return made

    @property
    def _ending(self) -> list[Change]:
        return [c for c in self.decided if c.fact is not None and c.ended]

    def _everywhere(self) -> Iterator[Unwanted]:
        table, pk = self.means.backing.table, self.draft.address.pk
        pasts = each(lambda c: list(past_rows(table, pk, str(c.memory_id))), self._ending)
        for change, past in zip(self._ending, pasts, strict=True):
            if change.old is None:
                continue
            yield self._unwanted(change, change.old)
            since = 0 if change.event == "DELETE" else change.old["decided_at"]
            for row in past:
                if row["at"] >= since and row["event"] in ("NONE", "ADD", "UPDATE"):
                    said = row if row.get("text") is not None or "object" in row else change.old
                    yield self._unwanted(change, said, row)

    def _unwanted(self, change: Change, said: Item, where: Item | None = None) -> Unwanted:
        place, forgets = where or said, change.event == "DELETE"
        text = said["text"] if "text" in said else text_of(self.means.backing.objects, said)
        wish = self.wishes.get(-1 if change.fact is None else change.fact, "") if forgets else ""
        return Unwanted(text, place["origin"], frozenset(place["positions"]), forgets, wish)

    @staticmethod
    def _bounded(unwanted: Sequence[Unwanted]) -> list[Unwanted]:
        origins = dict.fromkeys(u.origin for u in unwanted if not u.forgets)
        looked = set(list(origins)[:SOURCES]) | {u.origin for u in unwanted if u.forgets}
        return [u for u in unwanted if u.origin in looked]


class Sources:
    """All that came of the adds that unwanted facts came from."""

    def __init__(self, correcting: Correcting, unwanted: Sequence[Unwanted]) -> None:
        self._objects = correcting.means.backing.objects
        self._table = correcting.means.backing.table
        self._draft = correcting.draft
        self._kept = correcting.kept
        self._ended = {change.ended for change in correcting.decided}
        self._unwanted = unwanted
        self._rows = self._read(dict.fromkeys(u.origin for u in unwanted))

    def corrections(self) -> list[Change]:
        """Return the changes to summaries, those of groups last, and to messages."""
        made: dict[str | None, Change] = {}
        for origin, rows in self._rows.items():
            unwanted = [u for u in self._unwanted if u.origin == origin]
            for row in self._of_kind(rows, "summary"):
                about = [u for u in unwanted if u.is_in(row)]
                self._add(made, self._summary(row, about, self._facts(rows, row)))
            raws = self._of_kind(rows, "raw", immutable=True)
            for change in self._messages(raws, [u for u in unwanted if u.forgets]):
                self._add(made, change)
        for row, origins in self._wholes():
            unwanted = [u for u in self._unwanted if u.origin in origins]
            rows = [r for of_one in self._read(origins).values() for r in of_one]
            self._add(made, self._summary(row, unwanted, self._facts(rows, row)))
        return list(made.values())

    @staticmethod
    def _add(made: dict[str | None, Change], change: Change | None) -> None:
        if change is not None:
            made[change.memory_id] = change

    def _read(self, origins: Iterable[str]) -> dict[str, list[Item]]:
        """Return the current memories, and parts of groups, that came of adds."""
        pk, user = self._draft.address.pk, self._draft.address.user
        queries = [Query(pk, "l2", begins=by_origin(user, origin, "")) for origin in origins]
        keys = [[key_of(i) for i in found] for found in each(lambda query: list(self._table.every(query)), queries)]
        wanted = [key for of_one in keys for key in of_one if key[1].startswith(("m#", "g#"))]
        rows = read_all(self._table, wanted) if wanted else {}
        of_origins = ([rows[k] for k in of_one if self._is_current(rows.get(k))] for of_one in keys)
        return dict(zip(origins, of_origins, strict=True))

    def _is_current(self, row: Item | None) -> bool:
        return row is not None and row["generation"] == self._draft.task["generation"]

    @staticmethod
    def _of_kind(rows: Sequence[Item], kind: str, *, immutable: bool = False) -> list[Item]:
        found = [r for r in rows if not is_part(r) and r["kind"] == kind and (immutable or not r["immutable"])]
        return sorted(found, key=lambda row: (list(row["positions"]), row["l1"]))

    def _wholes(self) -> Iterator[tuple[Item, list[str]]]:
        """Yield the summaries of whole groups that the adds were parts of, with the adds of all parts."""
        parts = [row for rows in self._rows.values() for row in rows if is_part(row)]
        wholes = wholes_of(self._table, parts) if parts else {}
        rows = read_all(self._table, [(self._draft.address.pk, f"m#{n}") for n in wholes]) if wholes else {}
        for row in rows.values():
            if self._is_current(row) and not row["immutable"]:
                yield row, list(dict.fromkeys(tasks_of(self._table, wholes[memory_id_of(row)])))

    def _facts(self, rows: Sequence[Item], summary: Item) -> list[str]:
        """Return the facts that came of the same messages as a summary, and are so still."""
        mine = set(summary["positions"])
        return [
            text_of(self._objects, row)
            for row in sorted((r for r in rows if not is_part(r) and r["kind"] == "fact"), key=lambda r: str(r["l1"]))
            if (memory_id_of(row), row["revision"]) not in self._ended
            if not mine or not row["positions"] or mine & set(row["positions"])
        ]

    def _summary(self, row: Item, unwanted: Sequence[Unwanted], facts: Sequence[str]) -> Change | None:
        """Return the correction of a summary: sentences are cut, or it is made of the facts where it has its own words.

        Where it has another fact word for word it is made of such, and has not all of them; and what its user has
        changed is not made anew.
        """
        if not unwanted:
            return None
        text = text_of(self._objects, row)
        cut = without(
            text, [u.text for u in unwanted], wishes=[u.wish for u in unwanted if u.wish], kept=[*self._kept, *facts]
        )
        if not cut.found and (row["task"] is None or holds_any(text, facts)):
            return None
        return self._corrected(row, cut.text if cut.found else told(facts), forgets=any(u.forgets for u in unwanted))

    def _corrected(self, row: Item, text: str, *, forgets: bool, **neighbours: str) -> Change:
        reason = FORGOTTEN if forgets else OUTDATED
        if not text.strip():
            return Change("DELETE", reason, old=row, task=self._draft.task["task"])
        change = self._draft.corrected(row, text, reason, **neighbours)
        return replace(change, forgets=forgets)

    def _messages(self, rows: Sequence[Item], unwanted: Sequence[Unwanted]) -> Iterator[Change]:
        """Yield the corrections of messages, and of those beside them that are found by what was said around them."""
        if not unwanted:
            return
        said, wishes = [u.text for u in unwanted], [u.wish for u in unwanted if u.wish]
        texts = {row["positions"][0]: text_of(self._objects, row) for row in rows}
        cuts = {
            row["positions"][0]: without(text, said, wishes=wishes, kept=self._kept, speaker=row["speaker"])
            for row, text in zip(rows, texts.values(), strict=True)
            if not row["immutable"]
        }
        left = texts | {position: cut.text for position, cut in cuts.items()}
        lines = {p: line_of(row["speaker"], left[p]) for row in rows for p in row["positions"] if left[p]}
        for row in rows:
            position = row["positions"][0]
            beside = _beside(row, lines)
            if left[position] != texts[position] or beside:
                yield self._corrected(row, left[position], forgets=True, **beside)


def _beside(row: Item, lines: dict[int, str]) -> dict[str, str]:
    """Return what a message has to be found by, where that is not what is around it now.

    It is compared with what is there, and not with what was cut just now: an earlier attempt may have cut it.
    """
    position = row["positions"][0]
    around = {
        "previous": lines.get(position - 1, "")[-CONTEXT:],
        "following": lines.get(position + 1, "")[:CONTEXT],
    }
    return {name: line for name, line in around.items() if line.strip() != row[name].strip()}
