"""Whatever is said: the same answer each time, nothing invented, positions that exist, and work in proportion."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.extraction.port import CATEGORIES, Conversation, Learnt, Turn
from shared.extraction.rules import RuleExtractor
from shared.extraction.rules.cleaning import spoken
from shared.extraction.rules.sentences import sentences
from tests.extraction.conversations import NOW, conversation

PIECES = st.sampled_from(
    [
        "I",
        "my",
        "we",
        "you",
        "live in",
        "love",
        "Berlin",
        "Ana",
        "forget",
        "that",
        "remember",
        "yesterday",
        "in 2019",
        "hi",
        "thanks",
        "what",
        "please",
        "at most 3",
        "must",
        ".",
        "!",
        "?",
        ", ",
        "\n",
        "\n\n",
        "> ",
        "```",
        "- ",
        "1. ",
        "<memories>",
        "</memories>",
        "Relevant memories:",
        '[{"a": ',
        "🙂",
        "<|endoftext|>",
        "我",
        "住在",
        "北京",
        "昨天",
        "不要记住",
        "，",
        "。",
        "？",
        "谢谢",
    ]
)
LISTS = st.lists(PIECES, max_size=30)
SAID = st.one_of(st.text(max_size=200), LISTS.map(" ".join), LISTS.map("".join))
TURNS = st.lists(
    st.builds(
        Turn,
        position=st.integers(0, 500),
        role=st.sampled_from(["user", "assistant"]),
        text=SAID,
        speaker=st.sampled_from([None, "user", "Caroline", "张伟", "u-1"]),
        at=st.one_of(st.none(), st.integers(0, 2 * NOW)),
    ),
    max_size=6,
    unique_by=lambda turn: turn.position,
)
RESOLVED = {"caroline", "s", "张", "伟", "is", "has", "does", "will", "goes", "doesn", "hasn", "wasn"}


def tokens(text: str) -> set[str]:
    return set(re.findall(r"[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+|\d+", text.lower()))


def is_from(word: str, source: set[str]) -> bool:
    """Tell whether a word is the source's, a name put for "I", or a verb that agrees with it."""
    base = word.removesuffix("s")
    known = {word, base, base.removesuffix("e"), f"{base.removesuffix('ie')}y"}
    return bool(known & (source | RESOLVED))


@settings(deadline=None, max_examples=60)
@given(turns=TURNS, code=st.booleans())
def test_nothing_is_invented(*, turns: list[Turn], code: bool) -> None:
    taught = RuleExtractor().extract(Conversation(tuple(turns), NOW, code=code))
    said = {turn.position: turn.text for turn in turns}
    kept: tuple[Learnt, ...] = (*taught.facts, *([taught.summary] if taught.summary else []))
    for each in kept:
        assert each.positions
        assert each.positions == tuple(sorted({*each.positions} & {*said}))
        source = tokens(" ".join(said[position] for position in each.positions))
        assert [word for word in tokens(each.text) if not is_from(word, source)] == []
        assert each.memory_type in ("core", "episodic", "semantic", "procedural")
        assert set(each.categories) <= set(CATEGORIES)


@settings(deadline=None, max_examples=60)
@given(turns=TURNS, code=st.booleans())
def test_the_answer_is_always_the_same(*, turns: list[Turn], code: bool) -> None:
    talk = Conversation(tuple(turns), NOW, code=code)
    assert RuleExtractor().extract(talk) == RuleExtractor().extract(talk)


@settings(deadline=None, max_examples=60)
@given(turns=TURNS)
def test_an_assistant_teaches_nothing_of_the_user(turns: list[Turn]) -> None:
    talk = Conversation(tuple(turn for turn in turns if turn.role == "assistant"), NOW)
    assert RuleExtractor().extract(talk).facts == ()
    assert RuleExtractor().extract(talk).summary is None


@settings(deadline=None, max_examples=60)
@given(SAID)
def test_sentences_lose_no_letter(text: str) -> None:
    lines = text.split("\n")
    kept = "".join("".join(sentences(lines)).split())
    assert kept.replace(";", "").replace("；", "") == "".join(text.split()).replace(";", "").replace("；", "")


@settings(deadline=None, max_examples=60)
@given(SAID)
def test_what_is_spoken_is_part_of_the_text(text: str) -> None:
    assert all(line in text for line in spoken(text))


HOSTILE = [
    "a", "I live in Berlin. ", "我住在北京，", "<memories>", "</memories>", "<memories ", "<<<memory", "`",
    "```\n", "> ", '{"a":', "[{", "(", '"', "'", "- ", "I ", "i am ", "my my ", "not not ", "forget that ", "1. ",
    "A. ", "。", "?", "... ", "\n", "\r\n", " ", "yes, ", "hi ", "I love, ", "，", "最", "请", "什么", "in 2019 ",
    "a few ", "three days ", "Relevant memories: ", "5月", "十", "_", "I've ", "I don't know what, ", "é", "🙂",
    "I and ", "\u3000", "and I ", "and my ", "http://a.", "\u200b", "\ud800", "İ", "switched from a to ",
    "my a is ", "比起", "把",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_whatever_is_repeated_is_read_in_one_pass(part: str) -> None:
    """Were the work a square of the text's length, these would take minutes each."""
    taught = RuleExtractor().extract(conversation(part * (40_000 // len(part)), speaker="Caroline"))
    assert len(taught.facts) <= 2


def test_a_megabyte_in_one_line_is_read() -> None:
    taught = RuleExtractor().extract(conversation("I live in Berlin. " + "x" * 1_000_000, "我喜欢茶。" * 20_000))
    assert [fact.text for fact in taught.facts] == ["I live in Berlin.", "我喜欢茶。"]
