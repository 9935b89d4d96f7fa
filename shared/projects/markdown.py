"""A task's Markdown made safe to stand inside one section of a larger document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.projects.markdown_blocks import Blocks, Heading

if TYPE_CHECKING:
    from collections.abc import Iterator

PUSH = 2
LOWEST = 6

_MAY_HAVE_STRUCTURE = re.compile(
    r"[#\r\n`~<](?:"  # one set to begin with: what begins otherwise is skipped fast
    r"(?<=#)(?<![^\r\n \t>]#)#{0,5}(?![^\r\n \t])"  # a `#` heading
    r"|(?<=[\r\n])[ \t>]*+(?:=++|-++)[ \t]*+(?![^\r\n])"  # an underline
    r"|(?<=`)``|(?<=~)~~|(?<=<)(?:[!?]|(?ai:script|pre|style|textarea))"  # what may be left open
    r")"
)


def embed(summary: str) -> str:
    """Return Markdown with its headings pushed down two levels and nothing left open at its end.

    All else is verbatim, line endings too. Underlined headings become one-line `#` headings. The result is to stand
    between blank lines and after a block that is not a list: then no heading above level 3 and no open block of it
    reaches the rest of the document. See project_memory.md, Answers, `project.md`.

    Two rarities are changed further so that every reader agrees on them: what would be nested deeper than
    `MAX_DEPTH` is escaped into text, and link definitions directly above an underline get a blank line after them.
    """
    if not _MAY_HAVE_STRUCTURE.search(summary):
        return summary
    blocks = Blocks(summary)
    blocks.scan()
    closing = blocks.closing()
    if closing and not summary.endswith(("\n", "\r")):
        closing = blocks.newline + closing
    return "".join(_edited(blocks)) + closing


def _edited(blocks: Blocks) -> Iterator[str]:
    """Yield the source with what was found in it changed."""
    source, done = blocks.source, 0
    for each in blocks.found:
        yield source[done : each.start]
        if isinstance(each, Heading):
            yield _underlined(each) if each.text else _pushed(source[each.start : each.end], each.level)
            done = each.end
        else:
            yield each.text
            done = each.start
    yield source[done:]


def _pushed(heading: str, level: int) -> str:
    """Push a `#` heading down, its closing `#` too where they mirror the opening ones."""
    more = "#" * min(PUSH, LOWEST - level)
    content = heading.rstrip("#")
    mirrored = len(heading) - len(content) == level and content.endswith((" ", "\t"))
    return more + heading + (more if mirrored else "")


def _underlined(heading: Heading) -> str:
    """Write an underlined heading with `#`; a text that ends like a closing sequence gets a real one."""
    marks = "#" * (heading.level + PUSH)
    line = f"{heading.prefix}{marks} {heading.text}"
    looks_closed = line.endswith("#") and line.rstrip("#").endswith((" ", "\t"))
    return f"{line} {marks}" if looks_closed else line
