"""A language model on Bedrock: it is asked for JSON of a schema, or in words, and what it says comes back as text."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.models.bedrock import Bedrock
    from shared.models.port import Picture

# Families that can be made to answer through a tool, that is, in the form of its schema. Others are asked in words.
_WITH_TOOLS = ("anthropic.", "amazon.nova")
_UNSAID = "(nothing)"  # a message may not be blank


@dataclass(frozen=True)
class Usage:
    """What was asked of models: calls that were answered, and tokens."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        calls, read = self.calls + other.calls, self.input_tokens + other.input_tokens
        return Usage(calls, read, self.output_tokens + other.output_tokens)


@dataclass(frozen=True)
class Said:
    """One message of a conversation with the model, with the picture that it is about."""

    role: Literal["user", "assistant"]
    text: str
    picture: Picture | None = None


@dataclass(frozen=True)
class Form:
    """What the answer should look like: the tool's name and purpose, and a JSON schema of an object."""

    name: str
    purpose: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the model said; `cut`: it had more to say than it was given tokens for; `stopped`: why it ended."""

    text: str
    cut: bool
    usage: Usage
    stopped: str = field(default="", compare=False)


@dataclass(frozen=True)
class Budget:
    """What one question may cost: tokens of its answer, and the moment (seconds, monotonic) it must be there."""

    tokens: int
    until: float

    @property
    def seconds(self) -> float:
        """How long there is."""
        return self.until - time.monotonic()


class Converse:
    """One model, by its id or that of an inference profile."""

    def __init__(self, bedrock: Bedrock, model: str) -> None:
        self._bedrock = bedrock
        self.model = model
        self._with_tools = any(family in model for family in _WITH_TOOLS)

    def ask(self, system: str, said: Sequence[Said], form: Form | None, *, budget: Budget) -> Reply:
        """Return the model's answer to the last message, as near to deterministic as it can be; without form, in words.

        Raises:
            Unavailable: it can't be asked now, or the time is over.
            ModelRefused: it will not answer until somebody changes what the message says.
        """
        request: dict[str, Any] = {
            "system": [{"text": system}],
            "messages": [{"role": m.role, "content": _content(m)} for m in said],
            "inferenceConfig": {"maxTokens": budget.tokens, "temperature": 0.0},
        }
        if self._with_tools and form is not None:
            request["toolConfig"] = _tool(form)
        return _reply(self._bedrock.converse(self.model, request, budget.seconds))


def _content(said: Said) -> list[dict[str, Any]]:
    text = {"text": said.text.strip() or _UNSAID}
    if said.picture is None:
        return [text]
    return [{"image": {"format": said.picture.form, "source": {"bytes": said.picture.content}}}, text]


def _tool(form: Form) -> dict[str, Any]:
    described = {"name": form.name, "description": form.purpose, "inputSchema": {"json": form.schema}}
    return {"tools": [{"toolSpec": described}], "toolChoice": {"tool": {"name": form.name}}}


def _reply(answer: Mapping[str, Any]) -> Reply:
    content = answer.get("output", {}).get("message", {}).get("content", [])
    given = [json.dumps(part["toolUse"]["input"], ensure_ascii=False) for part in content if "toolUse" in part]
    text = given[0] if given else "".join(part.get("text", "") for part in content)
    used = answer.get("usage", {})
    usage = Usage(1, used.get("inputTokens", 0), used.get("outputTokens", 0))
    stopped = str(answer.get("stopReason", ""))
    return Reply(text, stopped == "max_tokens", usage, stopped)
