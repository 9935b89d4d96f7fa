"""The promises of the port, on both indexes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import pytest

from shared.search.port import AllOf, Is, Not, Within
from tests.search.passages import (
    EAST,
    NORTH,
    NORTH_EAST,
    OWNER,
    WEST,
    ask,
    by_meaning,
    by_words,
    ids,
    passage,
    search,
    where,
)

if TYPE_CHECKING:
    from shared.search.port import SearchIndex


# ---- Putting, removing, forgetting ---------------------------------------------------------------------


def test_what_was_put_is_found_at_once(index: SearchIndex) -> None:
    index.put([passage("m1", "I drink green tea every morning")])
    found = search(index, "green tea")
    assert [one.state for one in found.sparse] == [("m1", 1)]
    assert [one.state for one in found.dense] == [("m1", 1)]


def test_nothing_is_found_where_nothing_was_put(index: SearchIndex) -> None:
    found = search(index, "green tea")
    assert (found.dense, found.sparse) == ((), ())
    assert index.present(OWNER, [("m1", 1)]) == set()
    index.remove(OWNER, [("m1", 1)])
    assert index.clear(OWNER, before_generation=9) == 0


def test_putting_nothing_and_asking_nothing_is_no_error(index: SearchIndex) -> None:
    index.put([])
    assert index.search([]) == []
    assert index.present(OWNER, []) == set()
    index.remove(OWNER, [])


def test_putting_again_changes_nothing(index: SearchIndex) -> None:
    passages = [passage("m1", ordinal=n) for n in range(3)]
    index.put(passages)
    before = search(index, "green tea")
    index.put(passages)
    index.put([*passages, *passages])
    assert search(index, "green tea") == before


def test_what_was_removed_is_not_found_any_more(index: SearchIndex) -> None:
    index.put([passage("m1", ordinal=0), passage("m1", "green tea again", ordinal=1), passage("m2")])
    index.remove(OWNER, [("m1", 1), ("never there", 7)])
    assert by_words(index, "green tea") == ["m2"]
    assert by_meaning(index) == ["m2"]


def test_what_was_removed_can_be_put_again(index: SearchIndex) -> None:
    index.put([passage("m1")])
    index.remove(OWNER, [("m1", 1)])
    index.put([passage("m1", "black coffee")])
    assert by_words(index, "black coffee") == ["m1"]
    assert by_words(index, "green tea") == []


def test_a_revision_goes_without_the_next_one(index: SearchIndex) -> None:
    index.put([passage("m1", "I live in Berlin", revision=1), passage("m1", "I live in Madrid", revision=2)])
    index.remove(OWNER, [("m1", 1)])
    (found,) = search(index, "I live in Berlin", k_dense=0).sparse
    assert found.state == ("m1", 2)


def test_both_revisions_are_found_until_the_first_is_removed(index: SearchIndex) -> None:
    index.put([passage("m1", "I live in Berlin", revision=1), passage("m1", "I live in Madrid", revision=2)])
    found = search(index, "live")
    assert {one.state for one in found.sparse} == {("m1", 1), ("m1", 2)} == {one.state for one in found.dense}


def test_present_tells_what_search_would_find(index: SearchIndex) -> None:
    index.put([passage("m1"), passage("m2", revision=3)])
    asked = [("m1", 1), ("m1", 2), ("m2", 3), ("m3", 1)]
    assert index.present(OWNER, asked) == {("m1", 1), ("m2", 3)}
    index.remove(OWNER, [("m1", 1)])
    assert index.present(OWNER, asked) == {("m2", 3)}


def test_earlier_generations_are_cleared_and_counted(index: SearchIndex) -> None:
    index.put([passage("m1", generation=0, ordinal=n) for n in range(2)])
    index.put([passage("m2", generation=1), passage("m3", generation=2)])
    assert index.clear(OWNER, before_generation=2) == 3
    assert by_words(index, "green tea") == ["m3"]
    assert by_meaning(index) == ["m3"]
    assert index.clear(OWNER, before_generation=2) == 0


# ---- Owners --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "others",
    [
        ["acme#main#0123456789abcdef0123456789abcde", "acme#main#0123456789abcdef0123456789abcdef0", "acme#main#"],
        ["%", "*", "_", "acme#main#%", "acme#main#*", "?"],
        ["", " ", "'", '"', "' OR 1=1 --", '"}', "a\\b", "../../etc", "a/b", "a\x00b", "甲#乙#丙", "\ud800"],
    ],
    ids=["beginnings", "wildcards", "odd characters"],
)
def test_an_owner_sees_nothing_of_another(index: SearchIndex, others: list[str]) -> None:
    for number, owner in enumerate([OWNER, *others]):
        index.put([passage(f"m{number}", owner=owner)])
    for number, owner in enumerate([OWNER, *others]):
        assert by_words(index, "green tea", owner=owner) == [f"m{number}"]
        assert by_meaning(index, owner=owner) == [f"m{number}"]
        assert index.present(owner, [(f"m{other}", 1) for other in range(len(others) + 1)]) == {(f"m{number}", 1)}
    index.clear(others[0], before_generation=1)
    index.remove(others[1], [("m0", 1)])
    assert by_words(index, "green tea") == ["m0"]


def test_questions_of_several_owners_are_answered_in_order(index: SearchIndex) -> None:
    index.put([passage("m1"), passage("m2", owner="other#main#1")])
    answers = index.search([ask(owner="other#main#1"), ask("nothing like it", k_dense=0), ask()])
    assert [ids(answer.sparse) for answer in answers] == [["m2"], [], ["m1"]]


# ---- Channels ------------------------------------------------------------------------------------------


def test_a_channel_of_no_candidates_is_left_out(index: SearchIndex) -> None:
    index.put([passage("m1")])
    assert search(index, k_dense=0).dense == ()
    assert search(index, k_dense=0, vector=()).sparse != ()
    assert search(index, k_sparse=0).sparse == ()
    assert search(index, k_sparse=0).dense != ()


def test_a_channel_gives_its_best_k(index: SearchIndex) -> None:
    index.put([passage(f"m{n}", "tea " * (n + 1) + "x " * (9 - n), vector=_at(n / 10)) for n in range(10)])
    found = search(index, "tea", k_dense=3, k_sparse=2, vector=NORTH)
    assert ids(found.dense) == ["m9", "m8", "m7"]
    assert ids(found.sparse) == ["m9", "m8"]


def test_a_memory_of_many_passages_is_found_once_by_its_best(index: SearchIndex) -> None:
    long = [passage("long", f"green tea part {n}", ordinal=n, vector=_at(n / 30)) for n in range(30)]
    index.put([*long, passage("short", "green", vector=NORTH_EAST)])
    found = search(index, "green tea", k_dense=2, k_sparse=2, vector=NORTH)
    assert ids(found.dense) == ["long", "short"]
    assert found.dense[0].score == pytest.approx(29 / 30, abs=2e-3)
    assert ids(found.sparse) == ["long", "short"]


def test_similarity_is_the_vectors_and_falls(index: SearchIndex) -> None:
    index.put([passage("same", vector=EAST), passage("near", vector=NORTH_EAST), passage("apart", vector=NORTH)])
    found = search(index, vector=EAST, k_sparse=0).dense
    assert ids(found) == ["same", "near", "apart"]
    assert [one.score for one in found] == pytest.approx([1, 0.6, 0], abs=2e-3)


def test_the_floor_keeps_far_ones_out_of_the_dense_channel_alone(index: SearchIndex) -> None:
    index.put([passage("same"), passage("near", vector=NORTH_EAST), passage("far", vector=WEST)])
    found = search(index, "green tea", floor=0.5)
    assert ids(found.dense) == ["same", "near"]
    assert set(ids(found.sparse)) == {"same", "near", "far"}
    assert ids(search(index, floor=0.9).dense) == ["same"]


def test_opposite_vectors_are_found_when_no_floor_keeps_them_out(index: SearchIndex) -> None:
    index.put([passage("far", vector=WEST)])
    (found,) = search(index, vector=EAST, floor=-1).dense
    assert found.score == pytest.approx(-1, abs=2e-3)


def test_equal_scores_are_in_order_of_ids(index: SearchIndex) -> None:
    names = [f"m{n:02}" for n in range(20)]
    index.put([passage(name) for name in reversed(names)])
    found = search(index, k_dense=7, k_sparse=7)
    assert ids(found.dense) == names[:7]
    assert ids(found.sparse) == names[:7]


def test_a_found_question_is_told_as_one(index: SearchIndex) -> None:
    index.put(
        [passage("m1", "Do you like green tea?"), passage("m2", "I like green tea"), passage("m3", "喜欢绿茶吗？")]
    )
    found = search(index, "green tea")
    assert {one.memory_id: one.asks for one in found.dense} == {"m1": True, "m2": False, "m3": True}
    assert {one.memory_id: one.asks for one in found.sparse} == {"m1": True, "m2": False}


def test_what_is_of_a_document_is_found_with_its_name(index: SearchIndex) -> None:
    index.put([passage("m1", document_id="Dé/1", reading="r1"), passage("m2")])
    found = search(index)
    assert {one.memory_id: one.document_id for one in found.dense} == {"m1": "Dé/1", "m2": None}
    assert {one.memory_id: one.document_id for one in found.sparse} == {"m1": "Dé/1", "m2": None}


def test_a_reading_can_be_left_out(index: SearchIndex) -> None:
    of_one = {"document_id": "d1"}
    index.put([passage("m1", **of_one, reading="r1"), passage("m2", **of_one, reading="r2"), passage("m3")])
    assert where(index, Not(Is("reading", ("r1",)))) == {"m2", "m3"}
    assert where(index, Not(Is("reading", ("r1", "r2", "r3")))) == {"m3"}
    assert where(index, AllOf((Is("document_id", ("d1",)), Not(Is("reading", ("r2",)))))) == {"m1"}
    assert where(index, Is("reading", ("r2",))) == {"m2"}


# ---- Words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("My sister is studying law", "What did her sister study?"),
        ("Retries reuse the same event_id", "event_id"),
        ("set max-retries to 3", "what is MAX-RETRIES?"),
        ("foo.bar(x) raises", "foo.bar"),
        ("released as v1.2.3", "v1.2.3"),
        ("call maxRetries first", "max retries"),
        ("call max_retries first", "the retry limit"),
        ("written in C++ and C#", "c++"),
        ("mail ana@example.org", "ana@example.org"),
        ("Café Müller", "cafe muller"),
        ("\uff21\uff22\uff23\uff11\uff12 of full width", "abc12"),
        ("Don\u2019t panic", "don't"),
        ("Привет, мир", "мир"),
        ("what is it", "what is it"),
        ("flight AF1234 at 9:30", "9:30"),
        ("云工开物 300 元学生券", "云工开物优惠券"),
        ("我昨天去了上海图书馆", "你什么时候去的图书馆？"),
        ("我妹妹在北京学法律", "我妹妹学什么？"),
        ("我喜歡喝綠茶", "喜歡什麼茶？綠茶"),
        ("昨日、東京で寿司を食べました", "東京で何を食べた？"),
        ("서울에서 살아요", "서울"),
    ],
)
def test_words_find_what_they_should(index: SearchIndex, text: str, query: str) -> None:
    index.put([passage("it", text), passage("other", "zzz 完全无关 qqq")])
    found = search(index, query, k_dense=0).sparse
    assert ids(found) == ["it"]
    assert found[0].score > 0


def test_an_identifier_is_worth_more_than_its_parts(index: SearchIndex) -> None:
    index.put([passage("parts", "the id of an event"), passage("whole", "the event_id of it all, here and there")])
    assert by_words(index, "event_id")[0] == "whole"


def test_the_turn_before_finds_its_answer_and_who_spoke_it_does_not(index: SearchIndex) -> None:
    question = "Melanie: What kind of pet does your sister have?"
    index.put([passage("answer", "A parrot, and it talks!", previous=question, speaker="Caroline")])
    index.put([passage("said to her", "Nice.", previous="Caroline: I am here", following="Caroline: So am I")])
    assert by_words(index, "what pet does the sister have") == ["answer"]
    assert by_words(index, "Caroline") == ["answer"]
    assert by_words(index, "Melanie") == []


def test_words_of_a_passage_count_more_than_its_neighbours(index: SearchIndex) -> None:
    rest = {"previous": "nothing here", "following": "nothing there"}
    index.put([passage("before", "well", **{**rest, "previous": "a parrot sings"})])
    index.put([passage("after", "well", **{**rest, "following": "a parrot sings"})])
    index.put([passage("itself", "a parrot sings", **rest)])
    assert by_words(index, "parrot") == ["itself", "before", "after"]


def test_a_day_is_found_by_its_words(index: SearchIndex) -> None:
    index.put([passage("then", "we met", day="Friday 27 November 2026 2026-11-27 2026年11月27日")])
    assert [by_words(index, q) for q in ("in November 2026", "on friday", "2026-11-27", "11月27日")] == [["then"]] * 4


@pytest.mark.parametrize(
    "query",
    [
        'a AND b OR NOT "c" NEAR(d, 2) ^e* -f +g {h} [i TO j]',
        "text:tea OR 1=1; DROP TABLE passages; --",
        "\" ' \\ / ( ) { } [ ] * ? ~ ^ : + - ! && || < > = @ # $ % ` |",
        "\x00\x01\x1f\x7f",
        "\ud800 lone surrogate",
        "<|endoftext|> <script>alert(1)</script> ${jndi:ldap://x}",
        "🙂" * 1_024,
        "a" * 1_024,
        "什" * 1_024,
        " ".join(f"w{n}" for n in range(300))[:1_024],
        "*",
        "",
    ],
    ids=[
        "syntax",
        "sql",
        "signs",
        "controls",
        "surrogate",
        "marks",
        "emoji",
        "one word",
        "zh",
        "words",
        "star",
        "none",
    ],
)
def test_a_hostile_question_is_only_words(index: SearchIndex, query: str) -> None:
    index.put([passage("m1", "green pot")])
    found = search(index, query)
    assert found.sparse == ()
    assert ids(found.dense) == ["m1"]


def test_a_hostile_text_is_stored_and_found(index: SearchIndex) -> None:
    texts = {
        "nul": "tea\x00pot",
        "mark": "<|endoftext|> mark",
        "quote": "o'hara \"'); DROP TABLE x",
        "lone": "\ud800 one",
    }
    index.put([passage(name, text) for name, text in texts.items()])
    queries = {"nul": "pot", "mark": "endoftext", "quote": "o'hara", "lone": "one"}
    assert {name: by_words(index, query) for name, query in queries.items()} == {name: [name] for name in queries}


def test_a_text_without_words_is_found_by_meaning(index: SearchIndex) -> None:
    index.put([passage("smile", "🙂"), passage("nothing", "")])
    assert by_meaning(index) == ["nothing", "smile"]
    assert by_words(index, "🙂") == []


# ---- Many at once --------------------------------------------------------------------------------------


def test_parallel_writers_and_readers_of_one_owner_lose_nothing(index: SearchIndex) -> None:
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            found = ids(search(index, k_dense=50, k_sparse=50).dense)
            assert len(set(found)) == len(found)

    def write(writer: int) -> None:
        for n in range(5):
            name = f"w{writer}-{n}"
            index.put([passage(name, created_at=n)])
            assert name in by_meaning(index, k_dense=50, where=Within("created_at", gte=n, lte=n))
            if n % 2:
                index.remove(OWNER, [(name, 1)])
                assert name not in by_meaning(index, k_dense=50)

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        writers = [pool.submit(write, n) for n in range(4)]
        wait(writers)
        done.set()
    for each in (*writers, *readers):
        each.result()
    assert set(by_meaning(index, k_dense=50)) == {f"w{writer}-{n}" for writer in range(4) for n in (0, 2, 4)}


def _at(share: float) -> tuple[float, ...]:
    """Return a vector whose similarity to NORTH is this share."""
    return ((1 - share * share) ** 0.5, share, 0.0, 0.0)
