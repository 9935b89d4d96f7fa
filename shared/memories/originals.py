"""Original texts: what was really said, for a search that wants summaries shown as the messages they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.errors import TooLarge
from shared.memories.records import memory_key
from shared.memories.sight import is_visible, read_all
from shared.memories.texts import size_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing
    from shared.memories.records import UserAddress

MESSAGES = 5_000
"""The most messages that one answer looks for."""


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
        keys = [self._keys(row) for row in rows]
        wanted = [key for of_row in keys for key in of_row]
        if len(wanted) > MESSAGES:
            raise self._too_large()
        items = read_all(self.backing.table, [self.address.generation_key, *wanted]) if wanted else {}
        generations = items.pop(self.address.generation_key, None)
        raws = {k: i for k, i in items.items() if i["user"] == self.address.user and is_visible(i, generations)}
        if sum(size_of(raws[key]) for key in wanted if key in raws) > self.most:
            raise self._too_large()
        texts = dict(zip(raws, texts_of(self.backing.objects, list(raws.values())), strict=True))
        return ["\n".join(texts[key] for key in of_row if key in texts) or None for of_row in keys]

    def _keys(self, row: Item) -> list[Key]:
        if row["kind"] != "summary":
            return []
        ids = (self.address.memory_id(row["origin"], "raw", position) for position in row["positions"])
        return [memory_key(self.address.scope, memory_id) for memory_id in ids]

    def _too_large(self) -> TooLarge:
        hint = "Ask for fewer: a lower top_k, k_dense or k_sparse, or no return_raw_text."
        return TooLarge(f"The original texts take more than {self.most} bytes. {hint}", hint=hint)
