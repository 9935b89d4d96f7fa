"""What an Add is once it is accepted, and what a memory is (contract "memories"; seed, Add request body)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

Mode = Literal["default", "raw", "pre_summarized"]
Kind = Literal["summary", "fact", "raw", "chunk"]
OutputMode = Literal["summary", "facts", "raw"]

MODES_OF_KIND: dict[Kind, tuple[OutputMode, ...]] = {
    "summary": ("summary",),
    "fact": ("facts",),
    "raw": ("raw",),
    "chunk": ("facts",),
}
"""Which output mode searches which kind; what was written in mode `raw` is found in every one (contract, Kinds)."""

KINDS: tuple[Kind, ...] = tuple(MODES_OF_KIND)

EVERY_MODE: tuple[OutputMode, ...] = ("summary", "facts", "raw")


@dataclass(frozen=True)
class Message:
    """One message. `parts` are `{"type": "text", "text"}`; later images and files too, their bytes as objects."""

    role: Literal["user", "assistant"]
    parts: tuple[dict[str, Any], ...]
    at: int | None = None
    sender_id: str | None = None

    @property
    def text(self) -> str:
        """What was said, its text parts line by line."""
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")


@dataclass(frozen=True)
class ChunkPlace:
    """Which part of a group a request is; `index` counts from 0."""

    group_id: str
    index: int
    count: int


@dataclass(frozen=True)
class Add:
    """A checked Add request: everything the worker needs, as its payload object has it.

    `content_type` is what the caller said (`dialogue` is `auto`); `language` is `zh`, `en` or `source`;
    `at` is the request's event time (ms), None where it is -1 or not given; `key_id` the API key's id.
    """

    user_id: str
    messages: tuple[Message, ...]
    mode: Mode = "default"
    content_type: Literal["auto", "work", "code", "document"] = "auto"
    language: str = "zh"
    agent_id: str | None = None
    app_id: str | None = None
    session_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    at: int | None = None
    add_only: bool = False
    instructions: str | None = None
    chunk: ChunkPlace | None = None
    context: tuple[dict[str, Any], ...] = ()
    key_id: str = ""

    def by(self, key_id: str) -> Add:
        """Return the same request with the key that it came with."""
        return replace(self, key_id=key_id)

    def to_json(self) -> dict[str, Any]:
        """Return the payload."""
        messages = [dict(vars(message)) for message in self.messages]
        chunk = None if self.chunk is None else dict(vars(self.chunk))
        return {**vars(self), "messages": messages, "chunk": chunk}

    @classmethod
    def from_json(cls, payload: dict[str, Any]) -> Add:
        """Return the request of a payload."""
        messages = tuple(Message(**{**m, "parts": tuple(m["parts"])}) for m in payload["messages"])
        chunk = ChunkPlace(**payload["chunk"]) if payload["chunk"] else None
        return cls(**{**payload, "messages": messages, "chunk": chunk, "context": tuple(payload["context"])})
