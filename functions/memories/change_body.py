"""The body of a change to a memory (contract "memories", Beyond the document)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from functions.memories.bodies import metadata_in
from functions.memories.fields import NUL, Fields
from shared.memories.changing import ChangeWish
from shared.memories.views import own_metadata

if TYPE_CHECKING:
    from functions.memories.limits import Limits

CATEGORIES: Final = 50
CATEGORY_CHARACTERS: Final = 64


def change_wish(body: Any, limits: Limits) -> ChangeWish:
    """Return a checked change.

    Raises:
        InvalidInput: names each field and its rule; or the body names nothing to change.
        TooLarge: over a limit.
    """
    fields = Fields.of_body(body)
    text = _text_of(fields, limits)
    metadata = metadata_in(fields, limits)
    immutable = fields.flag("immutable", default=False) if fields.given.get("immutable") is not None else None
    wish = ChangeWish(text, None if metadata is None else own_metadata(metadata), _categories_of(fields), immutable)
    fields.check()
    if wish == ChangeWish():
        fields.refuse("memory", "Give memory, metadata, categories or immutable", "missing")
        fields.check()
    return wish


def _text_of(fields: Fields, limits: Limits) -> str | None:
    text = fields.text("memory", nullable=True)
    if text is None:
        return None
    if not text.strip():
        fields.refuse("memory", "memory must have a character that is not space", "string_too_short", value=text)
    if len(text) > limits.code_message_characters:
        fields.too_large("memory", f"At most {limits.code_message_characters} characters")
    return text


def _categories_of(fields: Fields) -> tuple[str, ...] | None:
    if fields.given.get("categories") is None:
        return None
    given = fields.items("categories")
    if given is None:
        return None
    words = [word.replace(NUL, "").strip() for word in given if type(word) is str]
    right = len(words) == len(given) and all(0 < len(word) <= CATEGORY_CHARACTERS for word in words)
    if len(given) > CATEGORIES or not right:
        message = f"At most {CATEGORIES} strings of 1 to {CATEGORY_CHARACTERS} characters"
        fields.refuse("categories", message, "list_type", value=given)
        return None
    return tuple(dict.fromkeys(words))
