"""Groups of chunks: a conversation that a client sends in parts, and the one summary of all of them.

Parts come in any order, twice or never. Each has a row of its own, written once; the group's row counts them. Whichever
task finds all of them there, and no summary, makes it; one that dies before is followed by its next delivery.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.aws.table import Query
from shared.aws.writes import ABSENT, Put, Update
from shared.kernel.strict_json import compact
from shared.memories.attempts import Overtaken
from shared.memories.plan import Change
from shared.memories.records import by_origin, memory_key
from shared.memories.rows import memory_id_of
from shared.memories.sight import read_all
from shared.memories.texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.aws.items import Item, Key
    from shared.aws.table import Table
    from shared.extraction.port import Learnt
    from shared.memories.attempts import Attempt
    from shared.memories.drafting import Draft
    from shared.memories.means import Means
    from shared.memories.models import Add, ChunkPlace
    from shared.memories.plan import Plan

AT_ONCE = 40
"""Summaries that are made one of at a time; of more, first each so many are, then these."""

WHOLE = "A summary of all parts of this session."


@dataclass(frozen=True)
class Part:
    """One part of a group, as a task has it."""

    means: Means
    attempt: Attempt
    draft: Draft
    place: ChunkPlace

    @property
    def group_key(self) -> Key:
        """The key of the group: of parts that were sent under one name and count, and not forgotten since."""
        generation = self.attempt.task["generation"]
        return self.draft.address.group_key(f"{generation}/{self.place.count}/{self.place.group_id}")

    @property
    def key(self) -> Key:
        """The key of this part."""
        pk, sk = self.group_key
        return pk, f"{sk}#p{self.place.index:05d}"

    def is_repeated(self) -> bool:
        """Tell whether another task has brought the same part, with the same content."""
        there = self.means.backing.table.get(self.key)
        task = self.attempt.task["task"]
        return there is not None and there["task"] != task and there["digest"] == _content(self.draft.add)

    def note(self, plan: Plan) -> None:
        """Count the part, once, with the summary that was made of it.

        Raises:
            Erased: everything was forgotten meanwhile.
            Fenced: another attempt has taken over.
        """
        if self.means.backing.table.get(self.key) is not None:
            return
        pk, sk = self.key
        made = (c.row for c in plan.decided if c.row and c.event == "ADD" and c.row["kind"] == "summary")
        part = {
            **self._place,
            "pk": pk,
            "sk": sk,
            "l2": by_origin(self.draft.address.user, self.attempt.task["task"], sk),
            "task": self.attempt.task["task"],
            "digest": _content(self.draft.add),
            "memory": next(map(memory_id_of, made), None),
        }
        counted = Update(self.group_key, {**self._place, "count": self.place.count}, add={"parts": 1})
        self.attempt.commit(self.attempt.task.get("committed", 0), Put(part, ABSENT), counted)

    def summarise(self, number: int) -> Change | None:
        """Return the change that adds the group's summary, if this task is the one to make it; it is not applied yet.

        Raises:
            ExtractionFailed: the model's answers can't be used.
            Unavailable: the model or the table can't be asked now.
        """
        group = self.means.backing.table.get(self.group_key) or {}
        if group.get("parts", 0) < self.place.count or "summary" in group:
            return None
        texts = self._texts()
        if not texts:
            return None
        draft = self.draft.dated(number)
        learnt = self._summary_of(texts, draft)
        memory_id = draft.address.memory_id("group", self.group_key[1])
        return draft.addition_as(
            memory_id, replace(learnt, positions=(), event_at=draft.said_at), "summary", reason=WHOLE
        )

    def apply(self, change: Change) -> bool:
        """Write the group's summary; False when another task has."""
        name = {"summary": change.memory_id, "by": self.attempt.task["task"]}
        once = Update(self.group_key, name, when="attribute_not_exists(#summary)")
        try:
            self.attempt.commit(self.attempt.task.get("committed", 0), Put(change.row or {}, ABSENT), once)
        except Overtaken:
            return False
        return True

    def applied(self) -> Change | None:
        """Return the group's summary as a change, where this task has made it and it is there still."""
        table = self.means.backing.table
        group = table.get(self.group_key) or {}
        if group.get("by") != self.attempt.task["task"]:
            return None
        row = table.get(memory_key(self.draft.address.scope, group["summary"]))
        return Change("ADD", WHOLE, row, text=texts_of(self.means.backing.objects, [row])[0]) if row else None

    @property
    def _place(self) -> Item:
        return {"user": self.draft.address.user, "generation": self.attempt.task["generation"]}

    def _texts(self) -> list[str]:
        """Return the summaries of the parts, in order; those that were forgotten since are left out."""
        pk, sk = self.group_key
        table, address = self.means.backing.table, self.draft.address
        ids = [part["memory"] for part in table.every(Query(pk, begins=f"{sk}#p")) if part["memory"]]
        keys = [memory_key(address.scope, memory_id) for memory_id in ids]
        rows = read_all(table, keys)
        return texts_of(self.means.backing.objects, [rows[key] for key in keys if key in rows])

    def _summary_of(self, texts: Sequence[str], draft: Draft) -> Learnt:
        conversation = replace(draft.conversation(), turns=())
        extractor = self.means.extractor
        while len(texts) > AT_ONCE:
            pieces = [texts[n : n + AT_ONCE] for n in range(0, len(texts), AT_ONCE)]
            texts = [extractor.summarise(piece, conversation).text for piece in pieces]
        return extractor.summarise(texts, conversation)


def is_part(row: Item) -> bool:
    """Tell whether a row is that of a part of a group."""
    return str(row["sk"]).startswith("g#")


def wholes_of(table: Table, parts: Iterable[Item]) -> dict[str, Key]:
    """Return the summaries of all parts that were made of some parts too: the memory's id, and its group's key."""
    groups = read_all(table, [(part["pk"], part["sk"].rpartition("#p")[0]) for part in parts])
    return {group["summary"]: key for key, group in groups.items() if "summary" in group}


def tasks_of(table: Table, group: Key) -> list[str]:
    """Return the tasks that brought the parts of a group."""
    return [part["task"] for part in table.every(Query(group[0], begins=f"{group[1]}#p"))]


def _content(add: Add) -> str:
    """Return what two requests have in common that bring the same part."""
    said = [[message.role, message.parts] for message in add.messages]
    return hashlib.sha256(compact(said).encode()).hexdigest()
