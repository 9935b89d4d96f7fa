"""What was said just before a request (`window_context`), in whatever form it was told."""

from __future__ import annotations

from typing import Any

Entry = dict[str, Any]


def said_in(entry: Entry) -> str:
    """Return what an entry says: its content, a text or a list of parts."""
    content = entry.get("content", entry.get("text"))
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))
