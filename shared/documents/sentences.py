"""Where sentences end in a text, in English and Chinese, and where else a sentence may be cut that is too long."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDE: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U0001f000-\U0003ffff]"
)
_WIDTH: Final = 2.5
"""What a Chinese character counts as many Latin ones for: it says about as much."""

# Each run of marks is looked at once, from its beginning: a million of them take no longer than a million words.
_LATIN: Final = r"(?<![.!?])[.!?]++[\"'”’)\]*_]*+(?=\s)"  # noqa: RUF001 - the closing quotes
_CHINESE: Final = r"[。！？]++[”’」』）)]*+|(?<!…)…++[”’」』）)]++"  # noqa: RUF001 - the same
_END: Final = re.compile(f"{_LATIN}|{_CHINESE}")
_SHORT: Final = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "nr", "vol", "fig", "figs", "eq", "sec", "ch", "pp"),
        *("approx", "dept", "est", "ca", "cf", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct"),
        *("nov", "dec"),
    )
)
"""What a full stop only shortens."""
_MAY_END: Final = frozenset(("etc", "inc", "ltd", "co", "corp", "no", "al", "a.m", "p.m", "u.s", "u.k"))
"""What may be the last word all the same; the next one tells."""
_SHORT_WORD: Final = re.compile(r"[A-Za-z](?:[A-Za-z.]{0,8}[A-Za-z])?$")
_OPENS: Final = re.compile(r"\s+[\"'“(\[]?[A-Z][a-z]*[, ](?![A-Z])|\s*\Z|\s*\n\s*\n")
_NUMBER: Final = re.compile(r"\s*\d")
_LOWER: Final = re.compile(r"\s*[a-z]")
_TITLE: Final = 40
_MARKS: Final = re.compile(r"[;；]\s*|[:：]\s+|[,，、]\s*")
_SPACES: Final = re.compile(r"\s+")
_RUN: Final = 64
"""The longest run of marks on one character that is kept whole."""


def size_of(text: str) -> float:
    """Return how much a text is, in Latin characters."""
    return len(text) if text.isascii() else len(text) + (_WIDTH - 1) * len(_WIDE.findall(text))


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the sentences from `start` on end, behind their marks and the white space after them; then `end`."""
    last = start
    for mark in _END.finditer(text, start, end):
        if _ends_here(text, mark):
            spaces = _SPACES.match(text, mark.end(), end)
            last = spaces.end() if spaces else mark.end()
            yield last
    if last < end:
        yield end


def cut_ends(text: str, start: int, end: int, *, most: float) -> Iterator[int]:
    """Yield where to cut what is longer than `most`: behind a clause, else behind a word, else between characters."""
    while size_of(text[start : min(end, start + int(most) + 1)]) > most:
        start = _last_cut(text, start, end, most=most)
        yield start
    yield end


def _last_cut(text: str, start: int, end: int, *, most: float) -> int:
    """Return the last good place to cut from `start` on, so that what is before it is at most `most`."""
    window = text[start : min(end, start + int(most))]
    while (size := size_of(window)) > most:
        window = window[: max(1, int(len(window) * most / size))]
    for good in (_MARKS, _SPACES):
        ends = [found.end() for found in good.finditer(window, len(window) // 2)]
        if ends:
            return start + ends[-1]
    last = start + len(window)
    places = range(last, max(start, last - _RUN), -1)
    return next((place for place in places if not _belongs(text, place)), last)


def _belongs(text: str, place: int) -> bool:
    """Tell whether the characters around a place are one to a reader."""
    before, after = text[place - 1], text[place]
    return (
        unicodedata.category(after).startswith("M")
        or "\u200d" in (before, after)
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # a hand's colour
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")  # a flag's letters
    )


def _ends_here(text: str, mark: re.Match[str]) -> bool:
    """Tell a sentence's end from an abbreviation's, an initial's, a list's number's, or an ellipsis in mid-sentence."""
    if mark[0][0] in "!?":
        return True
    if mark[0][0] != ".":
        return not _in_title(text, mark)
    if mark[0].startswith(".."):
        return not _LOWER.match(text, mark.end())
    word = _SHORT_WORD.search(text, max(0, mark.start() - 12), mark.start())
    return not (_is_short(text, mark, word[0]) if word else _counts(text, mark))


def _is_short(text: str, mark: re.Match[str], word: str) -> bool:
    """Tell whether the full stop after a word only shortens it."""
    if word.lower() == "p":
        return _NUMBER.match(text, mark.end()) is not None
    if word.lower() in _MAY_END:
        return _OPENS.match(text, mark.end()) is None
    return word.lower() in _SHORT or "." in word or (len(word) == 1 and word.isupper() and word != "I")


def _counts(text: str, mark: re.Match[str]) -> bool:
    """Tell whether the full stop stands after a line's number."""
    line = text.rfind("\n", max(0, mark.start() - 6), mark.start()) + 1
    return mark.start() - line < 5 and text[line : mark.start()].strip().isdigit()


def _in_title(text: str, mark: re.Match[str]) -> bool:
    """Tell whether the mark stands inside a title: 《摔跤吧！爸爸》."""
    before = text[max(0, mark.start() - _TITLE) : mark.start()]
    return before.rfind("《") > before.rfind("》") and "》" in text[mark.end() : mark.end() + _TITLE]
