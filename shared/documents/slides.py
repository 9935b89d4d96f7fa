"""Slides of the older format (MS-PPT): the text of each, in their order, with its title."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from shared.documents.compound import Streams
from shared.documents.port import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAIN, _USER = "PowerPoint Document", "Current User"
_DOCUMENT, _SLIDE, _LIST, _LISTED = 0x03E8, 0x03EE, 0x0FF0, 0x03F3
_EDIT, _DIRECTORY = 0x0FF5, 0x1772
_KIND, _REFERENCE, _WIDE, _NARROW = 0x0F9F, 0x0F9E, 0x0FA0, 0x0FA8
_TITLES: Final = frozenset((0, 6))  # a title, and one in the middle
_CONTAINER: Final = 0xF
_EDITS: Final = 10_000
_CHARACTERS: Final = {11: "\n", 13: "\n\n", **dict.fromkeys((*range(9), 12, *range(14, 32)))}


class _Record(NamedTuple):
    """A record's kind, what it is an instance of, whether others are in it, and where its content is."""

    kind: int
    instance: int
    has_parts: bool
    start: int
    end: int


class _Said(NamedTuple):
    text: str
    is_title: bool


def sections_of_slides(path: Path) -> list[Section] | None:
    """Return the slides, each a section with its number and its title; None where they are not listed.

    Raises:
        ValueError, struct.error, LookupError: it is damaged.
    """
    with path.open("rb") as file:
        streams = Streams(file)
        if _USER not in streams.names:
            return None
        user = streams.beginning(_USER, 20)
        content = streams.beginning(_MAIN, streams.names[_MAIN].size)
    (edit,) = struct.unpack_from("<I", user, 16)
    places, document = _directory(content, edit)
    slides = [_slide(content, places[reference], texts) for reference, texts in _listed(content, places[document])]
    return [section for number, said in enumerate(slides, 1) if (section := _section(said, number))] or None


def _section(said: list[_Said], number: int) -> Section | None:
    texts = [_Said(each.text.translate(_CHARACTERS).strip(), each.is_title) for each in said]
    title = next((each.text for each in texts if each.is_title and each.text), "")
    text = "\n\n".join(each.text for each in texts if each.text)
    return Section(text, (" ".join(title.split()),) if title else (), page=number) if text else None


def _directory(content: bytes, edit: int) -> tuple[dict[int, int], int]:
    """Return where each numbered object is, and the document's number; what was saved last counts."""
    places: dict[int, int] = {}
    document = None
    for _ in range(_EDITS):
        if not edit:
            break
        record = _at(content, edit, _EDIT)
        before, directory, number = struct.unpack_from("<III", content, record.start + 8)
        document = number if document is None else document
        listed = _at(content, directory, _DIRECTORY)
        for reference, place in _numbered(content[listed.start : listed.end]):
            places.setdefault(reference, place)
        edit = before
    if document is None:
        raise ValueError("no edit")
    return places, document


def _numbered(table: bytes) -> Iterator[tuple[int, int]]:
    place = 0
    while place < len(table):
        (head,) = struct.unpack_from("<I", table, place)
        count = head >> 20
        for number, at in enumerate(struct.unpack_from(f"<{count}I", table, place + 4)):
            yield (head & 0xFFFFF) + number, at
        place += 4 + 4 * count


def _listed(content: bytes, document: int) -> Iterator[tuple[int, list[_Said]]]:
    """Yield each slide's number, and its texts that the list itself has."""
    whole = _at(content, document, _DOCUMENT)
    lists = (part for part in _parts(content, whole) if part.kind == _LIST and part.instance == 0)
    for each in lists:
        reference, texts, kind = None, list[_Said](), 0
        for part in _parts(content, each):
            if part.kind == _LISTED:
                if reference is not None:
                    yield reference, texts
                (reference,), texts = struct.unpack_from("<I", content, part.start), []
            elif part.kind == _KIND:
                (kind,) = struct.unpack_from("<I", content, part.start)
            elif part.kind in {_WIDE, _NARROW}:
                texts.append(_Said(_text(content, part), kind in _TITLES))
        if reference is not None:
            yield reference, texts


def _slide(content: bytes, place: int, listed: list[_Said]) -> list[_Said]:
    """Return a slide's texts; those that only the list has come where the slide names them, else first."""
    said, kind, named = list[_Said](), -1, False
    waiting = [_at(content, place, _SLIDE)]
    while waiting:
        part = waiting.pop()
        if part.kind == _KIND:
            (kind,) = struct.unpack_from("<I", content, part.start)
        elif part.kind == _REFERENCE:
            (number,) = struct.unpack_from("<I", content, part.start)
            said += listed[number : number + 1]
            named = True
        elif part.kind in {_WIDE, _NARROW}:
            said.append(_Said(_text(content, part), kind in _TITLES))
        elif part.has_parts:
            waiting += reversed([*_parts(content, part)])
    return said if named else [*listed, *said]


def _text(content: bytes, part: _Record) -> str:
    said = content[part.start : part.end]
    return said.decode("utf-16-le", "replace") if part.kind == _WIDE else said.decode("latin-1")


def _at(content: bytes, place: int, kind: int) -> _Record:
    record = _record(content, place, len(content))
    if record.kind != kind:
        raise ValueError("another record")
    return record


def _parts(content: bytes, whole: _Record) -> Iterator[_Record]:
    place = whole.start
    while place + 8 <= whole.end:
        part = _record(content, place, whole.end)
        yield part
        place = part.end


def _record(content: bytes, place: int, end: int) -> _Record:
    version, kind, size = struct.unpack_from("<HHI", content, place)
    if place + 8 + size > end:
        raise ValueError("a record that is cut off")
    return _Record(kind, version >> 4, version & 0xF == _CONTAINER, place + 8, place + 8 + size)
