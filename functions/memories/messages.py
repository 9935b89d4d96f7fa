"""The messages of an Add (seed, Add request body, `messages`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions.memories.parts import Numbers, Parts
from shared.memories.models import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions.memories.fields import Fields
    from functions.memories.limits import Limits

ROLES = ("user", "assistant")


@dataclass(frozen=True)
class Given:
    """One message with the fields that it came in and what its parts are."""

    fields: Fields
    message: Message
    parts: Parts


def messages_of(body: Fields, limits: Limits) -> list[Given]:
    """Return the messages of a body; of a broken one what can be read."""
    items = body.items("messages")
    if not items:
        if items is not None or "messages" not in body.given:
            body.refuse("messages", "At least one message is required", "missing")
        return []
    if len(items) > limits.messages:
        body.too_large("messages", f"At most {limits.messages} messages a request")
    numbers = Numbers()
    numbered = enumerate(body.objects("messages", items))
    return [_message_of(fields, Parts(position, numbers, limits)) for position, fields in numbered]


def _message_of(fields: Fields, parts: Parts) -> Given:
    role = fields.choice("role", ROLES)
    _read_content(fields, parts)
    at = fields.moment("timestamp", required=True)
    sender = fields.identifier("sender_id")
    message = Message("assistant" if role == "assistant" else "user", tuple(parts.kept), at, sender)
    return Given(fields, message, parts)


def _read_content(fields: Fields, parts: Parts) -> None:
    content = fields.given.get("content")
    if isinstance(content, str):
        text = fields.text("content")
        if text is not None and text.strip():
            parts.say(text)
        else:
            fields.refuse("content", "A content needs a character that is not white space", "string_blank")
    elif isinstance(content, list):
        for part in _each(fields, content):
            parts.read(part)
    elif "content" not in fields.given:
        fields.refuse("content", "Field required", "missing")
    else:
        fields.refuse("content", "Input should be a string or a list of parts", "content_type", value=content)


def _each(fields: Fields, content: list[object]) -> Iterator[Fields]:
    if not content:
        fields.refuse("content", "A list of parts needs at least one", "too_short")
    return fields.objects("content", content)
