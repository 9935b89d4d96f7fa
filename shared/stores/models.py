"""The bodies that memory stores take in, and the rules of their fields (contract "memory stores", §3 to §5).

They are checked by tables and not by pydantic, whose import would cost a cold start more than all of these
(see `docs/decisions/0006-no-pydantic-on-the-hot-path.md`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

from shared.kernel.errors import InvalidInput, Violation
from shared.stores.records import PATH_BYTES, SEGMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item

    Rule = Callable[[Any], str | None]
    """Returns what is wrong with a value, or None."""

NAME_CHARACTERS = 255
DESCRIPTION_CHARACTERS = 1024
METADATA_PAIRS = 16
METADATA_KEY_CHARACTERS = 64
METADATA_VALUE_CHARACTERS = 512
CONTENT_BYTES = 102_400
SHA256 = re.compile(r"[0-9a-f]{64}")

_NO_STRING = "Input should be a valid string"
_NO_OBJECT = "Input should be an object"


@dataclass(frozen=True)
class Content:
    """A memory's text, as the bytes that are stored, and their SHA-256 in hexadecimal."""

    text: str
    body: bytes
    sha256: str

    @classmethod
    def of(cls, text: str) -> Content:
        """Return a text with what is known of it."""
        body = text.encode()
        return cls(text, body, sha256(body).hexdigest())


@dataclass(frozen=True)
class NewStore:
    """What a new store shall be."""

    name: str
    description: str
    metadata: dict[str, str]

    @classmethod
    def of(cls, body: Any) -> NewStore:
        """Return what a body asks for, or raise InvalidInput."""
        given = _checked(body, _NEW_STORE, "name")
        return cls(given["name"], given.get("description") or "", given.get("metadata") or {})


@dataclass(frozen=True)
class StoreChange:
    """What to change of a store; None: nothing, but None in `metadata` removes the key."""

    name: str | None
    description: str | None
    metadata: dict[str, str | None]

    @classmethod
    def of(cls, body: Any) -> StoreChange:
        """Return what a body asks for, or raise InvalidInput."""
        given = _checked(body, _STORE_CHANGE)
        return cls(given.get("name"), given.get("description"), given.get("metadata") or {})


@dataclass(frozen=True)
class NewMemory:
    """What a new memory shall be."""

    path: str
    content: Content

    @classmethod
    def of(cls, body: Any) -> NewMemory:
        """Return what a body asks for, or raise InvalidInput."""
        given = _checked(body, _NEW_MEMORY, "path", "content")
        return cls(given["path"], Content.of(given["content"]))


@dataclass(frozen=True)
class Wish:
    """What an update asks for: content, path, and the SHA-256 that the stored content must have; None: nothing."""

    content: Content | None
    path: str | None
    expected: str | None

    @classmethod
    def of(cls, body: Any) -> Wish:
        """Return what a body asks for, or raise InvalidInput."""
        given = _checked(body, _MEMORY_CHANGE)
        content, condition = given.get("content"), given.get("precondition") or {}
        return cls(None if content is None else Content.of(content), given.get("path"), condition.get("content_sha256"))

    def holds(self, head: Item) -> bool:
        """Tell whether a memory is already as it is asked for."""
        same_content = self.content is None or self.content.sha256 == head["sha256"]
        return same_content and self.path in (None, head["l1"])


def check_nothing(body: Any) -> None:
    """Refuse a body that is not empty or `{}`, for a command that takes none, by InvalidInput."""
    _checked(body, {})


def broken_rule(path: str) -> str | None:
    """Return the rule that a path breaks, or None (contract §5.3, "Path rules")."""
    if len(path) > PATH_BYTES or len(path.encode()) > PATH_BYTES:
        return f"A path has at most {PATH_BYTES} bytes of UTF-8"
    segments = path.split("/")[1:]
    rules = (
        ("A path starts with '/'", path.startswith("/")),
        (f"A path has at most {SEGMENTS} segments", len(segments) <= SEGMENTS),
        ("A path has no empty segment and does not end in '/'", all(segments)),
        ("A path has no segment '.' or '..'", not {".", ".."} & set(segments)),
        ("A path has no control or format characters", not _has(path, "Cc", "Cf", "Zl", "Zp")),
        ("A path is in Unicode's normalization form C", unicodedata.is_normalized("NFC", path)),
    )
    return next((rule for rule, holds in rules if not holds), None)


def _has(text: str, *categories: str) -> bool:
    return any(unicodedata.category(letter) in categories for letter in text)


def _characters(low: int, high: int) -> Rule:
    def rule(value: Any) -> str | None:
        if type(value) is not str:
            return _NO_STRING
        return None if low <= len(value) <= high else f"String should have {low} to {high} characters"

    return rule


def _name(value: Any) -> str | None:
    broken = _characters(1, NAME_CHARACTERS)(value)
    return broken or ("Control characters are not allowed" if _has(value, "Cc") else None)


def _path(value: Any) -> str | None:
    return broken_rule(value) if type(value) is str else _NO_STRING


def _content(value: Any) -> str | None:
    if type(value) is not str:
        return _NO_STRING
    fits = len(value) <= CONTENT_BYTES and len(value.encode()) <= CONTENT_BYTES
    return None if fits else f"A memory has at most {CONTENT_BYTES} bytes of UTF-8"


def _metadata(*, patch: bool) -> Rule:
    key_rule, value_rule = _characters(1, METADATA_KEY_CHARACTERS), _characters(0, METADATA_VALUE_CHARACTERS)

    def rule(value: Any) -> str | None:
        if type(value) is not dict:
            return _NO_OBJECT
        if not patch and len(value) > METADATA_PAIRS:
            return f"At most {METADATA_PAIRS} pairs"
        keys = (f"A key: {broken}" for key in value if (broken := key_rule(key)))
        kept = ((key, text) for key, text in value.items() if not (patch and text is None))
        values = (f"The value of '{key}': {broken}" for key, text in kept if (broken := value_rule(text)))
        return next(chain(keys, values), None)

    return rule


def _precondition(value: Any) -> str | None:
    if type(value) is not dict or value.keys() != {"type", "content_sha256"} or value["type"] != "content_sha256":
        return "Input should be {type: 'content_sha256', content_sha256: …}"
    digest = value["content_sha256"]
    fits = type(digest) is str and SHA256.fullmatch(digest)
    return None if fits else "content_sha256 should be 64 lower-case hexadecimal characters"


def _or_null(rule: Rule) -> Rule:
    return lambda value: None if value is None else rule(value)


_DESCRIPTION = _or_null(_characters(0, DESCRIPTION_CHARACTERS))
_NEW_STORE = {"name": _name, "description": _DESCRIPTION, "metadata": _or_null(_metadata(patch=False))}
_STORE_CHANGE = {"name": _or_null(_name), "description": _DESCRIPTION, "metadata": _or_null(_metadata(patch=True))}
_NEW_MEMORY: dict[str, Rule] = {"path": _path, "content": _content}
_MEMORY_CHANGE = {"path": _or_null(_path), "content": _or_null(_content), "precondition": _or_null(_precondition)}


def _checked(body: Any, rules: Mapping[str, Rule], *required: str) -> dict[str, Any]:
    """Return a body whose fields are known and keep their rules.

    Raises:
        InvalidInput: lists each broken rule; `loc` starts at `body`.
    """
    if not isinstance(body, dict):
        raise InvalidInput.at("body", message=_NO_OBJECT, type_="dict_type")
    missing = [Violation(("body", name), "Field required", "missing") for name in required if name not in body]
    extra = [
        Violation(("body", name[:200]), "Extra inputs are not permitted", "extra_forbidden")
        for name in body
        if name not in rules
    ]
    broken = [
        Violation(("body", name), complaint)
        for name, rule in rules.items()
        if name in body and (complaint := rule(body[name]))
    ]
    if found := [*missing, *extra, *broken]:
        raise InvalidInput(*found)
    return body
