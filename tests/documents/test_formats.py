"""Each of the twenty formats becomes chunks that say what the file says, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.documents.parsing import SubprocessParser, ocr_is_there
from shared.documents.port import EXTENSIONS, IMAGES
from tests.documents.formats import sample
from tests.documents.known import KNOWN

if TYPE_CHECKING:
    from pathlib import Path

    from shared.documents.port import Chunk

LANGUAGES = sorted(KNOWN)
TEXTS = sorted(EXTENSIONS - IMAGES)
SHEETS = ("xls", "xlsm", "xlsx")
HEADED = ("docx", "epub", "html", "markdown", "md", "mobi", "pdf", "pptx", "rtf")
PICTURES = [("bmp", "en"), ("gif", "zh"), ("jpeg", "en"), ("jpg", "zh"), ("png", "zh")]  # each takes seconds
WITHOUT_TABLES = ("epub", "ppt", "pptx")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return Read(tmp_path)


class Read:
    """Reads samples as files are read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, extension: str, language: str) -> list[Chunk]:
        path = self._folder / f"a.{extension}"
        path.write_bytes(sample(extension, language))
        return list(SubprocessParser(ocr=extension in IMAGES).parse(path, extension))


def holding(chunks: list[Chunk], words: str) -> Chunk:
    [found] = [chunk for chunk in chunks if words in chunk.text]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("extension", TEXTS)
def test_what_a_file_says_is_in_its_chunks_once(read: Read, extension: str, language: str) -> None:
    known, found = KNOWN[language], read(extension, language)
    assert holding(found, known.second)
    if extension not in SHEETS:
        assert holding(found, known.title)
        assert holding(found, known.first)
        assert holding(found, known.section)
    if extension not in WITHOUT_TABLES:
        together = holding(found, known.rows[1][0]).text.replace("\t", " ").replace("|", " ").split()
        assert [word for word in together if word in known.rows[1]] == list(known.rows[1])
    assert not any("secret" in chunk.text for chunk in found)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("extension", HEADED)
def test_headings_lead_to_what_is_under_them(read: Read, extension: str, language: str) -> None:
    known, found = KNOWN[language], read(extension, language)
    assert holding(found, known.first).heading == (known.title,)
    assert holding(found, known.second).heading[:1] in {(known.title,), (known.section,)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("extension", ["pdf", "ppt", "pptx"])
def test_pages_and_slides_are_counted(read: Read, extension: str, language: str) -> None:
    known, found = KNOWN[language], read(extension, language)
    assert (holding(found, known.first).page, holding(found, known.second).page) == (1, 2)
    assert extension == "ppt" or holding(found, known.second).heading[-1] == known.section


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("extension", SHEETS)
def test_sheets_have_their_names(read: Read, extension: str, language: str) -> None:
    known, found = KNOWN[language], read(extension, language)
    assert [chunk.sheet for chunk in found] == list(known.sheets)
    assert known.rows[2][0] in found[0].text
    assert known.second in found[1].text


@pytest.mark.skipif(not ocr_is_there(), reason="nothing that reads pictures is installed")
@pytest.mark.parametrize(("extension", "language"), PICTURES)
def test_what_is_written_in_a_picture_is_read(read: Read, extension: str, language: str) -> None:
    said = "".join("".join(chunk.text for chunk in read(extension, language)).split())
    for sentence in (KNOWN[language].first, KNOWN[language].second):
        assert "".join(sentence.split()) in said
