"""Markdown: its headings make sections, whoever wrote it, a person or a converter of another format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from shared.documents.port import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENOUGH: Final = 32 * 1024
"""The characters of a section that are held; a longer one is yielded in parts, which end with paragraphs."""
_HEADING: Final = 200
"""The characters of a heading that lead to what is under it."""

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
_CLOSING: Final = re.compile(r"(?:(?<=\s)|^)#+\s*$")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)\s*$")
_NO_TITLE: Final = re.compile(r" {4}|\t|\s*(?:[>|#]|[-*+][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3}|(?:[-*_][ \t]*){3,}$)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$", re.DOTALL)

_IMAGE: Final = re.compile(r"!\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_LINK: Final = re.compile(r"\[([^\[\]]+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_STRONG: Final = re.compile(r"(?<![\\*\w])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*\\])\1(?![*\w])")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKED: Final = re.compile(r"[\\*\[<]")
_COMMENT: Final = re.compile(r"<!--(?:(?!<!--|-->).)*-->")


def sections_of_markdown(
    pieces: Iterable[str], *, page: int | None = None, sheet: str | None = None, converted: bool = False
) -> Iterator[Section]:
    """Yield the sections of a Markdown text, which may come in any pieces; a heading is the first line of its section.

    `converted` says that another format was made Markdown: then escapes, emphasis and targets of links, which its
    author never saw, are taken away; what a person wrote as Markdown stays as it was written.
    """
    reading = _Reading(page, sheet, converted=converted)
    for line in _lines(pieces):
        yield from reading.read(line)
    yield from reading.rest()


def plain_of(line: str) -> str:
    """Return a line's text without escapes, emphasis, comments, pictures and the targets of links."""
    if not _MARKED.search(line):
        return line
    for marks in (_COMMENT, _IMAGE, _LINK):
        line = marks.sub(r"\1" if marks.groups else "", line)
    return _ESCAPE.sub(r"\1", _STRONG.sub(r"\2", _STRONG.sub(r"\2", line)))


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield lines without their ends."""
    parts: list[str] = []
    for piece in pieces:
        first, *others = piece.split("\n")
        parts.append(first)
        for other in others:
            yield "".join(parts)
            parts = [other]
    if last := "".join(parts):
        yield last


class _Reading:
    """A reading of Markdown, line by line."""

    def __init__(self, page: int | None, sheet: str | None, *, converted: bool) -> None:
        self._page, self._sheet, self._converted = page, sheet, converted
        self._path: list[tuple[int, str]] = []
        self._held: list[str] = []
        self._size = 0
        self._only_headings = True
        self._fence = ""
        self._front: bool | None = None  # in front matter; None before the first line

    def read(self, line: str) -> Iterator[Section]:
        """Take a line, and yield what ends before it."""
        if not line and not self._fence and self._front is False:
            yield from self._blank()
            return
        if self._is_front(line) or self._is_code(line):
            self._hold(line)
        elif found := _ATX.match(line):
            yield from self._heading(len(found[1]), _CLOSING.sub("", found[2] or ""))
        elif (found := _SETEXT.match(line)) and self._is_title():
            title = self._held.pop()
            yield from self._heading(1 if found[1][0] == "=" else 2, title)
        else:
            self._hold(plain_of(line) if self._converted else line)
            if self._size > _ENOUGH and not line.strip():
                yield from self._section()

    def _blank(self) -> Iterator[Section]:
        """End a paragraph; a second blank line says nothing more."""
        if self._held and self._held[-1]:
            self._held.append("")
            self._size += 1
        if self._size > _ENOUGH:
            yield from self._section()

    def rest(self) -> Iterator[Section]:
        """Yield what is held."""
        yield from self._section()

    def _heading(self, level: int, written: str) -> Iterator[Section]:
        title = plain_of(written).strip().strip("*_`").strip()
        if not self._only_headings:
            yield from self._section()
        self._path = [(depth, above) for depth, above in self._path if depth < level]
        if title:
            self._path.append((level, title[:_HEADING]))
            self._held += ("", title, "") if self._held and self._held[-1].strip() else (title, "")
            self._size += len(title) + 2

    def _section(self) -> Iterator[Section]:
        text = "\n".join(self._held).strip("\n")
        self._held, self._size, self._only_headings = [], 0, True
        if text.strip():
            yield Section(text, tuple(title for _, title in self._path), self._page, self._sheet)

    def _hold(self, line: str) -> None:
        if self._only_headings and not line.strip():
            return
        self._held.append(line)
        self._size += len(line) + 1
        self._only_headings = False

    def _is_front(self, line: str) -> bool:
        """Tell whether the line is of the front matter, in which nothing is a heading."""
        if self._front is None:
            self._front = line.rstrip() == "---" and not self._converted
            return self._front
        was, self._front = self._front, self._front and line.rstrip() not in {"", "---", "..."}
        return was

    def _is_code(self, line: str) -> bool:
        """Tell whether the line is of a block of code, its fences included."""
        fence = _FENCE.match(line)
        if not self._fence:
            if fence and not (fence[1][0] == "`" and "`" in fence[2]):
                self._fence = fence[1]
            return bool(self._fence)
        if fence and fence[1].startswith(self._fence) and not fence[2].strip():
            self._fence = ""
        return True

    def _is_title(self) -> bool:
        """Tell whether the line before is a paragraph of one line, so that one of marks below makes it a heading."""
        if not self._held or not self._held[-1].strip() or _NO_TITLE.match(self._held[-1]):
            return False
        return len(self._held) == 1 or not self._held[-2].strip()
