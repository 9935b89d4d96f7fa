"""The block structure of CommonMark 0.31, line by line: where headings are, and what is open at the end.

Every line costs time in proportion to its length: no container is looked at twice, nothing backtracks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from shared.projects import markdown_leaves as leaves

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 32
"""Block quotes and list items inside one another; no author nests deeper, and what does is made text."""

_QUOTE = "> "
_NO = -1

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_ENDING = re.compile(r"\r\n?|\n")
_QUOTE_MARKER = re.compile(r" {0,3}> ?")
_ITEM_MARKER = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)")


_Beginning: TypeAlias = "Callable[[Blocks], int]"


class Heading(NamedTuple):
    """A heading: where its marks (`#`) or, underlined, its text and underline are in the source.

    `text` is that of an underlined heading on one line, and `prefix` what has to stand before it.
    """

    start: int
    end: int
    level: int
    text: str = ""
    prefix: str = ""


class Insert(NamedTuple):
    """Text to put into the source so that every reader takes a place as what it is."""

    start: int
    text: str


@dataclass(slots=True)
class Blocks:
    """A scan of a Markdown source; after `scan`, `found` is in the order of the source.

    `newline` is the source's own line ending.
    Containers are kept as what continues them on the next line: `> `, or an item's indentation.
    """

    source: str
    newline: str = "\n"
    found: list[Heading | Insert] = field(default_factory=list)
    _containers: list[str] = field(default_factory=list)
    _paragraph: list[tuple[int, int]] = field(default_factory=list)  # where each of its lines begins and ends
    _verbatim: leaves.Fence | leaves.Html | None = None
    _hollow: bool = False  # the innermost item has nothing in it yet
    # The line at hand without its end, tabs expanded: columns are then offsets, and half a tab can be used up.
    _text: str = ""
    _at: int = 0
    _length: int = 0
    _matched: int = 0
    _pos: int = 0
    _start: int = 0

    def scan(self) -> None:
        """Read the whole source."""
        if ending := _ENDING.search(self.source):
            self.newline = ending[0]
        empty = False
        for line in _LINE.findall(self.source):
            text = line.rstrip(" \t\r\n")
            if text or not empty:
                self._length = len(text)
                self._text = text.expandtabs(4) if "\t" in text else text
                self._read()
            empty = not text
            self._at += len(line)

    def closing(self) -> str:
        """Return the line that closes what is open at the end, empty when nothing is."""
        mark = self._verbatim.closing if self._verbatim else ""
        return mark and self._prefix() + mark

    def _prefix(self) -> str:
        """Return what goes before a line of its own in the open containers."""
        return "".join(self._containers)

    def _read(self) -> None:
        self._match()
        if not self._verbatim:
            self._open()
        elif self._matched < len(self._containers):
            self._close()
            self._open()
        elif self._verbatim.ended_by(self._text[self._pos :]):
            self._verbatim = None

    def _offset(self, column: int) -> int:
        """Return where in the source a column of the line is."""
        if len(self._text) == self._length:
            return self._at + column
        at, reached = self._at, 0
        while reached < column:
            reached += 4 - reached % 4 if self.source[at] == "\t" else 1
            at += 1
        return at

    def _match(self) -> None:
        """Find how many of the open containers the line continues, and where its own content begins."""
        text, pos, matched = self._text, 0, 0
        for container in self._containers:
            if text.startswith(container, pos):
                pos += len(container)
            elif container == _QUOTE and (marker := _QUOTE_MARKER.match(text, pos)):
                pos = marker.end()
            else:
                break
            matched += 1
        if pos >= len(text):
            matched = self._items_end(matched)
        self._matched, self._pos = matched, pos

    def _items_end(self, depth: int) -> int:
        """Return up to where a line with nothing more in it continues: through items, not through block quotes."""
        inner = self._containers[depth:]
        return depth + (inner.index(_QUOTE) if _QUOTE in inner else len(inner))

    def _close(self) -> None:
        """End the paragraph and the containers that the line does not continue."""
        del self._containers[self._matched :]
        if self._paragraph:
            self._paragraph = []
        self._verbatim = None
        self._hollow = False

    def _inside(self) -> bool:
        """Tell if the line could go on a paragraph without being lazy."""
        return bool(self._paragraph) and self._matched == len(self._containers)

    def _open(self) -> None:
        """Take what the line holds after the containers it continues."""
        text = self._text
        size = len(text)
        if self._pos >= size:
            self._blank()
        while (pos := self._pos) < size:
            self._start = pos if text[pos] != " " else size - len(text[pos:].lstrip(" "))
            beginnings = self._BEGINNINGS.get(text[self._start]) if self._start - pos < 4 else None
            after = self._begin(beginnings) if beginnings else _NO
            if after == _NO:
                self._go_on()
                return
            self._pos, self._matched = after, len(self._containers)

    def _blank(self) -> None:
        if self._hollow and self._matched == len(self._containers):
            self._matched -= 1
        self._close()

    def _begin(self, beginnings: tuple[_Beginning, ...]) -> int:
        """Begin a block; return where its own content begins, the line's end when it has it all."""
        for begin in beginnings:
            after = begin(self)
            if after != _NO:
                return after
        return _NO

    def _go_on(self) -> None:
        """Take the line as a paragraph's or, indented where none is open, as code."""
        if not self._paragraph:
            self._close()
            if self._start - self._pos >= 4:
                return
        self._paragraph.append((self._offset(self._start), self._at + self._length))

    def _all(self) -> int:
        self._close()
        return len(self._text)

    def _heading(self) -> int:
        level = leaves.heading_level(self._text, self._start)
        if not level:
            return _NO
        self.found.append(Heading(self._offset(self._start), self._at + self._length, level))
        return self._all()

    def _fence(self) -> int:
        fence = leaves.open_fence(self._text, self._start)
        if not fence:
            return _NO
        after = self._all()
        self._verbatim = fence
        return after

    def _html(self) -> int:
        html = leaves.open_html(self._text, self._start, in_paragraph=bool(self._paragraph))
        if not html:
            return _NO
        after = self._all()
        self._verbatim = None if html.ended_by(self._text[self._start :]) else html
        return after

    def _underline(self) -> int:
        mark = self._text[self._start]
        if not self._inside() or self._text[self._start :].strip(mark):
            return _NO
        texts = [self.source[start:end] for start, end in self._paragraph]
        first = leaves.count_definitions(texts)
        if first == len(texts):
            self._part_definitions()
            return _NO
        self._found_underlined(first, leaves.join_lines(texts[first:]), 1 if mark == "=" else 2)
        return self._all()

    def _found_underlined(self, first: int, text: str, level: int) -> None:
        """Note a heading that begins on a line of the paragraph, below its definitions if it has any."""
        start, prefix = self._paragraph[first][0], ""
        if first:
            start, prefix = self._paragraph[first - 1][1], self.newline + self._prefix()
        while self.found and self.found[-1].start >= start:
            self.found.pop()  # what was put into its text is not needed in a heading
        self.found.append(Heading(start, self._at + self._length, level, text, prefix))

    def _part_definitions(self) -> None:
        """Put a blank line after definitions: readers differ on what is one, and so on what is underlined."""
        self.found.append(Insert(self._paragraph[-1][1], self.newline + self._prefix().rstrip()))
        self._close()

    def _rule(self) -> int:
        return self._all() if leaves.is_rule(self._text, self._start) else _NO

    def _quote(self) -> int:
        if self._too_deep(self._start):
            return _NO
        self._close()
        self._containers.append(_QUOTE)
        return self._start + (2 if self._text.startswith(_QUOTE, self._start) else 1)

    def _item(self) -> int:
        marker = _ITEM_MARKER.match(self._text, self._start)
        if not marker:
            return _NO
        after, size = marker.end(), len(self._text)
        if self._inside() and (after == size or int(marker[1] or 1) != 1):
            return _NO
        if self._too_deep(after - 1):
            return _NO
        spaces = size - after - len(self._text[after:].lstrip(" "))
        content = after + (spaces if 1 <= spaces <= 4 else 1)
        self._close()
        self._containers.append(" " * (content - self._pos))
        self._hollow = after == size
        return min(content, size)

    def _too_deep(self, column: int) -> bool:
        if self._matched < MAX_DEPTH:
            return False
        self.found.append(Insert(self._offset(column), "\\"))
        return True

    _BEGINNINGS: ClassVar[dict[str, tuple[_Beginning, ...]]] = {
        "#": (_heading,),
        "`": (_fence,),
        "~": (_fence,),
        "<": (_html,),
        "=": (_underline,),
        "-": (_underline, _rule, _item),
        "*": (_rule, _item),
        "_": (_rule,),
        "+": (_item,),
        ">": (_quote,),
        **dict.fromkeys("0123456789", (_item,)),
    }
