"""What the embedded index promises beyond the port: durability, sharing, bounds, and refusing what is not its own."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from shared.kernel.errors import Unavailable
from shared.search.embedded import columns, file, owners, postings
from shared.search.embedded.index import EmbeddedIndex
from shared.search.port import IndexMismatch, Is
from tests.search.passages import DIMENSION, NORTH, NORTH_EAST, OWNER, by_meaning, by_words, passage, search, where

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "search"


@pytest.fixture
def index(folder: Path) -> Iterator[EmbeddedIndex]:
    with closing(opened(folder)) as made:
        yield made


@pytest.fixture
def other(folder: Path) -> Iterator[EmbeddedIndex]:
    """Another process's, as far as the first can tell: they share only the folder."""
    with closing(opened(folder)) as made:
        yield made


def opened(folder: Path) -> EmbeddedIndex:
    index = EmbeddedIndex(folder, "test", DIMENSION)
    index.ensure()
    return index


# ---- What it was made for ------------------------------------------------------------------------------


@pytest.mark.parametrize(("embedder", "dimension"), [("another", DIMENSION), ("test", DIMENSION * 2)])
def test_an_index_of_another_embedder_is_refused_with_what_to_run(
    folder: Path, index: EmbeddedIndex, embedder: str, dimension: int
) -> None:
    with pytest.raises(IndexMismatch, match=r"make reindex") as refused:
        EmbeddedIndex(folder, embedder, dimension).ensure()
    assert f'"{embedder}"' in str(refused.value)


def test_an_index_of_another_mapping_is_refused(folder: Path, index: EmbeddedIndex) -> None:
    told = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps({**told, "mapping": 0}))
    with pytest.raises(IndexMismatch, match=r"make reindex"):
        opened(folder)


def test_an_index_that_a_rebuild_was_about_to_replace_is_not_made_empty(folder: Path, index: EmbeddedIndex) -> None:
    """A rebuild that dies between moving the old folder away and the new one in must not leave an empty index."""
    folder.rename(folder.with_name("search.old"))
    with pytest.raises(IndexMismatch, match=r"make reindex"):
        opened(folder)


def test_a_vector_of_another_length_is_refused_and_nothing_is_stored(index: EmbeddedIndex) -> None:
    with pytest.raises(ValueError, match="a vector of 2 numbers in an index of 4"):
        index.put([passage("m1"), passage("m2", vector=(1.0, 0.0))])
    assert by_meaning(index) == []


def test_starting_at_the_same_time_makes_one_index(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for made in pool.map(lambda _: opened(folder), range(16)):
            made.close()
    assert [path.name for path in folder.iterdir()] == ["index.json"]


# ---- Durability ----------------------------------------------------------------------------------------

WRITER = """
    import sys
    from pathlib import Path
    from shared.search.embedded.index import EmbeddedIndex
    from tests.search.passages import OWNER, passage

    index = EmbeddedIndex(Path(sys.argv[1]), "test", 4)
    index.ensure()
    for n in range(100_000):
        index.put([passage(f"m{n}", f"tea number {n}", ordinal=part) for part in range(3)])
        if n % 3 == 0:
            index.remove(OWNER, [(f"m{n}", 1)])
        print(n, flush=True)
"""


def test_what_put_returned_survives_a_kill(folder: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for last in map(int, writer.stdout):
            if last == 25:
                break
        writer.kill()
    with closing(opened(folder)) as index:
        kept = [(f"m{n}", 1) for n in range(last + 1) if n % 3]
        assert index.present(OWNER, kept) == set(kept)
        assert index.present(OWNER, [(f"m{n}", 1) for n in range(0, last + 1, 3)]) == set()
        assert by_words(index, "25", k_sparse=5) == ["m25"]
        index.put([passage("after")])
        assert "after" in by_meaning(index, k_dense=50)


def test_several_processes_write_one_owner(folder: Path) -> None:
    body = textwrap.dedent(WRITER).replace("100_000", "10").replace('f"m{n}"', 'f"{sys.argv[2]}{n}"')
    running = [subprocess.Popen([sys.executable, "-c", body, str(folder), name]) for name in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    with closing(opened(folder)) as index:
        found = by_meaning(index, k_dense=50)
    assert sorted(found) == sorted(f"{name}{n}" for name in "abc" for n in range(10) if n % 3)


def test_what_another_process_did_is_seen_at_once(index: EmbeddedIndex, other: EmbeddedIndex) -> None:
    for n in range(5):
        index.put([passage(f"m{n}")])
        assert by_words(other, "green tea") == [f"m{i}" for i in range(n + 1)]
    other.remove(OWNER, [("m0", 1), ("m4", 1)])
    assert by_words(index, "green tea") == ["m1", "m2", "m3"] == by_meaning(index)
    other.put([passage("m5", session_id="s", generation=1)])
    assert where(index, Is("session_id", ("s",))) == {"m5"}
    index.clear(OWNER, before_generation=1)
    assert by_meaning(other) == ["m5"]


def test_a_new_start_gives_the_same_answers(
    folder: Path, index: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "_FRESH_LEAST", 40)
    for n in range(60):
        index.put([passage(f"m{n:02}", f"tea {'x ' * (n % 7)}{n % 5}", vector=(NORTH, NORTH_EAST)[n % 2])])
        search(index)
    index.remove(OWNER, [(f"m{n:02}", 1) for n in range(0, 60, 4)])
    asked = [("tea 3", NORTH), ("x tea", NORTH_EAST), ("1 2 3 4", NORTH)]
    before = [search(index, text, vector=vector, k_dense=20, k_sparse=20) for text, vector in asked]
    with closing(opened(folder)) as fresh:
        assert [search(fresh, text, vector=vector, k_dense=20, k_sparse=20) for text, vector in asked] == before


# ---- Bounds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("files", "room"), [(3, owners.ROOM), (owners.OPEN_FILES, 0)])
def test_owners_that_were_not_used_for_long_are_let_go(
    index: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch, files: int, room: int
) -> None:
    monkeypatch.setattr(owners, "OPEN_FILES", files)
    monkeypatch.setattr(owners, "ROOM", room)

    def use(n: int) -> None:
        index.put([passage(f"m{n}", owner=f"owner {n % 10}")])
        assert f"m{n}" in by_words(index, "green tea", owner=f"owner {n % 10}", k_sparse=50)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(60)))
    assert len(index._owners._open) <= 4 + files
    for n in range(10):
        assert len(by_meaning(index, owner=f"owner {n}")) == 6
    assert len(index._owners._open) <= (files if room else 1)


def test_what_died_does_not_stay_in_this_process(index: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_DEAD_LEAST", 10)
    for n in range(100):
        index.put([passage(f"m{n:02}")])
        index.remove(OWNER, [(f"m{n - 1:02}", 1)])
        assert by_words(index, "green tea") == [f"m{n:02}"] == by_meaning(index)
    with index._owners.made(OWNER) as held:
        assert held.columns._count < 50


# ---- Failures ------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(Unavailable):
        opened(tmp_path / "taken" / "search")


def test_a_broken_file_is_unavailable_and_never_empty(folder: Path, index: EmbeddedIndex) -> None:
    index.put([passage("m1")])
    index.close()
    (path,) = folder.glob("*/*.sqlite")
    path.write_bytes(b"not a database" * 1_000)
    for failing in (
        lambda: search(index),
        lambda: index.put([passage("m2")]),
        lambda: index.present(OWNER, [("m1", 1)]),
        lambda: index.remove(OWNER, [("m1", 1)]),
        lambda: index.clear(OWNER, 1),
    ):
        with pytest.raises(Unavailable):
            failing()


def test_a_writer_that_waits_too_long_is_unavailable(
    folder: Path, index: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "_WAIT_S", 0.01)
    index.put([passage("m1")])
    (path,) = folder.glob("*/*.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as busy:
        busy.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable):
            index.put([passage("m2")])
        assert by_words(index, "green tea") == ["m1"], "readers go on"
    index.put([passage("m2")])
    assert by_words(index, "green tea") == ["m1", "m2"]


def test_files_tell_neither_owner_nor_text(folder: Path, index: EmbeddedIndex) -> None:
    index.put([passage("m1", "Geheimnis", owner="verraten", previous="Fluester: leise", speaker="Wispern")])
    index.close()
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    names = "".join(str(path.relative_to(folder)) for path in folder.rglob("*"))
    for word in ("Geheimnis", "geheimnis", "verraten", "leise", "Wispern"):
        assert word.encode() not in held
        assert word not in names


def test_what_was_removed_is_not_left_in_the_file(folder: Path, index: EmbeddedIndex) -> None:
    index.put([passage("kept"), passage("gone", session_id="a-session-to-forget")])
    index.remove(OWNER, [("gone", 1)])
    index.close()
    (path,) = folder.glob("*/*.sqlite")
    assert b"a-session-to-forget" not in path.read_bytes()
