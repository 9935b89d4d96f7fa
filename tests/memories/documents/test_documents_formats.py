"""A real file of each format, over HTTP: sent, read, found in its own words, deleted, and found no more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from shared.documents.limits import ParseLimits
from shared.documents.parsing import SubprocessParser, ocr_is_there
from shared.documents.picturing import prepared
from shared.documents.port import EXTENSIONS, IMAGES
from shared.memories.files.reading import Eyes
from tests.documents.formats import sample
from tests.documents.known import KNOWN
from tests.memories.documents.desk import desk_world, file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.documents.desk import Desk

PICTURES = [("bmp", "zh"), ("gif", "en"), ("jpeg", "zh"), ("jpg", "en"), ("png", "en")]  # each takes seconds
CASES = [(extension, language) for extension in sorted(EXTENSIONS - IMAGES) for language in KNOWN]


@pytest.fixture(scope="module")
def world() -> Iterator[Desk]:
    with desk_world(VISION="local" if ocr_is_there() else "none") as made:
        yield made


@pytest.mark.parametrize(("extension", "language"), [*CASES, *PICTURES])
def test_what_a_file_of_a_format_says_is_found_until_it_is_deleted(world: Desk, extension: str, language: str) -> None:
    if extension in IMAGES and not ocr_is_there():
        pytest.skip("nothing reads text off pictures here: the extra `ocr` is not installed")
    desk = replace(world, user=f"{extension} {language}", held=[])
    parser = SubprocessParser(ParseLimits(), ocr=True)
    desk.eyes = Eyes(parser, None, partial(prepared, limits=ParseLimits()))
    told = desk.added(file(sample(extension, language), f"harbour.{extension}"))
    assert told["status"] == "success", told
    assert told["document_type"] == extension
    said = KNOWN[language].second
    (one,) = told["files"]
    hits = desk.hits(said, document_ids=[one["parser_id"]])
    assert any(_plain(said) in _plain(hit["memory"]) for hit in hits), [hit["memory"] for hit in hits]
    assert desk.reader.delete(f"/v1/files/{one['file_id']}").status == 202
    assert desk.found(said) == []
    desk.work()
    assert [desk.rows(begin) for begin in ("u#", "d#", "m#")] == [[], [], []]
    assert desk.indexed() == set()


def _plain(text: str) -> str:
    """Return a text without what reading a picture may see as more or less space."""
    return "".join(text.split())
