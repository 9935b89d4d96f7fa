"""What an Add is once it is accepted, and what a memory is (contract "memories"; seed, Add request body)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """One message; its parts are texts, images and files, in order.

    A text is `{"type": "text", "text"}`, an image `{"type": "image", "n", "file_id", "caption", "detail"}`, a file
    `{"type": "file", "n", "file_id", "filename"}`; `n` counts both in the request, and their bytes are objects.
    """

    role: Literal["user", "assistant"]
    parts: tuple[dict[str, Any], ...]
    at: int | None = None
    sender_id: str | None = None

    @property
    def text(self) -> str:
        """What was said, its text parts line by line."""
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def captions(self) -> tuple[str, ...]:
        """What its images show, as far as that is known."""
        return tuple(part["caption"] for part in self.parts if part["type"] == "image" and part["caption"])

    def told(self, name: str, values: Mapping[int, str]) -> Message:
        """Return it with something more said of its images and files, by their `n`."""
        more = ({**part, name: values[part["n"]]} if part.get("n") in values else part for part in self.parts)
        return replace(self, parts=tuple(more))


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

    def attached(self, files: Mapping[int, str]) -> Add:
        """Return the same request with the ids of its files and images, by their `n`."""
        return replace(self, messages=tuple(message.told("file_id", files) for message in self.messages))

    def captioned(self, captions: Mapping[int, str]) -> Add:
        """Return the same request with what images show that it came without, by their `n`."""
        return replace(self, messages=tuple(message.told("caption", captions) for message in self.messages))

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
