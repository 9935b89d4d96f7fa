"""Large documents are read in little memory, and all of them is."""

from __future__ import annotations

import random
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest

from bench.papers import paper
from shared.documents.limits import ParseLimits
from shared.documents.parsing import SubprocessParser

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 2**20
PAGES = 300
PADDED = {"docx": "word/media/a.jpg", "xlsx": "xl/media/a.jpg"}


def text(path: Path) -> None:
    path.write_bytes((paper("txt", PAGES) + b"\n\n") * 24)


def markdown(path: Path) -> None:
    path.write_bytes((paper("md", PAGES) + b"\n\n") * 24)


def package(path: Path) -> None:
    """A package of three hundred pages, and of pictures up to 20 MiB."""
    path.write_bytes(paper(path.suffix[1:], PAGES))
    with zipfile.ZipFile(path, "a") as parts:
        parts.writestr(PADDED[path.suffix[1:]], random.Random(1).randbytes(20 * MIB - path.stat().st_size - MIB // 4))


def pages(path: Path) -> None:
    path.write_bytes(paper("pdf", PAGES))


@pytest.mark.parametrize(
    ("make", "extension", "most"),
    [
        (text, "txt", 640 * MIB),
        (markdown, "md", 640 * MIB),
        (package, "docx", 1_024 * MIB),
        (package, "xlsx", 1_024 * MIB),
        (pages, "pdf", 1_024 * MIB),
    ],
    ids=["txt", "md", "docx", "xlsx", "pdf"],
)
def test_a_large_document_is_read_in_bounded_memory(
    tmp_path: Path, make: Callable[[Path], None], extension: str, most: int
) -> None:
    path = tmp_path / f"a.{extension}"
    make(path)
    words, last = 0, None
    tracemalloc.start()
    for last in SubprocessParser(ParseLimits(memory=most)).parse(path, extension):
        words += len(last.text.replace("|", " ").replace("---", " ").split())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    expected = 6 * 6 * 12 * PAGES * (24 if extension in {"txt", "md"} else 1)
    assert last is not None
    assert words >= expected
    assert words <= expected * 1.2  # a table says its header again
    assert peak < 4 * MIB
    assert last.page == (PAGES if extension == "pdf" else None)
    assert make not in (text, markdown, package) or 18 * MIB < path.stat().st_size <= 20.1 * MIB
