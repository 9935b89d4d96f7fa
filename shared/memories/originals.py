"""Original texts: what was really said, for a search that wants summaries shown as the messages they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.kernel.errors import TooLarge
from shared.memories.groups import tasks_of
from shared.memories.records import by_origin, memory_key
from shared.memories.rows import memory_id_of
from shared.memories.sight import is_visible, read_all
from shared.memories.texts import size_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing
    from shared.memories.records import UserAddress

MESSAGES = 5_000
"""The most messages that one answer looks for."""

MESSAGES_OF_ADD = 1_000
"""The most messages that one add may have had; its own limit is lower."""


@dataclass(frozen=True)
class Originals:
    """The raw memories of one user; `most` is how many bytes of them an answer may have."""

    backing: Backing
    address: UserAddress
    most: int

    def of_rows(self, rows: Sequence[Item]) -> list[str | None]:
        """Return the original text of each row's memory, its messages line by line; None where none of it is there.

        Raises:
            TooLarge: it is more than an answer holds.
            ObjectMissing: some of it was changed or removed since it was read.
        """
        keys = each(self._keys, rows)
        wanted = [key for of_row in keys for key in of_row]
        if len(wanted) > MESSAGES:
            raise self._too_large()
        items = read_all(self.backing.table, [self.address.generation_key, *wanted]) if wanted else {}
        generations = items.pop(self.address.generation_key, None)
        raws = {k: i for k, i in items.items() if self._is_said(i) and is_visible(i, generations)}
        if sum(size_of(raws[key]) for key in wanted if key in raws) > self.most:
            raise self._too_large()
        texts = dict(zip(raws, texts_of(self.backing.objects, list(raws.values())), strict=True))
        said = ["\n".join(texts[key] for key in of_row if key in texts) or None for of_row in keys]
        # A summary that the caller wrote is what was said.
        return [None if row.get("verbatim") else text for row, text in zip(rows, said, strict=True)]

    def _is_said(self, row: Item) -> bool:
        return bool(row["user"] == self.address.user and row["kind"] == "raw")

    def _keys(self, row: Item) -> list[Key]:
        if row["kind"] != "summary" or row.get("verbatim"):
            return []
        if not row["positions"]:
            return self._keys_of_group(row)
        ids = (self.address.memory_id(row["origin"], "raw", position) for position in row["positions"])
        return [memory_key(self.address.scope, memory_id) for memory_id in ids]

    def _keys_of_group(self, row: Item) -> list[Key]:
        """Return the messages of all parts of the group that a summary is of: part by part, each in its order."""
        table, address = self.backing.table, self.address
        parts = Query(address.pk, "l2", begins=by_origin(address.user, row["origin"], "g#"))
        groups = dict.fromkeys(key_of(part)[1].rpartition("#p")[0] for part in table.every(parts))
        whole = next((g for g in groups if address.memory_id("group", g) == memory_id_of(row)), None)
        if whole is None:
            return []
        tasks = list(dict.fromkeys(tasks_of(table, (address.pk, whole))))
        return [key for keys in each(self._keys_of_task, tasks) for key in keys]

    def _keys_of_task(self, task_id: str) -> list[Key]:
        """Return the messages of one add in their order: its memories that have the id of a message."""
        table, address = self.backing.table, self.address
        query = Query(address.pk, "l2", begins=by_origin(address.user, task_id, "m#"))
        found = {key_of(item) for item in table.every(query)}
        ids = (address.memory_id(task_id, "raw", position) for position in range(MESSAGES_OF_ADD))
        return [key for memory_id in ids if (key := memory_key(address.scope, memory_id)) in found]

    def _too_large(self) -> TooLarge:
        hint = "Ask for fewer: a lower top_k, k_dense or k_sparse, or no return_raw_text."
        return TooLarge(f"The original texts take more than {self.most} bytes. {hint}", hint=hint)
