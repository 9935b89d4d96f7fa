"""Forgetting single memories, alone or with what came from the same messages (design §1, 3; contract "memories")."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from shared.aws.errors import TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import Delete, Put
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import NotFound
from shared.memories.files.deleting import Deleting
from shared.memories.groups import is_part, tasks_of, wholes_of
from shared.memories.leftovers import Leftovers
from shared.memories.past import past_rows
from shared.memories.records import UserAddress, by_origin, generations_of, has_form, memory_key
from shared.memories.rows import messages_beside
from shared.memories.sight import document_of, documents_of, is_visible, read_all, unknown
from shared.retention.erasures import Erasure, ErasureLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing
    from shared.search.port import SearchIndex

ROWS_A_WRITE: Final = 45
"""How many rows go in one transaction: it takes 100 items, and a fact's row has a fingerprint's beside it."""


@dataclass(frozen=True)
class Wish:
    """What is to be forgotten: a memory, with `source` all that came from the same messages, or the same file."""

    scope: Scope
    memory_id: str
    source: bool
    correlation_id: str


@dataclass(frozen=True)
class Forgotten:
    """The ids of what was forgotten, and of the receipts of files that went with it."""

    ids: dict[str, None]
    erasures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Forgetting:
    """Forgets memories: they are in no answer once it returns, and their texts are gone then or soon after."""

    backing: Backing
    index: SearchIndex

    def forget(self, scope: Scope, memory_id: str, *, source: bool = False, correlation_id: str = "") -> Forgotten:
        """Forget a memory and its history; with `source` all that came from the same messages. Return what went.

        Of other memories that said something else in between, the states that came from these messages go. A chunk's
        source is its file; a file that came with the messages goes with them, and an image with what it shows.

        Raises:
            NotFound: there is none, or it was forgotten.
            Conflict: others kept changing one of them for longer than the retries last.
            Unavailable: a dependency does not answer; some may have been forgotten.
        """
        gone, wish = Forgotten({memory_id: None}), Wish(scope, memory_id, source, correlation_id)
        persist(lambda: self._forget(wish, gone))
        return gone

    def _forget(self, wish: Wish, gone: Forgotten) -> None:
        scope = wish.scope
        rows, document = self._found(scope, wish.memory_id)
        if document is not None and (wish.source or rows[-1]["kind"] == "raw"):
            self._delete(wish, document, gone)
            return
        if wish.source:
            others = self._others(rows)
            for other in filter(_is_document, others):
                self._delete(wish, other, gone)
            others = [other for other in others if not _is_document(other)]
            gone.ids.update({row["sk"].removeprefix("m#"): None for row in others if _is_memory(row)})
            # The one that was named goes last: after a death in between, it still tells what else has to go.
            rows = [*others, *rows]
        for start in range(0, len(rows), ROWS_A_WRITE):
            self._remove(scope, rows[start : start + ROWS_A_WRITE])

    def _delete(self, wish: Wish, document: Item, gone: Forgotten) -> None:
        """Delete a document with its file; what is gone by now is as it should be."""
        with suppress(NotFound):
            told = Deleting(self.backing).delete_of(wish.scope, document, wish.correlation_id)
            gone.erasures.append(told["task_id"])

    def _found(self, scope: Scope, memory_id: str) -> tuple[list[Item], Item | None]:
        """Return the past rows of a memory, the oldest first, and its own; where a decision removed it, the past alone.

        Beside them the document that it was made of, if it was of one.

        Raises:
            NotFound: there is none, or it was forgotten.
        """
        if not has_form(memory_id):
            raise unknown()
        key, generations_key = memory_key(scope, memory_id), generations_of(scope, memory_id)
        # Its own first: what it was then is among the past rows read after it, if it has changed in between.
        found = self.backing.table.batch_get([key, generations_key])
        pasts = list(past_rows(self.backing.table, key[0], memory_id))
        rows = [*pasts, *([found[key]] if key in found else [])]
        removed = bool(pasts) and pasts[-1]["event"] == "DELETE"
        document = document_of(rows[-1], documents_of(self.backing.table, rows[-1:])) if key in found else None
        if not (key in found or removed) or not is_visible(rows[-1], found.get(generations_key), document):
            raise unknown()
        return rows, document

    def _others(self, rows: Sequence[Item]) -> list[Item]:
        """Return the rows of other memories, and the past states of others, that came from the same messages."""
        table, row = self.backing.table, rows[-1]
        siblings = self._but(rows, [other for source in _sources(rows) for other in self._of_source(source)])
        memories = [other for other in siblings if _is_memory(other)]
        pasts = each(lambda other: list(past_rows(table, row["pk"], other["sk"].removeprefix("m#"))), memories)
        return self._but((), [*(past for of_one in pasts for past in of_one), *siblings])

    def _of_source(self, row: Item) -> list[Item]:
        """Return the rows that came from the messages of one, itself among them."""
        found = self._of_task(row, row["origin"])
        siblings = [other for other in found if not is_part(other) and _same_messages(other, row)]
        return [*siblings, *self._of_groups(row, [other for other in found if is_part(other)])]

    def _of_task(self, row: Item, task_id: str) -> list[Item]:
        """Return the rows of the user of `row` that came of a task, that of its part of a group among them."""
        query = Query(row["pk"], "l2", begins=by_origin(row["user"], task_id, ""))
        return list(read_all(self.backing.table, [key_of(item) for item in self.backing.table.every(query)]).values())

    def _of_groups(self, row: Item, parts: Sequence[Item]) -> list[Item]:
        """Return the summaries that were made of whole groups of which the row's messages were a part.

        Of such a summary itself, what came from the messages of all of its parts.
        """
        table, wholes = self.backing.table, wholes_of(self.backing.table, parts)
        whole = wholes.pop(_memory_of(row), None)
        tasks = tasks_of(table, whole) if whole else []
        others = [other for task_id in tasks for other in self._of_task(row, task_id) if not is_part(other)]
        summaries = read_all(table, [(row["pk"], f"m#{memory_id}") for memory_id in wholes])
        return [other for other in (*others, *summaries.values()) if other["generation"] == row["generation"]]

    @staticmethod
    def _but(own: Sequence[Item], rows: Sequence[Item]) -> list[Item]:
        """Return rows, each once, but those of the memory itself."""
        ours = {key_of(row) for row in own}
        return list({key: row for row in rows if (key := key_of(row)) not in ours}.values())

    def _remove(self, scope: Scope, rows: Sequence[Item]) -> None:
        """Remove rows of one user with all that they own, and log it; what the index still holds is seen no more.

        Raises:
            LostRace: one of the memories was changed or removed since it was read.
        """
        address = UserAddress(scope, rows[-1]["user_id"])
        leftovers = Leftovers(self.backing, address)
        states = sorted({(_memory_of(row), row["revision"]) for row in rows})
        objects = [row["object"] for row in rows if "object" in row]
        ids = {"pk": rows[-1]["pk"], "rows": [row["sk"] for row in rows]}
        # Logged first: what is logged and then not removed is removed by nothing but a restored table's replay,
        # while what is removed and not logged would come back with one.
        ErasureLog(self.backing.objects).write(Erasure(leftovers.id, "memories", scope, ids))
        writes = [write for row in rows for write in _removal(address, row)]
        job = leftovers.due(states, objects, beside=messages_beside(address, rows))
        try:
            self.backing.table.transact(*writes, Put(job))
        except TransactionFailed:
            raise LostRace(pause=False) from None
        memories = sum(map(_is_memory, rows))
        self.backing.note(scope, memories=-memories, bytes=-sum(row.get("size", 0) for row in rows))
        leftovers.remove(self.index, states, objects)


def _removal(address: UserAddress, row: Item) -> list[Write]:
    if not _is_memory(row):
        return [Delete(key_of(row))]
    own: list[Write] = [Delete(key_of(row), "#revision = :seen", {"seen": row["revision"]})]
    return own + ([Delete(address.fingerprint_key(row["fingerprint"]))] if row["fingerprint"] else [])


def _is_memory(row: Item) -> bool:
    return str(row["sk"]).startswith("m#")


def _is_document(row: Item) -> bool:
    return str(row["sk"]).startswith("d#")


def _memory_of(row: Item) -> str:
    memory_id: str = row["sk"].removeprefix("m#") if _is_memory(row) else row["memory"]
    return memory_id


def _sources(rows: Sequence[Item]) -> Sequence[Item]:
    """Return the states whose messages are a memory's source: its last; after a wish to forget it, all that told it."""
    return rows if rows[-1]["event"] == "DELETE" else rows[-1:]


def _same_messages(one: Item, other: Item) -> bool:
    """Tell whether two rows of one task came from some of the same messages; what does not say which, from all."""
    positions = set(one["positions"]), set(other["positions"])
    shared = not positions[0] or not positions[1] or not positions[0].isdisjoint(positions[1])
    return bool(one["generation"] == other["generation"]) and shared
