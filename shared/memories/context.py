"""What was said just before a request (`window_context`): how much of it is kept, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

ENTRIES = 50
CHARACTERS = 10_000

Entry = dict[str, Any]


def trimmed(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the last 50 entries, without the oldest that go beyond 10,000 characters of content in all.

    A sole longer one is kept (seed, `window_context`).
    """
    kept: list[Entry] = []
    left = CHARACTERS
    for entry in reversed(entries[-ENTRIES:]):
        left -= len(said_in(entry))
        if kept and left < 0:
            break
        kept.append(entry)
    return tuple(reversed(kept))


def said_in(entry: Entry) -> str:
    """Return what an entry says: its content, a text or a list of parts; an entry may have any form."""
    content = entry.get("content", entry.get("text"))
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))
