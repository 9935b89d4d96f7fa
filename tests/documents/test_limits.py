"""Whatever happens in the process that reads a document, nothing but that document suffers."""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from shared.documents import process
from shared.documents.limits import ParseLimits
from shared.documents.parsing import SubprocessParser
from shared.documents.port import Chunk, DocumentFailed

SMALL = ParseLimits(memory=512 << 20, seconds=120, characters=1_000_000)


@pytest.fixture(autouse=True)
def _taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_PROGRAM", "tests.documents.hostile_child")


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    others = children()  # a search node that all tests share may be one, and what an earlier test left may end
    yield
    gc.collect()
    assert children() <= others
    assert list(temporary.iterdir()) == []


def children() -> set[str]:
    """This process's children, zombies too, whichever of its threads started them."""
    found: set[str] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread may end meanwhile
            found.update(listed.read_text().split())
    return found


def parse(tmp_path: Path, work: str, limits: ParseLimits = SMALL, content: bytes = b"") -> Iterator[Chunk]:
    path = tmp_path / f"document.{work}"
    path.write_bytes(content)
    return SubprocessParser(limits).parse(path, "txt")


def failure(chunks: Iterator[Chunk]) -> DocumentFailed:
    with pytest.raises(DocumentFailed) as failed:
        list(chunks)
    return failed.value


@pytest.mark.parametrize("work", ["memory", "memory_of_a_library", "fault", "ends_early"])
def test_a_reader_that_takes_all_memory_or_crashes_fails_its_document_alone(tmp_path: Path, work: str) -> None:
    assert failure(parse(tmp_path, work)).code == "too_complex"


@pytest.mark.parametrize("work", ["loop", "silence"])
def test_a_reader_that_never_ends_is_ended(tmp_path: Path, work: str) -> None:
    assert failure(parse(tmp_path, work, replace(SMALL, seconds=1))).code == "too_complex"


def test_processor_time_is_bounded_even_while_nobody_waits_for_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "document.loop"
    path.write_bytes(b"")
    waited_for = process.Reading("parse", path, replace(SMALL, seconds=3), extension="txt", ocr=False)
    waited_for._waiting = 120.0  # it may be long in starting
    with waited_for as reading:
        reading._process.wait(timeout=120)
        assert reading._process.returncode < 0


def test_a_flood_of_text_is_too_long(tmp_path: Path) -> None:
    assert failure(parse(tmp_path, "flood")).code == "too_long"
    assert failure(parse(tmp_path, "flood", replace(SMALL, characters=10**9, chunks=100))).code == "too_long"


def test_a_line_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    assert failure(parse(tmp_path, "line_without_end")).code == "too_complex"


def test_a_flood_leaves_the_parents_memory_as_it_is(tmp_path: Path) -> None:
    program = f"""
import resource, sys
from pathlib import Path
from shared.documents import process
from shared.documents.limits import ParseLimits
from shared.documents.parsing import SubprocessParser
from shared.documents.port import DocumentFailed
process._PROGRAM = "tests.documents.hostile_child"
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for work in ("flood", "line_without_end", "memory"):
    path = Path({str(tmp_path)!r}, "document." + work)
    path.write_bytes(b"")
    try:
        for _ in SubprocessParser(ParseLimits(memory=1 << 30, characters=100_000_000)).parse(path, "txt"):
            pass
    except DocumentFailed as failed:
        print(failed.code)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=Path.cwd())
    *codes, grown = ran.stdout.split()
    assert codes == ["too_long", "too_complex", "too_complex"]
    assert int(grown) < 16 * 1024  # KiB; a hundred MB were said


def test_a_reader_can_start_nothing_reach_nobody_and_write_nowhere(tmp_path: Path) -> None:
    said = {chunk.text for chunk in parse(tmp_path, "tries")}
    assert "raise: ValueError" in said
    assert [each for each in said if each.endswith("done")] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["document.tries"]


def test_a_reader_gets_no_secret_and_no_open_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "very-secret")
    with (tmp_path / "other").open("w") as other:
        os.set_inheritable(other.fileno(), True)  # noqa: FBT003 - its only parameter
        environment, files = (chunk.text for chunk in parse(tmp_path, "sees"))
    assert "secret" not in environment
    assert "AWS" not in environment
    assert [name for name in json.loads(files.replace("'", '"')) if not name.startswith(("/dev/null", "pipe:"))] == []


def test_a_reading_that_is_closed_is_over(tmp_path: Path) -> None:
    others = children()
    reading = parse(tmp_path, "flood", replace(SMALL, characters=10**12, chunks=10**9))
    next(reading)
    assert len(children() - others) == 1
    reading.close()  # type: ignore[attr-defined]
    assert children() <= others


def test_a_reading_that_is_forgotten_is_over(tmp_path: Path) -> None:
    others = children()
    next(parse(tmp_path, "flood", replace(SMALL, characters=10**12, chunks=10**9)))
    gc.collect()
    assert children() <= others


def test_the_time_that_chunks_are_worked_on_is_not_the_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for _ in parse(tmp_path, "flood", replace(SMALL, chunks=50, characters=50 * 6_000)):
        now[0] += 1_000
        if now[0] > 40_000:
            break


def test_a_reader_ends_with_who_started_it(tmp_path: Path) -> None:
    path = tmp_path / "document.silence"
    path.write_bytes(b"")
    program = f"""
import os
from pathlib import Path
from shared.documents import process
from shared.documents.limits import ParseLimits
process._PROGRAM = "tests.documents.hostile_child"
with process.Reading("parse", Path({str(path)!r}), ParseLimits(), extension="txt", ocr=False) as reading:
    print(reading._process.pid, flush=True)
    os.kill(os.getpid(), 9)
"""
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, cwd=Path.cwd())
    child, until = Path("/proc", ran.stdout.strip(), "stat"), time.monotonic() + 120
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(child)


def _runs(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"  # whoever inherits it, waits for it or not
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    "said",
    [
        b"no json\n",
        b"[" * 100_000 + b"\n",
        b"{}\n",
        b"1\n",
        b'["text"]\n',
        b'["text", [], null, null, 1]\n',
        b'["", [], null, null]\n',
        b'[" ", [], null, null]\n',
        b"[1, [], null, null]\n",
        b'["text", 1, null, null]\n',
        b'["text", [1], null, null]\n',
        b'["text", [], "1", null]\n',
        b'["' + b"x" * 30_000 + b'", [], null, null]\n',
        b'["text", ["' + b"x" * 3_000 + b'"], null, null]\n',
        b'["text", [], 0, null]\n',
        b'["text", [], true, null]\n',
        b'["text", [], null, 1]\n',
        b'["\\ud800", [], null, null]\n',
        b'["text", ["\\udfff"], null, null]\n',
        b'["text", [' + b'"a",' * 100 + b'"a"], null, null]\n',
        b'{"code": "owned", "message": "x"}\n',
        b'{"code": ["damaged"], "message": "x"}\n',
        b'{"code": "damaged"}\n',
        b"\xff\xfe\n",
    ],
)  # fmt: skip
def test_what_is_no_chunk_is_not_believed(tmp_path: Path, said: bytes) -> None:
    assert failure(parse(tmp_path, "says", content=said)).code == "damaged"


def test_a_reason_is_told_in_few_words(tmp_path: Path) -> None:
    told = json.dumps({"code": "encrypted", "message": "x" * 10_000}).encode() + b"\n"
    failed = failure(parse(tmp_path, "says", content=told))
    assert (failed.code, len(failed.message)) == ("encrypted", 500)


def test_a_reader_that_can_not_start_is_no_fault_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PROGRAM", "tests.documents.not_there")
    with pytest.raises(OSError, match="did not start"):
        list(parse(tmp_path, "says"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no_python"))
    with pytest.raises(FileNotFoundError):
        list(parse(tmp_path, "says"))
