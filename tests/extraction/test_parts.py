"""A conversation is divided into parts whose number is bounded, and nothing of it is lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.extraction.language_model.parts import A_TURN, CHARACTERS, PARTS, parts_of, size_of
from shared.extraction.port import Turn


def turns(lengths: list[int]) -> tuple[Turn, ...]:
    return tuple(Turn(n, "user", chr(ord("a") + n % 26) * length) for n, length in enumerate(lengths))


@settings(max_examples=60)
@given(st.lists(st.sampled_from([0, 1, 50, 900, 12_000, 31_000, 70_000]), max_size=60))
def test_there_are_16_parts_at_most_and_together_they_are_the_conversation(lengths: list[int]) -> None:
    given_turns = turns(lengths)
    parts = parts_of(given_turns)
    assert len(parts) <= PARTS
    size = size_of(sum(lengths) + A_TURN * len(lengths))
    assert all(sum(len(turn.text) + A_TURN for turn in part) <= size for part in parts)
    flat = [turn for part in parts for turn in part]
    assert [turn.position for turn in flat] == sorted(turn.position for turn in flat)
    assert {n: "".join(turn.text for turn in flat if turn.position == n) for n in {turn.position for turn in flat}} == {
        turn.position: turn.text for turn in given_turns
    }


def test_the_largest_request_is_divided_too() -> None:
    parts = parts_of(turns([12_000] * 200))
    assert len(parts) <= PARTS
    assert max(sum(len(turn.text) for turn in part) for part in parts) < 310_000


@pytest.mark.parametrize("mark", ["\n", "。", ". ", " "])
def test_a_long_message_is_cut_behind_a_line_a_sentence_or_a_word(mark: str) -> None:
    text = ("x" * 79 + mark) * (2 * CHARACTERS // 80)
    first = parts_of((Turn(0, "user", text),))[0][0]
    assert first.text.endswith(mark)
    assert len(first.text) > CHARACTERS * 0.8


def test_no_turns_have_no_parts() -> None:
    assert parts_of(()) == []


def test_captions_count_and_go_with_the_end_of_their_message() -> None:
    told = Turn(0, "user", "x" * CHARACTERS, captions=("y" * 20_000,))
    parts = parts_of((told, Turn(1, "user", "z")))
    assert [turn.captions for part in parts for turn in part if turn.position == 0] == [(), told.captions]
    assert all(sum(len(t.text) + sum(map(len, t.captions)) for t in part) <= CHARACTERS for part in parts)
