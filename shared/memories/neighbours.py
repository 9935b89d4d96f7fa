"""Messages keep a little of what was said before and after them, to be found by. What goes must go from there too.

A delete or a change of a message leaves a job that names its neighbours; the worker gives them the words that are
around them now. That is no event of theirs: what they say is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing, TransactionFailed
from shared.aws.writes import Put
from shared.kernel.contention import LostRace, persist
from shared.memories.attempts import generation_check
from shared.memories.drafting import line_of
from shared.memories.indexing import passages_of
from shared.memories.leftovers import Leftovers
from shared.memories.records import memory_key
from shared.memories.rows import BESIDE, message_beside, next_revision
from shared.memories.sight import read_all
from shared.memories.texts import text_of
from shared.search.passages import CONTEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.memories.means import Means
    from shared.memories.records import UserAddress


@dataclass(frozen=True)
class Neighbours:
    """Gives messages the words that are around them now."""

    means: Means

    def refresh(self, address: UserAddress, memory_ids: Sequence[str]) -> None:
        """Bring the context of messages up to date; those that are gone are left out.

        Raises:
            Conflict: others kept changing one of them for longer than the retries last.
            Unavailable: something can't be asked now.
        """
        for memory_id in memory_ids:
            persist(partial(self._refresh, address, memory_id))

    def _refresh(self, address: UserAddress, memory_id: str) -> None:
        try:
            self._try(address, memory_id)
        except ObjectMissing:  # of it or of one beside it, which was changed or removed since its row was read
            raise LostRace(pause=False) from None

    def _try(self, address: UserAddress, memory_id: str) -> None:
        row = self.means.backing.table.get(memory_key(address.scope, memory_id))
        if row is None or row["kind"] != "raw":
            return
        around = self._around(address, row)
        if around.items() <= row.items():
            return
        new = {**row, **around, "revision": next_revision(row)}
        passages = passages_of([(new, text_of(self.means.backing.objects, row))], self.means.embedder)
        leftovers = Leftovers(self.means.backing, address)
        states = [[(memory_id, r["revision"])] for r in (new, row)]
        self.means.backing.table.write(Put(leftovers.if_it_dies(states[0])))
        self.means.index.put(passages)
        unchanged = Put(new, "#revision = :seen", {"seen": row["revision"]})
        held = generation_check(address, row["generation"])
        try:
            self.means.backing.table.transact(unchanged, held, Put(leftovers.due(states[1])))
        except TransactionFailed as failed:
            leftovers.remove(self.means.index, states[0])
            if 1 in failed.items:
                return  # all of the user's is forgotten
            raise LostRace(pause=False) from None
        leftovers.remove(self.means.index, states[1])

    def _around(self, address: UserAddress, row: Item) -> Item:
        """Return what is said just before and after a message."""
        keys = {n: memory_key(address.scope, message_beside(address, row, step)) for n, step in BESIDE.items()}
        found = read_all(self.means.backing.table, list(keys.values()))
        lines = {name: self._line(found.get(key), row) for name, key in keys.items()}
        return {"previous": lines["previous"][-CONTEXT:], "following": lines["following"][:CONTEXT]}

    def _line(self, row: Item | None, beside: Item) -> str:
        if row is None or row["generation"] != beside["generation"]:
            return ""
        return line_of(row["speaker"], text_of(self.means.backing.objects, row))
