"""What only the index of OpenSearch promises, on a real node."""

from __future__ import annotations

import hashlib
import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.errors import Unavailable
from shared.search.embedded.index import EmbeddedIndex
from shared.search.opensearch import bulk, mapping
from shared.search.opensearch import index as index_module
from shared.search.opensearch.index import OpenSearchIndex
from shared.search.opensearch.names import Names, writing
from shared.search.opensearch.rebuilding import OpenSearchRebuild
from shared.search.port import AllOf, AnyOf, IndexMismatch, Is, Within
from tests.search.nodes import Memo, connection
from tests.search.passages import DIMENSION, EAST, NORTH, OWNER, by_meaning, by_words, ids, passage, search

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opensearchpy import OpenSearch

HOSTILE = (
    'a" OR "1"="1',
    "owner:* AND *:*",
    "\\",
    "{}[]()^~?*:!/",
    "\x00\x07\u2028\u200f",
    "\ud800",
    "🦄" * 300,
    "x" * 40_000,
    "<script>",
    "../..",
    "a,b",
)


@pytest.fixture
def stack(opensearch_endpoint: str) -> Iterator[tuple[OpenSearch, Names]]:
    with connection(opensearch_endpoint) as made:
        yield made


@pytest.fixture
def index(stack: tuple[OpenSearch, Names]) -> OpenSearchIndex:
    made = OpenSearchIndex(*stack, Memo())
    made.ensure()
    return made


def rebuild_of(stack: tuple[OpenSearch, Names], index: OpenSearchIndex, **options: Any) -> OpenSearchRebuild:
    return OpenSearchRebuild(stack[0], index, **{"shards": 1, "grace": 0, **options})


# ---- Making it


def test_two_that_make_it_at_once_make_one(stack: tuple[OpenSearch, Names]) -> None:
    starters = [OpenSearchIndex(*stack, Memo()) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda starter: starter.ensure(), starters))
    there = starters[0].there()
    assert list(there) == [stack[1].index(1)]
    assert stack[1].readable(there) == stack[1].written(there) == [stack[1].index(1)]


@pytest.mark.parametrize("change", [{"embedder": "other"}, {"dimension": 8}])
def test_an_index_of_another_embedder_is_refused_with_what_to_run(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex, change: dict[str, Any]
) -> None:
    client, names = stack
    other = OpenSearchIndex(client, replace(names, **change), Memo())
    with pytest.raises(IndexMismatch, match="Run `make reindex`"):
        other.ensure()
    for refused in (lambda: other.put([passage()]), lambda: search(other), lambda: other.present(OWNER, [("m1", 1)])):
        with pytest.raises(Unavailable):
            refused()
    assert list(index.there()) == [names.index(1)]


def test_a_write_never_makes_an_index_that_was_dropped(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, names = stack
    monkeypatch.setattr(index, "_written", lambda: [names.index(1)])
    client.indices.delete(index=names.index(1))
    with pytest.raises(Unavailable):
        index.put([passage()])
    assert index.there() == {}


def test_what_is_kept_can_not_be_read_back(stack: tuple[OpenSearch, Names], index: OpenSearchIndex) -> None:
    index.put([passage(text="the vault's code is 4711", session_id="s-secret")])
    (hit,) = stack[0].search(index=stack[1].prefix)["hits"]["hits"]
    assert "_source" not in hit


# ---- Searching


def test_a_users_nearest_are_found_among_many_others(index: OpenSearchIndex) -> None:
    chance = random.Random(7)
    passages = [
        passage(f"m{n}", owner=f"acme#main#{n % 40}", vector=[chance.gauss(0, 1) for _ in range(4)])
        for n in range(2_000)
    ]
    index.put([replace(one, vector=_of_length_1(one.vector)) for one in passages])
    for owner in ("acme#main#3", "acme#main#17"):
        own = [replace(one, vector=_of_length_1(one.vector)) for one in passages if one.owner == owner]
        near = sorted(own, key=lambda one: -_dot(one.vector, NORTH))[:10]
        assert by_meaning(index, NORTH, owner=owner) == [one.memory_id for one in near]


def test_words_score_as_in_the_embedded_index(index: OpenSearchIndex, tmp_path: Path) -> None:
    chance = random.Random(3)
    words = [f"{chr(97 + n % 26)}{n}word" for n in range(60)]
    said = [" ".join(chance.choices(words, range(60, 0, -1), k=chance.randrange(4, 40))) for _ in range(150)]
    passages = [passage(f"m{n:03}", text, previous=said[n - 1], day="Friday") for n, text in enumerate(said)]
    embedded = EmbeddedIndex(tmp_path / "search", "test", DIMENSION)
    embedded.ensure()
    for one in (index, embedded):
        one.put(passages)
    question = " ".join(words[10:50:5])
    ours, theirs = (search(one, question, k_dense=0).sparse for one in (index, embedded))
    embedded.close()
    assert ids(ours)[:5] == ids(theirs)[:5]
    assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], rel=0.05)


def test_similarities_are_cosines_again(index: OpenSearchIndex) -> None:
    index.put([passage("east"), passage("west", vector=(-1.0, 0.0, 0.0, 0.0)), passage("up", vector=(0.6, 0.8, 0, 0))])
    assert {one.memory_id: one.score for one in search(index).dense} == pytest.approx(
        {"east": 1.0, "up": 0.6, "west": -1.0}, abs=1e-6
    )


def test_a_memory_of_very_many_near_passages_does_not_crowd_out_the_next(index: OpenSearchIndex) -> None:
    index.put([passage("long", ordinal=n) for n in range(120)])
    index.put([passage("short", vector=(0.6, 0.8, 0.0, 0.0))])
    assert by_meaning(index, EAST, k_dense=2) == ["long", "short"]
    assert by_words(index, "green tea", k_sparse=2) == ["long", "short"]


def test_what_is_below_the_floor_is_not_looked_for_again(
    index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.put([passage("long", ordinal=n, vector=NORTH) for n in range(60)])
    monkeypatch.setattr(index_module, "_WIDER", None)  # looking farther would fail
    assert by_meaning(index, EAST, k_dense=5, floor=0.5) == []


def test_a_question_of_a_thousand_words_is_answered(index: OpenSearchIndex) -> None:
    index.put([passage("m1", "最后的词语"), passage("m2", "nothing of it")])
    long = "".join(chr(0x4E00 + n) for n in range(1_010)) + "最后的词语"
    assert by_words(index, long) == ["m1"]
    assert "m2" not in by_words(index, " ".join(f"word{n}" for n in range(200)) + " tea")


def test_the_longest_question_is_answered_within_the_longest_filter(index: OpenSearchIndex) -> None:
    named = {"agent_id": "n99", "app_id": "n99", "session_id": "n99", "types": ("core",), "event_at": 5}
    index.put([passage("m1", "最后的词语", **named), passage("m2", "最后的词语")])
    question = "".join(chr(0x4E00 + n) for n in range(1_010)) + "最后的词语"
    some = AnyOf(tuple(AllOf(_every_field(n)) for n in range(100)))
    assert by_words(index, question, where=AllOf((Is("types", ("semantic", "core")), some))) == ["m1"]
    assert by_meaning(index, where=some) == ["m1"]


def _every_field(n: int) -> tuple[Is | Within, ...]:
    """Return a condition on every field that a filter may name."""
    types = (*(f"type{m}" for m in range(99)), "core")
    named = (Is("agent_id", (f"n{n}",)), Is("app_id", (f"n{n}",)), Is("session_id", (f"n{n}",)), Is("types", types))
    return (*named, Within("created_at", gte=0), Within("event_at", lt=10**15))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_string_is_more_than_a_string(index: OpenSearchIndex, hostile: str) -> None:
    one = passage("m1", f"tea {hostile}", owner=f"acme#main#{hostile}", speaker=hostile, session_id=hostile)
    index.put([replace(one, types=(hostile, "episodic"), previous=hostile, day=hostile), passage("m2", "tea")])
    own = {"owner": one.owner}
    assert by_words(index, f"tea {hostile}", **own) == ["m1"]
    assert by_words(index, "tea", where=Is("session_id", (hostile,)), **own) == ["m1"]
    assert by_words(index, "tea", where=Is("types", (hostile, "other")), **own) == ["m1"]
    assert by_words(index, "tea", where=Is("types", ("other",)), **own) == []
    assert by_words(index, hostile, where=Is("session_id", (hostile,))) == []
    assert index.present(one.owner, [("m1", 1), ("m2", 1)]) == {("m1", 1)}
    index.remove(one.owner, [("m1", 1), ("m2", 1)])
    assert by_words(index, "tea", **own) == []
    assert by_words(index, "tea") == ["m2"]


def test_moments_beyond_all_numbers_are_bounds_too(index: OpenSearchIndex) -> None:
    index.put([passage("m1", created_at=5)])
    assert by_words(index, "tea", where=Within("created_at", gt=-(10**30), lt=10**30)) == ["m1"]
    assert by_words(index, "tea", where=Within("created_at", gt=10**30)) == []


def test_a_deep_condition_is_answered(index: OpenSearchIndex) -> None:
    index.put([passage("m1")])
    deep: Any = Is("modes", ("raw",))
    for _ in range(8):
        deep = AllOf((AnyOf((deep, Is("kind", ("fact",)))),))
    assert by_words(index, "tea", where=deep) == ["m1"]
    assert by_words(index, "tea", where=AnyOf(())) == []


def test_equal_scores_are_in_order_of_ids_however_they_came_in(index: OpenSearchIndex) -> None:
    names = [f"m{n:02}" for n in range(30)]
    for name in random.Random(1).sample(names, 30):
        index.put([passage(name)])
    found = search(index, k_dense=7, k_sparse=7)
    assert ids(found.sparse) == names[:7]
    assert ids(found.dense) == names[:7]


def test_many_passages_are_put_and_cleared_in_several_requests(
    index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH", 7)
    monkeypatch.setattr(index_module, "_REMOVED", 8)
    monkeypatch.setattr(index_module, "_STATES", 5)
    index.put([passage(f"m{n}", generation=n % 2) for n in range(40)])
    states = [(f"m{n}", 1) for n in range(42)]
    assert index.present(OWNER, states) == set(states[:40])
    assert index.clear(OWNER, 1) == 20
    assert index.present(OWNER, states) == set(states[1:40:2])
    index.remove(OWNER, states)
    assert index.present(OWNER, states) == set()


# ---- Rebuilding it


def test_a_rebuild_takes_what_is_written_and_removed_meanwhile(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex
) -> None:
    index.put([passage("old"), passage("removed"), passage("forgotten", generation=0)])
    rebuild = rebuild_of(stack, index)
    assert rebuild.begin() is None
    index.put([passage("new", generation=1)])
    rebuild.put([passage("old", generation=1), passage("removed", generation=1), passage("forgotten")])
    index.remove(OWNER, [("removed", 1)])
    assert set(by_words(index, "green tea")) == {"old", "forgotten", "new"}
    assert index.present(OWNER, [("new", 1), ("old", 1), ("removed", 1)]) == {("new", 1), ("old", 1)}
    index.clear(OWNER, 1)
    rebuild.finish()
    assert set(by_words(index, "green tea")) == {"new", "old"}
    assert list(index.there()) == [stack[1].index(2)]
    index.put([passage("later")])
    assert "later" in by_words(index, "green tea")


def test_what_only_one_of_two_indexes_has_is_not_present(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex
) -> None:
    """A memory that was put before a rebuild and committed after its scan would be lost at the switch."""
    index.put([passage("m1")])
    rebuild_of(stack, index).begin()
    assert index.present(OWNER, [("m1", 1)]) == set()
    index.put([passage("m1")])
    assert index.present(OWNER, [("m1", 1)]) == {("m1", 1)}


def test_what_was_put_and_changed_meanwhile_is_taken_back(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex
) -> None:
    rebuild = rebuild_of(stack, index)
    rebuild.begin()
    rebuild.put([passage("kept"), passage("stale")])
    rebuild.discard([passage("stale"), passage("never-there")])
    rebuild.finish()
    assert by_words(index, "green tea") == ["kept"]


def test_a_rebuild_goes_on_where_it_was(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("shared.search.opensearch.rebuilding.time", SimpleNamespace(sleep=slept.append))
    first = rebuild_of(stack, index, grace=30)
    first.begin()
    first.put([passage("m1")])
    first.note('{"pk": "…"}')
    second = rebuild_of(stack, index, grace=40)
    assert second.begin() == '{"pk": "…"}'
    second.put([passage("m2")])
    assert slept == [30]
    second.finish()
    assert slept == [30, 40]
    assert set(by_words(index, "green tea")) == {"m1", "m2"}


def test_a_rebuild_for_another_embedder_takes_its_place(
    stack: tuple[OpenSearch, Names], index: OpenSearchIndex
) -> None:
    client, names = stack
    index.put([passage("m1")])
    other = OpenSearchIndex(client, replace(names, embedder="other", dimension=2), Memo())
    rebuild = rebuild_of(stack, other)
    rebuild.begin()
    rebuild.put([passage("m1", vector=(1.0, 0.0))])
    with pytest.raises(IndexMismatch):
        other.ensure()
    assert by_meaning(index) == ["m1"]
    rebuild.finish()
    other.ensure()
    assert by_meaning(other, (1.0, 0.0)) == ["m1"]
    with pytest.raises(Unavailable):
        by_meaning(index)


def test_a_rebuild_may_divide_the_index(stack: tuple[OpenSearch, Names], index: OpenSearchIndex) -> None:
    rebuild = rebuild_of(stack, index, shards=3)
    rebuild.begin()
    rebuild.put([passage(f"m{n}", owner=f"acme#main#{n}") for n in range(12)])
    rebuild.finish()
    assert [by_words(index, "green tea", owner=f"acme#main#{n}") for n in range(12)] == [[f"m{n}"] for n in range(12)]


def test_a_lost_index_is_made_again_by_a_rebuild(stack: tuple[OpenSearch, Names], index: OpenSearchIndex) -> None:
    client, names = stack
    client.indices.delete(index=names.index(1))
    with pytest.raises(IndexMismatch):
        index.ensure()
    rebuild = rebuild_of(stack, index)
    rebuild.begin()
    rebuild.finish()
    index.ensure()
    assert writing(names.index(1)) in index.there()[names.index(1)]


def _of_length_1(vector: Any) -> tuple[float, ...]:
    length = _dot(vector, vector) ** 0.5
    return tuple(number / length for number in vector)


def _dot(one: Any, other: Any) -> float:
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def test_whoever_changes_the_mapping_counts_its_version_up() -> None:
    """An index keeps the mapping it was made with: one of another version is built beside it, never mixed with it."""
    told = json.dumps(mapping.definition(4, 1), sort_keys=True)
    assert (mapping.VERSION, hashlib.sha256(told.encode()).hexdigest()[:12]) == (2, "44270c8716b7")
