"""Memories in a restored table: what was forgotten since goes again, and so does what would bring it back.

The search index is made anew afterwards, so that nothing here asks it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import ABSENT, PRESENT, Delete, Put, Update
from shared.memories.erasing import KEPT_MS, new_receipt
from shared.memories.files.views import document_keys_of
from shared.memories.past import past_rows, scope_in
from shared.memories.records import (
    GENERATIONS,
    UserAddress,
    by_origin,
    generation_name,
    past_key,
)
from shared.memories.remains import forget_text, says
from shared.memories.rows import BESIDE, memory_id_of, message_beside
from shared.memories.sight import read_all
from shared.retention.records import due_bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from shared.aws.items import Item
    from shared.memories.backing import Backing
    from shared.retention.erasures import Erasure

_PAGE = 500


@dataclass(frozen=True)
class Restoring:
    """Repairs the memories and files of a restored table, which nobody else writes."""

    backing: Backing

    def replays(self) -> Mapping[str, Callable[[Erasure], None]]:
        """Return what replays the entries of the erasure log, by kind."""
        return {
            "memories": self.forget,
            "past_of_memories": self.forget_past,
            "memories_of_user": self.forget_user,
            "memory_file": self.forget_file,
        }

    def forget(self, entry: Erasure) -> None:
        """Remove memories and past states again; their ids are used once."""
        pk = entry.ids["pk"]
        self._remove(list(read_all(self.backing.table, [(pk, sk) for sk in entry.ids["rows"]]).values()))

    def forget_past(self, entry: Erasure) -> None:
        """Forget again what memories said before a decision, and keep that they were there."""
        pk = entry.ids["pk"]
        for memory_id, until in entry.ids["memories"].items():
            row = self.backing.table.get((pk, f"m#{memory_id}"))
            if row is not None and row["decided_at"] < until:
                self._remove([row])
            end = past_key(scope_in(pk), memory_id, until, number=0)[1]
            for past in past_rows(self.backing.table, pk, memory_id):
                if past["sk"] < end and says(past):
                    forget_text(self.backing, past)

    def forget_user(self, entry: Erasure) -> None:
        """Put what was forgotten of a user out of sight again, remove it, and say so in a receipt."""
        pk, user, generation = (entry.ids[name] for name in ("pk", "user", "generation"))
        name, values = generation_name(user), {"generation": generation}
        newer = f"attribute_not_exists(#{name}) OR #{name} < :generation"
        with suppress(ConditionFailed):
            self.backing.table.write(Update((pk, GENERATIONS), {name: generation}, when=newer, values=values))
        older = "#user = :user AND #generation < :generation"
        for page in self.backing.table.pages(Query(pk, keep=older, values={**values, "user": user}, size=_PAGE)):
            self._remove(page.items)
        self._receipt(entry)

    def forget_file(self, entry: Erasure) -> None:
        """Remove a file again, the documents that were made of it, and their chunks.

        The same bytes are a file of the same id when they are sent again: when it came tells which one is meant.
        """
        pk, user, file_id = (entry.ids[name] for name in ("pk", "user", "file"))
        file = self.backing.table.get((pk, f"u#{file_id}"))
        ours = [file] if file and file["created_at"] == entry.ids["created_at"] else []
        tokens = {named["document"]: named["token"] for named in entry.ids["documents"]}
        keys = [(pk, f"d#{document}") for document in tokens]
        keys += [key for row in ours for key in document_keys_of(entry.scope, row)]
        found = {row["sk"].removeprefix("d#"): row for row in read_all(self.backing.table, keys).values()}
        documents = [row for name, row in found.items() if _is_of(row, file_id if ours else None, tokens.get(name))]
        for token in {*tokens.values(), *(row["token"] for row in documents)}:
            self._forget_reading(pk, by_origin(user, token, ""))
        self._remove([*documents, *ours])
        self._receipt(entry)

    def _forget_reading(self, pk: str, begins: str) -> None:
        for page in self.backing.table.pages(Query(pk, "l2", begins=begins, size=_PAGE)):
            self._remove(list(read_all(self.backing.table, [key_of(row) for row in page.items]).values()))

    def mend(self, row: Item) -> None:
        """Take from the table what has lost its object; a past state stays without what it said."""
        kind = row["sk"].partition("#")[0]
        if kind == "h":
            forget_text(self.backing, row)
        elif kind != "u" or row["status"] == "ready":  # an upload that is not completed yet has none
            self._remove([row])

    def part(self, pk: str, erased: Collection[str]) -> None:
        """Take the words of erased rows (by their sort keys) from the messages of a partition that stood beside them.

        What stood beside one need not be in the table: the add may have been half done at the moment.
        """
        for page in self.backing.table.pages(Query(pk, begins="m#", size=_PAGE)):
            each(lambda row: self._part(row, erased), [row for row in page.items if row["kind"] == "raw"])

    def _part(self, row: Item, erased: Collection[str]) -> None:
        address = UserAddress(scope_in(row["pk"]), row["user_id"])
        beside = {name: step for name, step in BESIDE.items() if row[name]} if row["positions"] else {}
        gone = {name: "" for name, step in beside.items() if f"m#{message_beside(address, row, step)}" in erased}
        if gone:
            self.backing.table.write(Update(key_of(row), gone, when=PRESENT))

    def _remove(self, rows: Sequence[Item]) -> None:
        """Remove rows; first what they own in the bucket, and the fingerprints that are found by them."""
        if objects := [row["object"] for row in rows if "object" in row]:
            self.backing.objects.delete(*objects)
        each(self._write, [mark for row in rows for mark in _fingerprint(row)])
        each(self._write, [Delete(key_of(row)) for row in rows])

    def _write(self, delete: Delete) -> None:
        with suppress(ConditionFailed):
            self.backing.table.write(delete)

    def _receipt(self, entry: Erasure) -> None:
        """Keep that it is done, for who asks the receipt of an erasure that was acknowledged after the moment."""
        erasure_id = entry.ids["erasure"]
        due = {"expires_at": entry.at + KEPT_MS, "due": due_bucket(entry.at + KEPT_MS, erasure_id)}
        told: dict[str, Any] = {"status": "success", "completed_at": self.backing.clock.now_ms(), **due}
        receipt = {**new_receipt(UserAddress(entry.scope, ""), erasure_id, "", now=entry.at), **told}
        del receipt["user_id"]
        with suppress(ConditionFailed):  # it is there, and what is not done of it yet a worker does
            self.backing.table.write(Put(receipt, ABSENT))


def _fingerprint(row: Item) -> list[Delete]:
    """Return the removal of what keeps a memory from being there twice, unless it is another's by now."""
    if not row["sk"].startswith("m#") or not row.get("fingerprint"):
        return []
    address = UserAddress(scope_in(row["pk"]), row["user_id"])
    ours = f"{ABSENT} OR #memory = :memory"
    return [Delete(address.fingerprint_key(row["fingerprint"]), ours, {"memory": memory_id_of(row)})]


def _is_of(document: Item, file_id: str | None, token: str | None) -> bool:
    """Tell whether a document was made of a file, or is of the reading that was logged."""
    return document["token"] == token or (file_id is not None and document["file"] == file_id)
