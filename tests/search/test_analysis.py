"""What texts are found by, and what of a question is looked for."""

from __future__ import annotations

import random
import string
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.search.analysis import ANALYSED_CHARACTERS, chinese_share, is_chinese, query_terms, terms
from shared.search.asking import is_question


@pytest.mark.parametrize(
    ("text", "found_by"),
    [
        ("Running runs ran", ["run", "run", "ran"]),
        ("Ana's sister", ["ana", "sister"]),
        ("event_id", ["=event_id", "event", "id"]),
        ("max-retries", ["=max-retries", "max", "retri"]),
        ("v1.2.3", ["=v1.2.3", "v1", "v", "1", "2", "3"]),
        ("maxRetries", ["maxretri", "max", "retri"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("JWTs, parseURLs", ["jwt", "parseurl", "pars", "url"]),
        ("iPhone", ["iphon", "i", "phone"]),
        ("C++, C# or C.", ["=c++", "c", "=c#", "c", "or", "c"]),
        ("End.Next one", ["=end.next", "end", "next", "one"]),
        ("uses used using us", ["use", "use", "use", "us"]),
        ("ones, going on", ["one", "go", "on"]),
        ("don't stop", ["dont", "stop"]),
        ("绿茶", ["绿茶"]),
        ("喝绿茶", ["喝绿", "绿茶"]),
        ("茶", ["茶"]),
        ("用Python写代码", ["用", "python", "写代", "代码"]),
        ("カフェ", ["カフ", "フェ"]),
        ("", []),
        (" \n\t…🙂 ", []),
    ],
)
def test_a_text_is_found_by(text: str, found_by: list[str]) -> None:
    assert terms(text) == found_by


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        ("\uff21\uff22\uff23", "ABC"),
        ("e\u0301t\u00e9", "\u00e9te\u0301"),
        ("don\u2019t", "don't"),
        ("MAX-RETRIES", "max\u2010retries"),
        ("が", "か\u3099"),
    ],
)
def test_ways_to_write_one_thing_are_one(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


def test_a_mark_that_makes_another_letter_is_kept() -> None:
    assert terms("が") != terms("か")


@pytest.mark.parametrize(
    ("question", "looked_for"),
    [
        ("What did Caroline research?", ["carolin", "research"]),
        ("Where's my car?", ["car"]),
        ("When is Ana's birthday in May?", ["ana", "birthdai", "mai"]),
        ("What does US law say?", ["us", "law", "sai"]),
        ("who are you", ["who", "are", "you"]),
        ("tea tea TEA", ["tea"]),
        ("我妹妹学什么？", ["我妹", "妹妹", "妹学"]),
        ("你什么时候去的图书馆", ["图书", "书馆"]),
        ("什么", ["什么"]),
        ("event_id 是什么？", ["=event_id", "event", "id"]),
    ],
)
def test_a_question_looks_for_what_it_is_about(question: str, looked_for: list[str]) -> None:
    assert [term for term in query_terms(question) if term in looked_for] == looked_for
    assert len(query_terms(question)) <= len(looked_for) + 2


def test_words_in_capitals_are_names() -> None:
    assert query_terms("what is IT") == ["it"]


@pytest.mark.parametrize(
    ("text", "share"),
    [("", 0), ("123 !", 0), ("green tea", 0), ("喝绿茶", 1), ("用 API 写", 2 / 5), ("ひらがな", 0)],
)
def test_the_share_of_chinese_is_of_letters(text: str, share: float) -> None:
    assert chinese_share(text) == pytest.approx(share)


def test_a_chinese_text_may_hold_english_names() -> None:
    assert is_chinese("Cedar 回调模块的重试次数是多少")
    assert not is_chinese("What does 你好 mean in English?")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Do you like tea?", True),
        ("I like tea. Do you?", True),
        ("Really? Wow, a parrot that talks!", True),
        ("A parrot, " + "and it talks all day long, " * 4 + "can you believe it? It does.", False),
        ("你喜欢绿茶吗", True),
        ("你呢？”", True),
        ("我喜欢绿茶。", False),
        ('She said "why?"', True),
        ("I like tea.", False),
        ("", False),
    ],
)
def test_a_text_that_asks_is_told_from_one_that_tells(text: str, *, asks: bool) -> None:
    assert is_question(text) is asks


HOSTILE = {
    "one letter": "a" * 1_000_000,
    "dots": "a." * 500_000,
    "signs after a letter": "a" + "." * 1_000_000,
    "apostrophes": "'" * 1_000_000,
    "accents": "e" + "\u0301" * 1_000_000,
    "one character": "茶" * 1_000_000,
    "capitals": "aB" * 500_000,
    "ligatures": "\ufdfa" * 300_000,
    "question characters": "什么" * 500_000,
    "spaces": " " * 1_000_000,
    "controls": "\x00" * 1_000_000,
    "surrogates": "\ud800" * 1_000_000,
    "random": "".join(map(chr, random.Random(1).choices(range(1, 0xD7FF), k=1_000_000))),
    "words": " ".join("".join(random.Random(n).choices("abcdefgh", k=7)) for n in range(125_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_of_a_megabyte_of_anything_the_beginning_is_analysed(name: str) -> None:
    """It takes a fraction of a second; what is not linear in its input would take minutes here."""
    assert len(terms(HOSTILE[name])) <= 2 * ANALYSED_CHARACTERS
    assert len(query_terms(HOSTILE[name])) <= 2 * ANALYSED_CHARACTERS
    assert not is_question(HOSTILE[name])
    assert 0 <= chinese_share(HOSTILE[name]) <= 1


def test_threads_stem_alike() -> None:
    words = [f"{start}{end}" for start in string.ascii_lowercase for end in ("rational", "ing", "lates", "ness")]
    with ThreadPoolExecutor(8) as pool:
        stemmed = list(pool.map(terms, [" ".join(words)] * 50))
    assert stemmed == [terms(" ".join(words))] * 50
