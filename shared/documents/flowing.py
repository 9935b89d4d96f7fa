"""Cleans the text that libraries tell, and puts the lines of a page together to paragraphs again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNWRITTEN: Final = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\ufffe\\uffff]")
_ENDS: Final = (".", "!", "?", ":", ";", "。", "！", "？", "：", "；", "”", '."', "…")
_LEAST_WIDTH: Final = 40
_FULL: Final = 0.7
_HAN: Final = "\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"
_PARTED: Final = re.compile(f"(?<=^[{_HAN}])\n(?=[{_HAN}])|(?<=[{_HAN}])\n(?=[{_HAN}]$)", re.MULTILINE)


def flowed(lines: Sequence[str]) -> str:
    """Return lines as paragraphs: a full line goes on in the next, a sentence's end on a shorter one ends a paragraph.

    Lines that end a sentence, or are short among others, as of tables and lists, stay lines. Chinese is put together
    without a space, and characters that stand alone in their lines are joined first.
    """
    lines = _PARTED.sub("", "\n".join(lines)).split("\n")
    widths = [_width(line) for line in lines]
    full = _FULL * max(_LEAST_WIDTH, sorted(widths)[len(widths) * 9 // 10])
    parts: list[str] = []
    for line, next_line, width in zip(lines, [*lines[1:], ""], widths, strict=True):
        parts += [line, _between(line, next_line, is_full=width >= full)]
    return "".join(parts).strip()


def _between(line: str, next_line: str, *, is_full: bool) -> str:
    if line.endswith(_ENDS):
        return "\n" if is_full else "\n\n"
    if not is_full:
        return "\n"
    return "" if next_line and _is_wide(line[-1]) and _is_wide(next_line[0]) else " "


def _width(line: str) -> float:
    return (len(line) + len(line.encode("utf-8", "replace"))) / 2  # Chinese takes three bytes and the place of two


def _is_wide(character: str) -> bool:
    return character >= "\u2e80"


def without_controls(text: str) -> str:
    """Return a text without what is no character of any writing."""
    return _UNWRITTEN.sub("", text)
