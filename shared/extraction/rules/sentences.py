"""Where sentences end, in English and Chinese, in one pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.fingerprint import HAN
from shared.extraction.script import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 600
"""A fact is no longer than this (characters); what has no sentence end for longer is not a sentence."""

_END = re.compile(rf"[.!?;]+['\"\u201d\u2019)\]]*(?=\s|$|[{HAN}])|[。！？；…]+['\"\u201d\u2019」』）)]*")
_SHORT = frozenset(words("mr mrs ms dr prof st sr jr vs etc inc ltd co corp no nr vol fig approx dept est")) | {
    "e.g",
    "i.e",
    "a.m",
    "p.m",
    "u.s",
    "u.k",
}
_TITLE = 40
_MAY_END = frozenset(("etc", "inc", "ltd", "co", "corp", "no", "a.m", "p.m", "u.s", "u.k"))
_SHORT_WORD = re.compile(r"[A-Za-z](?:[A-Za-z.]{0,8}[A-Za-z])?$")
_OPENS_SENTENCE = re.compile(r"\s+(?:[A-Z][a-z]*|I'\w+)[, ](?![A-Z])|\s*$")
_OPENS_LOWER = re.compile(r"\s*[a-z]")
_GOES_ON = re.compile(r"[A-Za-z0-9,\u2019']\s*$")


def sentences(lines: Sequence[str]) -> Iterator[str]:
    """Yield the sentences of lines, trimmed; a line that was only wrapped is joined to the next."""
    for paragraph in _joined(lines):
        yield from _split(paragraph)


def _joined(lines: Sequence[str]) -> Iterator[str]:
    waiting: list[str] = []
    for line in lines:
        if waiting and not (_GOES_ON.search(waiting[-1][-4:]) and _OPENS_LOWER.match(line[:20])):
            yield " ".join(waiting)
            waiting = []
        waiting.append(line.strip())
    yield " ".join(waiting)


def _split(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if (end[0].startswith(".") and not _ends_here(text, end)) or _in_title(text, end):
            continue
        yield from _trimmed(text[start : end.end()])
        start = end.end()
    yield from _trimmed(text[start:])


def _ends_here(text: str, end: re.Match[str]) -> bool:
    """Tell a full stop from that of an abbreviation, an initial, a list's number, or an ellipsis in mid-sentence."""
    if end[0].startswith(".."):
        return not _OPENS_LOWER.match(text, end.end())
    before = text[max(0, end.start() - 12) : end.start()]
    word = _SHORT_WORD.search(before)
    if word is None:
        return not before.strip().isdigit() or end.start() > 3
    if word[0].lower() in _MAY_END:
        return _OPENS_SENTENCE.match(text, end.end()) is not None
    return word[0].lower() not in _SHORT and not (len(word[0]) == 1 and word[0].isupper() and word[0] != "I")


def _in_title(text: str, end: re.Match[str]) -> bool:
    """Tell whether the mark stands inside a title: 《摔跤吧！爸爸》."""
    before = text[max(0, end.start() - _TITLE) : end.start()]
    return before.rfind("《") > before.rfind("》") and "》" in text[end.end() : end.end() + _TITLE]


def _trimmed(sentence: str) -> Iterator[str]:
    bare = sentence.strip().rstrip(";；").strip()
    if bare:
        yield bare
