"""Questions that only make sense beside what was said before: "and there?", "what about him", "那里呢".

By rules: a question that refers is asked a second time, together with what the conversation was last about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from shared.memories.context import said_in
from shared.search.asking import QUESTION_CHARACTERS, QUESTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.memories.context import Entry

LOOKED_AT: Final = 6
"""How many entries back a name is looked for."""
NAMES: Final = 8
WORDS: Final = 16
CHARACTERS: Final = 80
STANDS_ALONE: Final = 40
"""A question of so many words says itself what it points at; more would only draw it away."""

_REFERRING: Final = re.compile(
    r"\b(?:he|him|his|she|her|hers|they|them|their|theirs|it|its|this|these|the same|the other|the former|the latter)\b"
    r"|\b(?:that|those)\b(?=\s*(?:ones?\b|[?.!,;]|$))"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b(?!\s+(?:is|are|was|were|any|some|a)\b)"
    r"|\bthen\b(?=\s*[?.!]|$)"
    r"|^\W*(?:and|or|also|what about|how about)\b",
    re.IGNORECASE,
)
_REFERRING_CHINESE: Final = re.compile(
    "(?<![其吉])他|她|它|那里|那儿|那边|那个|那些|那位|那时|那次|那家|这里|这儿|这边|这个|这些|这位|这次|这家|前者|后者|刚才|"
    r"呢[？?。！!\s]*$|^\W*(?:那|还有)"
)
_HAN: Final = re.compile("[\u3400-\u9fff]")
_WORD: Final = re.compile(r"[^\W_](?:[\w'.-]*\w)?")
_SENTENCE: Final = re.compile(r"(?:^|[.!?。！？\n])\s*$")
_CHINESE_SENTENCES: Final = re.compile("[。！？!?\n]+")


def rewritten(query: str, context: Sequence[Entry]) -> str | None:
    """Return the question together with what it refers to, or None where it stands for itself or nothing is known."""
    if not context or not refers(query):
        return None
    subject = _subject([said_in(entry) for entry in context[-LOOKED_AT:]])
    return f"{query} {subject}" if subject else None


def refers(query: str) -> bool:
    """Tell whether a question points at something that was said before it."""
    words = [word.casefold() for word in _WORD.findall(query)]
    if len(words) >= STANDS_ALONE:
        return False
    if _REFERRING.search(query) or _REFERRING_CHINESE.search(query):
        return True
    return not _HAN.search(query) and all(word in QUESTION_WORDS for word in words)


def _subject(texts: list[str]) -> str:
    """Return the names in the newest text that has some; without any, what the newest text is about."""
    newest_first = [text for text in reversed(texts) if text.strip()]
    for text in newest_first:
        if _HAN.search(text):
            return _chinese(text)
        if names := _names(text):
            return " ".join(names)
    return " ".join(_words(newest_first[0])) if newest_first else ""


def _names(text: str) -> list[str]:
    """Return words written like names: capitals that no beginning of a sentence explains, digits inside words.

    Numbers and measures are told beside names ("Gate 42") and are none by themselves ("3 tickets", "at 3pm").
    """
    found = []
    for match in _WORD.finditer(text):
        word = match[0]
        plain = word.casefold() in QUESTION_WORDS or (word == "I")
        begins = _SENTENCE.search(text, 0, match.start()) is not None
        if not plain and (_is_identifier(word) or (word[0].isupper() and not begins)):
            found.append(word)
    named = any(not word[0].isdigit() or any(c.isupper() for c in word) for word in found)
    return list(dict.fromkeys(found))[-NAMES:] if named else []


def _is_identifier(word: str) -> bool:
    return any(c in "_." or c.isdigit() for c in word) or any(c.isupper() for c in word[1:])


def _words(text: str) -> list[str]:
    words = [word for word in _WORD.findall(text) if word.casefold() not in QUESTION_WORDS]
    return list(dict.fromkeys(words))[-WORDS:]


def _chinese(text: str) -> str:
    sentences = [sentence for sentence in _CHINESE_SENTENCES.split(text) if sentence.strip()]
    return QUESTION_CHARACTERS.sub(" ", sentences[-1])[-CHARACTERS:].strip() if sentences else ""
