"""JSON as language models write it: fenced, in prose, with a comma too many, a broken escape, or cut off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 32
CANDIDATES = 20
_SPACE = " \t\r\n"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_CUT_OFF = object()


def values_in(text: str) -> Iterator[tuple[Any, bool]]:
    """Yield each object and array that a text holds, and whether the text ends inside of it: then without its end."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        yield from _scattered(text)
    else:
        yield value, False


def _scattered(text: str) -> Iterator[tuple[Any, bool]]:
    at = 0
    for _ in range(CANDIDATES):
        at = min((found for found in (text.find("{", at), text.find("[", at)) if found >= 0), default=-1)
        if at < 0:
            return
        reader = _Reader(text, at)
        try:
            value = reader.value()
        except ValueError:
            at += 1
        else:
            yield value, reader.cut
            at = reader.at


class _Reader:
    """Reads one value from `at` on. Where the text ends inside of it (`cut`), what was whole by then is the value."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at
        self._depth = 0
        self.cut = False

    def value(self) -> Any:
        """Return the next value, or `_CUT_OFF` for a scalar that may go on behind the text's end."""
        self._skip(_SPACE)
        if self._next in "{[" and self._next:
            return self._nested()
        return self._string() if self._next in ('"', "'") else self._word()

    @property
    def _next(self) -> str:
        return self._text[self.at : self.at + 1]

    def _skip(self, characters: str) -> None:
        while self._next and self._next in characters:
            self.at += 1

    def _nested(self) -> Any:
        self._depth += 1
        if self._depth > DEPTH:
            raise ValueError("too deep")
        value = self._object() if self._next == "{" else self._array()
        self._depth -= 1
        return value

    def _object(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.at += 1
        while not self._ends("}"):
            key = self._string()
            self._skip(_SPACE)
            if self._next and self._next != ":":
                raise ValueError("no colon")
            self.at += 1
            value = self.value()
            if value is not _CUT_OFF:
                members[str(key)] = value
        return members

    def _array(self) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while not self._ends("]"):
            value = self.value()
            if value is not _CUT_OFF and not (self.cut and value in ({}, [])):
                items.append(value)
        return items

    def _ends(self, bracket: str) -> bool:
        self._skip(_SPACE + ",")
        self.cut = self.cut or not self._next
        if self._next == bracket:
            self.at += 1
            return True
        return self.cut

    def _string(self) -> Any:
        quote = self._next
        if quote not in ('"', "'"):
            raise ValueError("no string")
        self.at += 1
        said: list[str] = []
        while self._next and not self._closes(quote):
            said.append(self._escaped() if self._next == "\\" else self._next)
            self.at += 1
        self.cut = not self._next
        self.at += 1
        return _CUT_OFF if self.cut else "".join(said).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _closes(self, quote: str) -> bool:
        """Tell a closing quote from one that was left unescaped: something of JSON's own follows it."""
        if self._next != quote:
            return False
        behind = self._text[self.at + 1 : self.at + 200]
        return behind.lstrip(_SPACE)[:1] in ",:}]"

    def _escaped(self) -> str:
        """Return what an escape stands for and go to its last character; a broken one stands for itself."""
        named = self._text[self.at + 1 : self.at + 2]
        if named == "u":
            try:
                code = int(self._text[self.at + 2 : self.at + 6].ljust(4, "?"), 16)
            except ValueError:
                return "\\"
            self.at += 5
            return chr(code)
        if named not in _ESCAPES or not named:
            return "\\"
        self.at += 1
        return _ESCAPES[named]

    def _word(self) -> Any:
        start = self.at
        while self._next and (self._next.isalnum() or self._next in "+-."):
            self.at += 1
        word = self._text[start : self.at]
        if not self._next:
            self.cut = True
            return _CUT_OFF
        return _WORDS[word] if word in _WORDS else json.loads(word)
