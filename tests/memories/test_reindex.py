"""The search index made anew from the records, while those change, for both indexes."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from functions.memories import reindex
from shared.aws.items import key_of
from shared.aws.table import Table
from shared.aws.writes import Delete, Put, Update
from shared.kernel.errors import Unavailable
from shared.memories.indexing import passages_of
from shared.memories.reindexing import Progress, Reindexing
from shared.search.embedded.index import EmbeddedIndex
from shared.search.embedded.rebuilding import EmbeddedRebuild
from shared.search.opensearch.index import OpenSearchIndex
from shared.search.opensearch.names import Names
from shared.search.opensearch.rebuilding import OpenSearchRebuild
from shared.search.port import Ask, IndexMismatch
from shared.wiring.search import TableLedger
from tests.memories.hashing import HashEmbedder
from tests.memories.shelf import Shelf, shelf_world
from tests.search.nodes import Memo, connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shared.aws.items import Item
    from shared.memories.records import UserAddress
    from shared.search.port import Rebuild, SearchIndex, State


@dataclass
class Eventful(HashEmbedder):
    """An embedder during whose work something else happens, once."""

    meanwhile: Callable[[], Any] | None = None

    def of_texts(self, texts: Any) -> Any:
        happens, self.meanwhile = self.meanwhile, None
        if happens:
            happens()
        return super().of_texts(texts)


@dataclass
class Place:
    """A stack's records, its index, and a way to rebuild it."""

    shelf: Shelf
    index: SearchIndex
    rebuild: Callable[[], Rebuild]
    embedder: Eventful
    live: bool
    """Whether others write to the index during a rebuild."""

    def run(self) -> Progress:
        told: list[Progress] = []
        table, objects = self.shelf.table, self.shelf.objects
        done = Reindexing(table, objects, self.embedder, rebuild=self.rebuild()).run(told.append)
        assert told[-1] == done
        return done

    def found(self, text: str, address: UserAddress | None = None) -> list[tuple[str, int]]:
        """Return the states that a text's words find."""
        ask = Ask((address or self.shelf.address()).owner, text, self.embedder.of_query(text), 0, 50, 0.0)
        return [(one.memory_id, one.revision) for one in self.index.search([ask])[0].sparse]


@pytest.fixture(params=["embedded", "opensearch"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    embedder = Eventful()
    with shelf_world() as shelf:
        if request.param == "embedded":
            yield _embedded(shelf, embedder, tmp_path / "search")
        else:
            endpoint = request.getfixturevalue("opensearch_endpoint")
            with connection(endpoint, embedder.dimension) as (client, names):
                index = OpenSearchIndex(client, names, Memo())
                index.ensure()
                rebuild = partial(OpenSearchRebuild, client, index, shards=1, grace=0)
                yield Place(shelf, index, rebuild, embedder, live=True)


def _embedded(shelf: Shelf, embedder: Eventful, folder: Path) -> Place:
    index = EmbeddedIndex(folder, embedder.name, embedder.dimension)
    index.ensure()
    index.close()
    return Place(
        shelf, index, partial(EmbeddedRebuild, folder, embedder.name, embedder.dimension), embedder, live=False
    )


def test_all_that_is_remembered_is_found_again_and_nothing_else(place: Place) -> None:
    shelf = place.shelf
    other = shelf.address("bob", project="other")
    short = shelf.put("Ana drinks green tea", indexed=False)
    long = shelf.put("Coffee. " * 5_000 + "The parrot is called Rio.", kind="summary", indexed=False)
    theirs = shelf.put("Bob drinks green tea", address=other, indexed=False)
    new = shelf.supersede(short, "Ana drinks black tea")
    shelf.table.write(Update(shelf.address("eve").generation_key, add={shelf.address("eve").generation_name: 1}))
    shelf.table.write(Update(shelf.address().generation_key, add={shelf.address("nobody").generation_name: 7}))
    gone = shelf.put("Eve drinks green tea", address=shelf.address("eve"), indexed=False, generation=0)
    assert place.run().memories == 4
    assert place.found("tea") == [(short, new["revision"])]
    assert place.found("parrot Rio") == [(long, 1)]
    assert place.found("tea", other) == [(theirs, 1)]
    assert place.found("tea", shelf.address("eve")) == []
    assert gone


def test_what_changes_while_it_is_read_is_found_as_it_is_in_the_end(place: Place) -> None:
    shelf = place.shelf
    deleted = shelf.put("Ana has a red bicycle", indexed=False)
    changed = shelf.put("Ana has a blue kite", indexed=False)
    kept = shelf.put("Ana has a green boat", indexed=False)
    forgotten = shelf.put("Bob has a boat", address=shelf.address("bob"), indexed=False)
    rows = [shelf.memory_row(one) for one in (deleted, changed)]

    def meanwhile() -> None:
        shelf.table.write(Delete(key_of(rows[0])))
        shelf.table.write(Update(key_of(rows[1]), put={"revision": 9, "text": "Ana has a yellow kite"}))
        bob = shelf.address("bob")
        shelf.table.write(Update(bob.generation_key, add={bob.generation_name: 1}))
        if place.live:
            place.index.remove(shelf.address().owner, [(deleted, 1)])

    place.embedder.meanwhile = meanwhile
    place.run()
    assert place.found("Ana has") == [(kept, 1)]
    assert place.found("boat", shelf.address("bob")) == []
    assert forgotten


def test_an_interrupted_rebuild_goes_on_and_the_old_index_answers_meanwhile(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "scan", partial_scan(2))
    ids = {place.shelf.put(f"Ana likes tea number {n}", number=n, indexed=False) for n in range(6)}
    broken = place.rebuild()
    monkeypatch.setattr(broken, "note", failing_at(3, broken.note))
    with pytest.raises(Unavailable):
        replace(place, rebuild=lambda: broken).run()
    assert place.found("tea") == []
    seen = len(place.embedder.asked)
    place.embedder.asked.clear()
    place.run()
    assert {memory for memory, _ in place.found("tea")} == ids
    assert 0 < len(place.embedder.asked) < 6 <= seen + len(place.embedder.asked)


def test_a_rebuild_of_nothing_is_an_index_of_nothing(place: Place) -> None:
    assert place.run() == Progress()
    assert place.found("tea") == []


def test_another_embedder_has_its_own_index_after_it(place: Place) -> None:
    known = place.shelf.put("Ana drinks green tea", indexed=False)
    if place.live:
        place.run()
        assert place.found("tea") == [(known, 1)]
        return
    folder = place.rebuild.args[0]  # type: ignore[attr-defined]
    other = EmbeddedIndex(folder, "other", 256)
    with pytest.raises(IndexMismatch):
        other.ensure()
    EmbeddedRebuild(folder, "half", 256).begin()
    moved = replace(place, rebuild=partial(EmbeddedRebuild, folder, "other", 256), index=other)
    moved.run()
    other.ensure()
    assert moved.found("tea") == [(known, 1)]
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]


def test_a_scan_is_whole_whatever_its_pages(shelf: Shelf) -> None:
    ids = {shelf.put(f"tea {n}", number=n, indexed=False) for n in range(5)}
    seen, start = [], None
    while True:
        page = shelf.table.scan("begins_with(#sk, :sk)", {"sk": "m#"}, start, size=2)
        seen += [item["sk"].removeprefix("m#") for item in page.items]
        start = page.last
        if start is None:
            break
    assert sorted(seen) == sorted(ids)


def test_memories_written_changed_and_deleted_all_through_a_rebuild_are_in_it(
    opensearch_endpoint: str, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "scan", partial_scan(3))
    embedder = Eventful()
    with connection(opensearch_endpoint, embedder.dimension) as (client, names):
        index = OpenSearchIndex(client, names, Memo())
        index.ensure()
        writers = [Writer(shelf, index, shelf.address(f"user-{n}")) for n in range(3)]
        for writer in writers:
            writer.write(8)
        rebuild = OpenSearchRebuild(client, index, shards=1, grace=0)
        running = Reindexing(shelf.table, shelf.objects, embedder, rebuild=rebuild)
        with ThreadPoolExecutor(4) as threads:
            done = [threads.submit(writer.change_all) for writer in writers]
            running.run(lambda _: None)
            for future in done:
                future.result()
        assert len(index.there()) == 1
        for writer in writers:
            assert writer.seen() == writer.states
            assert writer.seen() == writer.present()


@dataclass
class Writer:
    """Writes one user's memories as the worker does: passages, row, a look whether both are found."""

    shelf: Shelf
    index: OpenSearchIndex
    address: UserAddress
    states: set[State] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def write(self, count: int) -> None:
        for _ in range(count):
            self.put(self.shelf.row("Ana drinks tea", address=self.address, number=next(self.numbers)))

    def change_all(self) -> None:
        for state in sorted(self.states):
            row = self.shelf.memory_row(state[0], self.address)
            if int(state[0][-1], 16) % 2:
                self.shelf.table.write(Delete(key_of(row)))
            else:
                self.put({**row, "revision": row["revision"] + 1})
            again(lambda state=state: self.index.remove(self.address.owner, [state]))
            self.states.discard(state)
            self.write(1)

    def put(self, row: Item) -> None:
        state = row["sk"].removeprefix("m#"), row["revision"]
        passages = passages_of([(row, row["text"])], self.shelf.embedder)
        again(lambda: self.index.put(passages))
        self.shelf.table.write(Put(row))
        while again(lambda: self.index.present(self.address.owner, [state])) != {state}:
            again(lambda: self.index.put(passages))
        self.states.add(state)

    def present(self) -> set[State]:
        return self.index.present(self.address.owner, self.states)

    def seen(self) -> set[State]:
        """Return what search finds."""
        vector = self.shelf.embedder.of_query("tea")
        (found,) = self.index.search([Ask(self.address.owner, "tea", vector, 0, 100, 0.0)])
        return {one.state for one in found.sparse}


# ---- The command


@pytest.fixture
def command(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setattr("shared.wiring.reindexing.embedder_of", lambda _: shelf.embedder)
    monkeypatch.setattr("shared.wiring.reindexing.GRACE_SECONDS", 0)
    monkeypatch.setattr(reindex, "reindexing", partial(reindex.reindexing, grace=0))

    def run(endpoint: str, **others: str) -> int:
        environment = shelf.environ
        given = {"table": environment["TABLE_NAME"], "bucket": environment["BUCKET_NAME"], "embedder": "local"}
        words = [
            word for name, value in {**given, "endpoint": endpoint, **others}.items() for word in (f"--{name}", value)
        ]
        return reindex.main(words, shelf.cloud.aws)

    return run


def test_the_command_makes_a_lost_index_again(
    opensearch_endpoint: str, shelf: Shelf, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    known = shelf.put("Ana drinks green tea", indexed=False)
    names = Names.of(shelf.table.name, shelf.embedder)
    with connection(opensearch_endpoint, shelf.embedder.dimension) as (client, _):
        index = OpenSearchIndex(client, names, TableLedger(shelf.table))
        try:
            index.ensure()
            client.indices.delete(index=names.index(1))
            with pytest.raises(IndexMismatch):
                index.ensure()
            assert command(opensearch_endpoint) == 0
            index.ensure()
            assert index.present(shelf.address().owner, [(known, 1)]) == {(known, 1)}
        finally:
            client.indices.delete(index=list(index.there()))
    assert "reindex: done, 1 memories in 1 passages" in capsys.readouterr().err


def test_the_command_says_what_does_not_answer(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("http://127.0.0.1:1") == 1
    assert "Run it again to go on from there" in capsys.readouterr().err
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert command("https://search.example.org") == 1
    assert "to sign requests to the search domain" in capsys.readouterr().err


def again(call: Callable[[], Any]) -> Any:
    """Do something as the worker does: what is unavailable now is done again."""
    while True:
        try:
            return call()
        except Unavailable:
            continue


def partial_scan(size: int) -> Callable[..., Any]:
    scan = Table.scan
    return lambda table, *arguments: scan(table, *arguments, size=size)


def failing_at(time: int, note: Callable[[str], None]) -> Callable[[str], None]:
    calls: list[str] = []

    def noting(mark: str) -> None:
        calls.append(mark)
        if len(calls) == time:
            raise Unavailable
        note(mark)

    return noting
