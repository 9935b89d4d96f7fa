"""The blocks of CommonMark 0.31 that hold no others, each told by its own lines without what they are nested in.

Texts come with tabs expanded and without white space at their end. No expression here backtracks over more than a
character: quantifiers are possessive.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ATX = re.compile(r"#{1,6}(?= |$)")
_FENCE = re.compile(r"`{3,}+(?=[^`]*+$)|~{3,}+")
_RAW = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|$)", re.ASCII | re.IGNORECASE)
_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.ASCII | re.IGNORECASE)
_MARKED = re.compile(r"<(?:!--|\?|!\[CDATA\[|![A-Za-z])")
_MARKED_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div"
    r"|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|track|ul)(?=\s|/?>|$)",
    re.ASCII | re.IGNORECASE,
)
_TAG_ALONE = re.compile(
    r"<(?:[a-z][a-z0-9-]*+"
    r"""(?:\s++[a-z_:][\w:.-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?+)*+"""
    r"\s*+/?|/[a-z][a-z0-9-]*+\s*+)>\s*+$",
    re.ASCII | re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"""
    \[(?!\s*+\])(?:[^\[\]\\]|\\.){1,999}+\]:[ \t]*+\n?[ \t]*+
    (?:<(?:[^<>\n\\]|\\[^\n])*+>
      |(?!<)(?:\\[()]|[^()\x01-\x20\x7f]|\((?:\\[()]|[^()\x01-\x20\x7f])*+\))++
    )
    (?:(?:[ \t]*+\n|[ \t])[ \t]*+
      (?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))
      (?=[ \t]*+(?:\n|\Z))
    )?
    [ \t]*+(?:\n|\Z)
    """,
    re.DOTALL | re.VERBOSE,
)


class Fence(NamedTuple):
    """A fenced code block, and the line that closes it."""

    closing: str

    def ended_by(self, text: str) -> bool:
        """Tell if a line of it is its last."""
        rest = text.lstrip(" ")
        return len(text) - len(rest) < 4 and rest.startswith(self.closing) and not rest.strip(self.closing[0])


class Html(NamedTuple):
    """An HTML block, and the mark that ends it, empty where a blank line does."""

    closing: str

    def ended_by(self, text: str) -> bool:
        """Tell if a line of it is its last; it may be its first."""
        if not self.closing:
            return not text
        return self.closing in text or (self.closing.startswith("</") and _RAW_END.search(text) is not None)


def heading_level(text: str, start: int) -> int:
    """Return the level of the `#` heading that begins at an offset, 0 if none does."""
    marker = _ATX.match(text, start)
    return len(marker[0]) if marker else 0


def open_fence(text: str, start: int) -> Fence | None:
    """Return the fence that begins at an offset."""
    marker = _FENCE.match(text, start)
    return Fence(marker[0]) if marker else None


def open_html(text: str, start: int, *, in_paragraph: bool) -> Html | None:
    """Return the HTML block that begins at an offset; a tag of no known block cannot end a paragraph."""
    if raw := _RAW.match(text, start):
        return Html(f"</{raw[1]}>")
    if marked := _MARKED.match(text, start):
        return Html(_MARKED_ENDS.get(marked[0], ">"))
    if _BLOCK_TAG.match(text, start) or (not in_paragraph and _TAG_ALONE.match(text, start)):
        return Html("")
    return None


def is_rule(text: str, start: int) -> bool:
    """Tell if a thematic break begins at an offset."""
    mark = text[start]
    return text[-1] == mark and not text[start:].strip(mark + " ") and text.count(mark, start) >= 3


def count_definitions(texts: list[str]) -> int:
    """Count the lines of a paragraph that are link reference definitions: no underline makes them a heading."""
    text, pos = "\n".join(texts), 0
    while definition := _DEFINITION.match(text, pos):
        pos = definition.end()
    return len(texts) if pos == len(text) else text.count("\n", 0, pos)


def join_lines(texts: list[str]) -> str:
    """Write a paragraph's lines on one; the backslash of a hard line break goes, unless it may be code."""
    if not any("`" in text for text in texts):
        texts = [*map(_without_break, texts[:-1]), texts[-1]]
    return " ".join(texts)


def _without_break(text: str) -> str:
    backslashes = len(text) - len(text.rstrip("\\"))
    return text[:-1].rstrip(" \t") if backslashes % 2 else text
