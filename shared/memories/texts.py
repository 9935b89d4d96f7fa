"""Texts of rows: short ones are in the row, long ones are objects (design §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.parallel import each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.aws.objects import Objects


def text_of(objects: Objects, row: Item) -> str:
    """Return the text of a row.

    Raises:
        ObjectMissing: the row was changed or removed since it was read.
    """
    if "object" in row:
        return objects.get(row["object"]).decode()
    text: str = row["text"]
    return text


def texts_of(objects: Objects, rows: Sequence[Item]) -> list[str]:
    """Return the texts of rows, in order; objects are read at the same time.

    Raises:
        ObjectMissing: one of the rows was changed or removed since it was read.
    """
    long = [n for n, row in enumerate(rows) if "object" in row]
    texts = dict(zip(long, each(lambda n: text_of(objects, rows[n]), long), strict=True))
    return [texts[n] if n in texts else row["text"] for n, row in enumerate(rows)]


def size_of(row: Item) -> int:
    """Return the bytes of a row's text; a past state may have none."""
    size: int = row["size"] if "object" in row else len((row["text"] or "").encode())
    return size
