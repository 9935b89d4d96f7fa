"""The page's part about documents: how fast each format is read, and in how much memory, beside its bare library."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.papers import PAPERS, paper
from shared.documents.parsing import ocr_is_there

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES, FEW = 300, 30
SAMPLES: Final = Path(__file__).parents[1] / "tests" / "documents" / "samples"
OLDER: Final = ("doc", "xls")
PICTURES: Final = ("png", "jpg", "gif", "bmp")

_TIMED = """
import re, resource, sys, time
from pathlib import Path
path, extension = Path(sys.argv[1]), sys.argv[1].rpartition(".")[2]
{prepare}
started = time.perf_counter()
{body}
took = time.perf_counter() - started
# What getrusage says of a process counts what started it too.
own = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(took, (own if {alone} else resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024)
"""
_PARSER = "from shared.documents.parsing import SubprocessParser"
_PARSE = "for chunk in SubprocessParser(ocr={ocr}).parse(path, extension): pass"
_BARE: Final = {
    "txt": ("", "path.read_text()"),
    "md": ("", "path.read_text()"),
    "pdf": (
        "import pypdfium2",
        "for page in pypdfium2.PdfDocument(path): page.get_textpage().get_text_range()",
    ),
    **dict.fromkeys(
        PICTURES,
        (
            "from rapidocr import RapidOCR\nreader = RapidOCR(params={'Global.log_level': 'critical'})",
            "reader(str(path))",
        ),
    ),
}
_LIBRARY = (
    "import kreuzberg\nconfig = kreuzberg.ExtractionConfig(use_cache=False, output_format='markdown')",
    "kreuzberg.extract_file_sync(path, config=config)",
)


@dataclass(frozen=True)
class Read:
    """One reading: seconds, and the peak of memory (MB) of the process that read."""

    seconds: float
    memory: float


def documents_part(*, quick: bool) -> list[str]:
    """Measure each format."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path, pages in _papers(Path(folder), FEW if quick else PAGES):
            rows.append(_row(path, pages))
            print(rows[-1], flush=True)
    return [
        "## Documents",
        "",
        "Files of so many pages of 3,000 characters (a sheet's are rows, a slide is a page; pictures and the older",
        "formats are the tests' samples of a page or two), read to chunks by the documents function's process, which",
        "is started for each; beside the bare call of the library that reads the format (kreuzberg, pypdfium2,",
        "rapidocr, for plain text Python itself), already imported. Memory is the peak of the process that reads.",
        "",
        "| format | pages | KB | pages a second | KB a second | memory, MB | bare, pages a second | bare, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
        "",
    ]


def _papers(folder: Path, pages: int) -> Iterator[tuple[Path, int]]:
    for extension in PAPERS:
        path = folder / f"a.{extension}"
        path.write_bytes(paper(extension, pages))
        yield path, pages
    slides = folder / "a.ppt"
    slides.write_bytes(gzip.decompress((SAMPLES / "en.ppt.gz").read_bytes()))
    yield slides, 2
    yield from ((SAMPLES / f"en.{extension}", 1) for extension in OLDER)
    if ocr_is_there():
        yield from ((SAMPLES / f"zh.{extension}", 1) for extension in PICTURES)


def _row(path: Path, pages: int) -> str:
    extension = path.suffix[1:]
    ocr = extension in PICTURES
    ours = _read(path, _PARSER, _PARSE.format(ocr=ocr), alone=False)
    size = path.stat().st_size / 1_000
    cells = [extension, f"{pages}", f"{size:,.0f}", _rate(pages, ours), _rate(size, ours), f"{ours.memory:.0f}"]
    if extension == "mobi":  # no library that may be used reads it
        return f"| {' | '.join((*cells, '-', '-'))} |"
    bare = _read(path, *_BARE.get(extension, _LIBRARY), alone=True)
    return f"| {' | '.join((*cells, _rate(pages, bare), f'{bare.memory:.0f}'))} |"


def _rate(amount: float, read: Read) -> str:
    rate = amount / read.seconds
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _read(path: Path, prepare: str, body: str, *, alone: bool) -> Read:
    code = _TIMED.format(prepare=prepare, body=body, alone=alone)
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": "."})
    seconds, memory = done.stdout.split()
    return Read(float(seconds), float(memory))
