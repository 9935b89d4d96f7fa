"""A long text becomes passages that can be found, and nothing of it is lost."""

from __future__ import annotations

import random

import pytest

from shared.search.passages import CONTEXT, LONGEST, day_words, embedding_text, passages_of


def test_a_short_text_is_one_passage() -> None:
    assert passages_of("I like tea.") == ["I like tea."]
    assert passages_of("") == [""]
    assert passages_of("x" * LONGEST) == ["x" * LONGEST]


@pytest.mark.parametrize(
    ("unit", "end"),
    [
        ("One sentence of a paragraph. Another one.\n\n", "\n\n"),
        ("a line without an end\n", "\n"),
        ("A sentence ends here. ", ". "),
        ('He said "stop!" Then he went on. ', " "),
        ("今天天气很好。", "。"),
        ("他说：“好！”然后走了。", "”。"),
        ("word ", " "),
    ],
)
def test_passages_end_where_the_text_has_an_end(unit: str, end: str) -> None:
    pieces = passages_of(unit * 500)
    assert "".join(pieces) == unit * 500
    assert all(LONGEST / 2 < len(piece) <= LONGEST for piece in pieces[:-1])
    assert all(piece.endswith(tuple(end)) for piece in pieces[:-1])


def test_a_paragraph_is_a_better_end_than_a_sentence() -> None:
    text = "Some words. " * 80 + "\n\n" + "More words. " * 100
    first, *_ = passages_of(text)
    assert first == "Some words. " * 80 + "\n\n"


def test_a_number_and_an_address_are_not_cut_where_a_word_can_be() -> None:
    pieces = passages_of("version 1.2.3 at https://example.org/a.b?c=d, " * 100)
    assert all(piece.endswith((",", ", ", "at ", "n ", "3 ")) for piece in pieces[:-1])


@pytest.mark.parametrize(
    "text", ["x" * 10_000, "茶" * 10_000, "\n" * 10_000, " " * 10_000, "a. " * 5_000, "🙂" * 5_000]
)
def test_nothing_is_lost_of_a_text_without_ends(text: str) -> None:
    pieces = passages_of(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= LONGEST for piece in pieces)


def test_nothing_is_lost_of_any_text() -> None:
    chance = random.Random(7)
    for _ in range(50):
        text = "".join(chance.choices("ab .。！?\n\r”“)，é茶🙂\x00", k=chance.randrange(6_000)))
        pieces = passages_of(text)
        assert "".join(pieces) == text
        assert all(len(piece) <= LONGEST for piece in pieces)


@pytest.mark.parametrize("unit", ["x", "\n", "\n ", "。", ".", '."', "”", " ", "a b. "])
def test_a_megabyte_of_anything_is_cut(unit: str) -> None:
    """It takes a fraction of a second; what is not linear in its input would take minutes here."""
    text = unit * (1_000_000 // len(unit))
    assert "".join(passages_of(text)) == text


def test_what_is_embedded_has_who_says_it_and_the_end_of_the_turn_before() -> None:
    assert embedding_text("A parrot.") == "A parrot."
    assert embedding_text("A parrot.", speaker="Ana") == "Ana: A parrot."
    assert embedding_text("A parrot.", speaker="Ana", previous="Bo: Which pet?") == "Bo: Which pet?\nAna: A parrot."
    assert embedding_text("A parrot.", previous="x" * 999 + "?") == "x" * (CONTEXT - 1) + "?\nA parrot."


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (None, ""),
        (1_795_737_600_000, "Friday 27 November 2026 2026-11-27 2026年11月27日"),
        (0, "Thursday 1 January 1970 1970-01-01 1970年1月1日"),
        (-1, "Wednesday 31 December 1969 1969-12-31 1969年12月31日"),
        (253_402_300_799_999, "Friday 31 December 9999 9999-12-31 9999年12月31日"),
    ],
)
def test_a_day_has_the_words_it_is_asked_for_by(ms: int | None, words: str) -> None:
    assert day_words(ms) == words
