"""A turn's meta and summary: in its row while short, in one object when not.

Each of both stays in the row up to 32 KiB; what is longer goes to the object, and of a long summary
the row keeps an excerpt, so that the task object never opens objects for its summaries.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel.strict_json import compact

if TYPE_CHECKING:
    from shared.aws.items import Item

INLINE_BYTES = 32 << 10
EXCERPT_CHARACTERS = 2000


@dataclass(frozen=True)
class Content:
    """What a turn says: `meta` as it came, and its Markdown summary."""

    meta: dict[str, Any]
    summary: str


@dataclass(frozen=True)
class Packed:
    """Content ready to store: attributes for the row, and the object's bytes if one is needed."""

    attributes: Item
    body: bytes | None

    @property
    def summary_bytes(self) -> int:
        """The summary's length in UTF-8 bytes."""
        size: int = self.attributes["summary_bytes"]
        return size


def pack(content: Content) -> Packed:
    """Divide content between row and object."""
    meta, summary = compact(content.meta), content.summary
    summary_bytes = len(summary.encode())
    row: Item = {"summary_bytes": summary_bytes, "bytes": summary_bytes + len(meta.encode())}
    outside: dict[str, str] = {}
    if row["bytes"] - summary_bytes <= INLINE_BYTES:
        row["meta"] = meta
    else:
        outside["meta"] = meta
    if summary_bytes <= INLINE_BYTES:
        row["summary"] = summary
    else:
        outside["summary"] = summary
        row["excerpt"] = summary[:EXCERPT_CHARACTERS]
    return Packed(row, compact(outside).encode() if outside else None)


def unpack(row: Item, body: bytes | None) -> Content:
    """Return the content of a row and its object's bytes (None where it has no object)."""
    outside = json.loads(body) if body is not None else {}
    meta = row["meta"] if "meta" in row else outside["meta"]
    summary = row["summary"] if "summary" in row else outside["summary"]
    return Content(json.loads(meta), summary)


def summary_start(row: Item) -> tuple[str, bool]:
    """Return the first 2,000 characters of a row's summary, and whether there is more."""
    if "excerpt" in row:
        return row["excerpt"], True
    summary: str = row["summary"]
    return summary[:EXCERPT_CHARACTERS], len(summary) > EXCERPT_CHARACTERS


EMPTY = Content({}, "")
