"""What is still read of JSON that is none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.extraction.language_model.loose_json import CANDIDATES, values_in
from shared.kernel.strict_json import compact

FACT = {"facts": [{"text": "I like tea"}]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"facts":[{"text":"I like tea"}]}',
        ' \n{"facts": [{"text": "I like tea",},],}',
        '```json\n{"facts": [{"text": "I like tea"}]}\n```',
        '```\n{"facts": [{"text": "I like tea"}]}',
        'Sure! Here is the JSON: {"facts": [{"text": "I like tea"}]} Anything else?',
        "{'facts': [{'text': 'I like tea'}]}",
        '{"facts": [{"text": "I like tea"}',
        '{"facts": [{"text": "I like tea"}, {"text": "I also like co',
        '{"facts": [{"text": "I like tea", "memory_type": "sem',
        '{"facts": [{"text": "I like tea", "event_at": 17',
        '{"facts": [{"text": "I like tea", "forget": tru',
    ],
)
def test_fences_prose_commas_and_a_missing_end_do_not_matter(text: str) -> None:
    assert next(values_in(text))[0] == FACT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r'{"text": "path \users \q \uZZZZ \u00e9"}', "path \\users \\q \\uZZZZ é"),
        ('{"text": "line one\nline two\ttab",}', "line one\nline two\ttab"),
        ('{"text": "she said "hi" to me"}', 'she said "hi" to me'),
        (r'{"text": "\ud83d\ude00 \"quoted\" \\ \/",}', '😀 "quoted" \\ /'),
        (r'{"text": "half \ud83d pair",}', "half � pair"),
    ],
)
def test_broken_escapes_quotes_and_line_ends_stay_in_the_text(text: str, said: str) -> None:
    assert [value["text"] for value, _ in values_in(text)] == [said]


@pytest.mark.parametrize(
    ("text", "cut"), [('{"a": 1}', False), ('{"a": 1,}', False), ('x {"a": [1', True), ("[", True)]
)
def test_it_is_told_when_the_end_is_missing(text: str, cut: bool) -> None:  # noqa: FBT001
    assert [was_cut for _, was_cut in values_in(text)] == [cut]


def test_what_stands_in_prose_before_the_answer_is_a_value_of_its_own() -> None:
    assert [value for value, _ in values_in('As [1] says, {x} and {"facts": []}')] == [[1], {"facts": []}]


@pytest.mark.parametrize("text", ["", "no JSON", "{nonsense}", "[" * 5_000, '{"a" "b"}', "{5: 6}", "\\", '"'])
def test_nothing_is_found_in_what_is_none(text: str) -> None:
    assert [value for value, _ in values_in(text) if not isinstance(value, str)] == []


def test_a_long_reply_of_brackets_is_given_up_soon() -> None:
    assert len(list(values_in("{x} " * 100_000 + "[1]"))) < CANDIDATES


@given(VALUES.filter(lambda value: isinstance(value, dict | list)))
def test_whatever_json_says_is_read_the_same_beside_prose(value: Any) -> None:
    assert next(values_in(compact(value)))[0] == value


@given(
    st.dictionaries(st.sampled_from("abc"), st.lists(st.text("xyzé字\\\"'", max_size=6), max_size=3), min_size=1),
    st.data(),
)
def test_of_an_answer_cut_anywhere_nothing_is_read_that_was_not_said(
    value: dict[str, list[str]], data: st.DataObject
) -> None:
    text = compact(value)
    end = data.draw(st.integers(1, len(text) - 1))
    for found, cut in values_in(text[:end]):
        assert cut
        assert all(said == value[name][: len(said)] for name, said in found.items())


@given(st.text("{}[]\",:\\u'ab1 tn", max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    list(values_in(text))
