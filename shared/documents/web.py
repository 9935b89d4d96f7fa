"""Reads pages of HTML: decodes them as they say, and makes Markdown of their bodies."""

from __future__ import annotations

import codecs
import html
import re
from typing import TYPE_CHECKING, Final

from shared.documents.markup import sections_of_markdown
from shared.documents.native import text_of
from shared.documents.plain import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shared.documents.port import Section

_HEAD_BYTES: Final = 4_096
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAID: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,40})", re.IGNORECASE)
_MEANT: Final = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252"}
"""What pages mean that say so, as browsers take it."""

_HEAD: Final = re.compile(r"<head[\s>]", re.IGNORECASE)
_HEAD_END: Final = re.compile(r"</head\s{0,99}>", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title(?:\s[^>]{0,999})?>([^<]{1,999})</title", re.IGNORECASE)
_FIRST: Final = re.compile(r"<h1[\s>]", re.IGNORECASE)


def text_of_page(path: Path) -> str:
    """Return a page's HTML, decoded as its first bytes say, or as a text that says nothing.

    Raises:
        DocumentFailed: `wrong_type`: it is no text.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    said = _SAID.search(head)
    if said and not head.startswith(_MARKS):
        name = said[1].decode("ascii").lower()
        try:
            return path.read_bytes().decode(_MEANT.get(name, name))
        except (LookupError, UnicodeError):
            pass  # it says what is not so
    return "".join(decoded(path))


def sections_of_page(page: str) -> Iterator[Section]:
    """Yield the sections of a page of HTML; its title is the first heading where it has no other of the first level."""
    body = _without_head(page)
    title = _TITLE.search(page)
    if title and not _FIRST.search(body):
        body = f"<h1>{html.escape(html.unescape(title[1].strip()))}</h1>\n{body}"
    return sections_of_markdown([text_of(body.encode("utf-8", "replace"), "html")], converted=True)


def _without_head(page: str) -> str:
    """What stands in a head would come as a text of its own; without an end it is left."""
    head = _HEAD.search(page)
    end = _HEAD_END.search(page, head.end()) if head else None
    return page[: head.start()] + page[end.end() :] if head and end else page
