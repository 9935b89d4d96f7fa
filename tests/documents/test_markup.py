"""Markdown's headings make sections, and nothing else is taken for one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents.markup import plain_of, sections_of_markdown
from shared.documents.port import Section


def sections(text: str, *, converted: bool = False) -> list[Section]:
    return list(sections_of_markdown([text], converted=converted))


def headings(text: str) -> list[tuple[str, ...]]:
    return [section.heading for section in sections(text)]


def test_headings_lead_to_what_is_under_them_and_are_its_first_line() -> None:
    text = "Before.\n\n# Guide\n\n## Setup ##\nPlug it in.\n\n### Tools\nA hammer.\n\n## 使用\n按它。\n"
    assert sections(text) == [
        Section("Before."),
        Section("Guide\n\nSetup\n\nPlug it in.", ("Guide", "Setup")),
        Section("Tools\n\nA hammer.", ("Guide", "Setup", "Tools")),
        Section("使用\n\n按它。", ("Guide", "使用")),
    ]


def test_headings_that_are_underlined_are_headings() -> None:
    assert headings("Guide\n=====\nText.\n\nSetup\n---\nMore.") == [("Guide",), ("Guide", "Setup")]


@pytest.mark.parametrize(
    "text",
    [
        "#no space",
        "####### seven",
        "    # indented code",
        "```\n# a comment\nTitle\n=====\n```",
        "~~~~ sh\n# a comment\n~~~\n# still\n~~~~",
        "```\n# of a block without end",
        "Two lines\nof a paragraph\n---\nand a rule",
        "A paragraph.\n\n---\n\nAfter a rule.",
        "- item\n---\n",
        "| a |\n---\n",
        "> quote\n===\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert headings(text) == [()]


def test_front_matter_has_no_headings_and_stays_text() -> None:
    found = sections("---\ntitle: Guide\n# a comment\n---\n# Real\n\nText.")
    assert found == [Section("---\ntitle: Guide\n# a comment\n---"), Section("Real\n\nText.", ("Real",))]
    assert headings("---\n\n# Real\n\nText.")[-1] == ("Real",)


def test_a_heading_after_a_deeper_one_leaves_it() -> None:
    text = "### Deep\na\n# Top\nb\n### Skipped\nc\n## Second\nd"
    assert headings(text) == [("Deep",), ("Top",), ("Top", "Skipped"), ("Top", "Second")]


def test_headings_alone_are_a_section_too() -> None:
    assert sections("# A\n## B") == [Section("A\n\nB", ("A", "B"))]
    assert sections("#\n\n##   \n") == []


def test_marks_in_a_heading_are_not_its_name() -> None:
    assert headings("# **Bold** [link](https://example.org) `code` 1\\. #\nx") == [("Bold link `code` 1.",)]


def test_pages_and_sheets_are_handed_on() -> None:
    assert list(sections_of_markdown(["# A\n", "x"], page=3, sheet="S")) == [Section("A\n\nx", ("A",), 3, "S")]


def test_what_a_person_wrote_stays_and_what_a_converter_wrote_is_cleaned() -> None:
    text = 'See \\# [the guide](https://example.org/a_(b) "T") and **this** ![a cat](x.png) 2 \\* 3<!-- note -->.'
    assert sections(text) == [Section(text)]
    assert sections(text, converted=True) == [Section("See # the guide and this a cat 2 * 3.")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a * b * c", "a * b * c"),
        ("snake_case and __init__", "snake_case and __init__"),
        ("*one* **two** ***three***", "one two three"),
        ("[x] and (y) and [z]", "[x] and (y) and [z]"),
        ("| **a** | \\| |", "| a | | |"),
        ("<!-- a --> b <!-- c", " b <!-- c"),
        ("C:\\new", "C:\\new"),
    ],
)
def test_only_marks_are_taken_away(line: str, expected: str) -> None:
    assert plain_of(line) == expected


def test_code_of_a_converter_stays_as_it_is() -> None:
    text = "```\nx = **kwargs  # \\d\n```"
    assert sections(text, converted=True) == [Section(text)]


def test_a_long_section_comes_in_parts_while_it_is_read() -> None:
    endless = itertools.chain(["# A\n"], itertools.repeat("A line.\n\n"))
    first = next(sections_of_markdown(endless))
    assert first.heading == ("A",)
    assert len(first.text) < 40_000


@pytest.mark.parametrize("hostile", ["<!--", "[", "![a](", "*a", "**", "[a](b", "# ", "\\", "`", "- ", "|", '[a](b "'])
def test_marks_without_end_take_no_endless_time(hostile: str) -> None:
    text = hostile * (200_000 // len(hostile))
    assert list(sections_of_markdown([text, "\n", text + " -->"], converted=True))


PARTS = ("# a\n", "## b\n", "text ", "\n", "```\n", "===\n", "---\n", "~~~\n", "| x |\n", "- i\n")


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(PARTS)))
def test_all_words_are_in_the_sections_in_order_however_the_text_is_cut(parts: list[str]) -> None:
    whole = list(sections_of_markdown(["".join(parts)]))
    assert list(sections_of_markdown(parts)) == whole
    words = [word for part in parts for word in part.split() if word.isalpha()]
    assert [word for section in whole for word in section.text.split() if word.isalpha()] == words
