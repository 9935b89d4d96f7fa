"""Chunks respect what a document is made of, and nothing of it is lost or doubled."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents.chunking import chunks_of
from shared.documents.pieces import MOST, ROW, TARGET
from shared.documents.port import Chunk, Section
from shared.documents.sentences import sentence_ends, size_of
from shared.search.passages import LONGEST

ENGLISH = "The harbour of Lindavar was rebuilt in 1987 by Dr. Amelia Stone and her crew of forty. "
CHINESE = "林达瓦港于1987年由石艾米博士和她的四十名工人重建。"


def chunks(*sections: Section | str) -> list[Chunk]:
    return list(chunks_of(Section(each) if isinstance(each, str) else each for each in sections))


def texts(*sections: Section | str) -> list[str]:
    return [chunk.text for chunk in chunks(*sections)]


def sentences(text: str) -> list[str]:
    ends = [0, *sentence_ends(text, 0, len(text))]
    return [text[start:end].strip() for start, end in itertools.pairwise(ends)]


def bare(text: str) -> str:
    return "".join(text.split())


def test_nothing_makes_no_chunk_and_little_makes_one() -> None:
    assert chunks() == []
    assert chunks("", " \n\n\t ") == []
    assert texts("Tea.") == ["Tea."]


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_chunk_is_one_passage_of_whole_sentences(sentence: str) -> None:
    found = texts(sentence * 200)
    assert all(each.replace(sentence.strip(), "").isspace() or not each.replace(sentence.strip(), "") for each in found)
    assert all(TARGET / 2 < size_of(each) <= MOST for each in found[:-1])
    assert all(len(each) <= LONGEST for each in found)


def test_a_chinese_chunk_says_about_as_much_as_an_english_one() -> None:
    assert 350 <= len(texts(CHINESE * 200)[0]) <= 520
    assert 800 <= len(texts(ENGLISH * 200)[0]) <= 1_300


def test_a_chunk_ends_with_a_paragraph_where_it_can() -> None:
    paragraph = (ENGLISH * 4).strip()
    found = texts("\n\n".join([paragraph] * 30))
    assert all(each.endswith(paragraph) and each.startswith(paragraph) for each in found)


def test_the_last_chunk_is_no_small_rest() -> None:
    for count in range(1, 60):
        assert all(size_of(each) >= 250 for each in texts(ENGLISH * count)[1:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Stone met Mr. Hale at 5 p.m. in the U.S. embassy. It rained.", 2),
        ("It costs 3.50 euros, e.g. at Miller Inc. in Rome. See p. 4. Done!", 3),
        ('She said "Stop!" Then (perhaps) she left. "Why?" he asked.', 4),
        ("J. R. Tolkien wrote it. I did not, and neither did I. You did.", 3),
        ("1. Open the valve.\n2. Close it.\n", 2),
        ("Wait... what is it? Well.", 2),
        ("他说：“好！”然后走了。你呢？我也是！", 4),
        ("我看了《摔跤吧！爸爸》这部电影。很好看。", 2),
        ("版本3.5发布了。See docs. 完毕。", 3),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: int) -> None:
    assert len(sentences(text)) == expected, sentences(text)


def test_lines_that_were_only_wrapped_are_one_sentence() -> None:
    line = "which goes on and on without any stop for quite a while and is wrapped\n"
    found = texts("A sentence " + line * 8 + "until here. " + (ENGLISH * 30))
    assert "until here." in found[0]


def test_lines_of_a_list_may_be_parted_and_are_not_cut() -> None:
    items = [f"- item {n} of the list, which has no stop at all and is not short" for n in range(100)]
    found = texts("\n".join(items))
    assert [line for each in found for line in each.splitlines()] == items


def test_a_sentence_longer_than_a_chunk_is_cut_at_words() -> None:
    found = texts("word " * 2_000)
    assert all(re.fullmatch(r"(word ?)+", each) and size_of(each) <= TARGET for each in found)
    found = texts("没有句号的句子，" * 400)
    assert all(each.endswith("，") and size_of(each) <= TARGET for each in found)


@pytest.mark.parametrize("character", ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇨🇭", "\ud83d\ude00", "한", "क्षि"])
def test_no_cut_falls_into_a_character(character: str) -> None:
    found = texts(character * 3_000)
    assert "".join(found) == character * 3_000
    assert all(each.replace(character, "") == "" for each in found), [each[-3:] for each in found][:3]


@pytest.mark.parametrize("character", ["x", "茶", "\u0301", "\u200d", "。", ".", "…", "|", "`", "\t", "-"])
def test_any_character_a_million_times_comes_to_an_end(character: str) -> None:
    found = texts(character * 200_000)
    assert bare("".join(found)) == bare(character * 200_000)
    assert all(size_of(each) <= ROW for each in found)


def test_pages_slides_and_sheets_share_no_chunk() -> None:
    found = chunks(
        Section("One.", page=1), Section("Two.", page=2), Section("Three.", sheet="A"), Section("4.", sheet="B")
    )
    assert found == [
        Chunk("One.", page=1),
        Chunk("Two.", page=2),
        Chunk("Three.", sheet="A"),
        Chunk("4.", sheet="B"),
    ]


def test_paragraphs_of_one_section_share_chunks_however_they_come() -> None:
    whole = texts("\n\n".join([ENGLISH.strip()] * 40))
    assert texts(*[ENGLISH] * 40) == whole


def test_small_sections_are_joined_only_where_their_headings_are_related() -> None:
    guide = Section("Guide", ("Guide",)), Section("Setup\n\nPlug it in.", ("Guide", "Setup"))
    use = Section("Use\n\nPress it.", ("Guide", "Use"))
    other = Section("Licence\n\nFree.", ("Licence",))
    assert chunks(*guide, use, other) == [
        Chunk("Guide\n\nSetup\n\nPlug it in.\n\nUse\n\nPress it.", ("Guide",)),
        Chunk("Licence\n\nFree.", ("Licence",)),
    ]


def test_a_chunk_of_several_small_sections_is_named_by_what_they_are_all_under() -> None:
    hours, dogs = Section("Hours\n\nFrom nine to five.", ("Lodge", "Hours")), Section("Dogs\n\nYes.", ("Lodge", "Dogs"))
    assert [(chunk.heading, "Yes." in chunk.text) for chunk in chunks(hours, dogs)] == [(("Lodge",), True)]
    assert [chunk.heading for chunk in chunks(Section("Lodge", ("Lodge",)), hours)] == [("Lodge",)]


def test_what_stands_before_all_headings_shares_no_chunk_with_what_has_one() -> None:
    menu, hours = Section("Menu"), Section("From nine to five.", ("Lodge", "Hours"))
    assert [chunk.heading for chunk in chunks(menu, hours)] == [(), ("Lodge", "Hours")]


def test_a_section_of_some_size_begins_a_chunk_of_its_own() -> None:
    first, second = Section(ENGLISH * 6, ("A", "B")), Section(ENGLISH * 6, ("A", "C"))
    assert [chunk.heading for chunk in chunks(first, second)] == [("A", "B"), ("A", "C")]
    small = Section("Short.", ("A", "B"))
    assert [chunk.heading for chunk in chunks(small, Section(ENGLISH * 30, ("A", "C")))][:2] == [("A",), ("A", "C")]


def test_a_heading_stays_with_what_is_under_it() -> None:
    long = "A sentence that goes on, " * 39 + "until here."
    assert texts(f"Setup\n\n{long}\n\n{ENGLISH * 5}")[0].startswith("Setup\n\nA sentence")


def test_rows_are_not_cut_and_the_header_is_said_again() -> None:
    rows = [f"| {n} | A name with (a remark). And more. | {n * n} |" for n in range(200)]
    header = "| Number | Name | Square |\n| --- | --- | --- |"
    found = texts(f"Intro.\n\n{header}\n" + "\n".join(rows) + "\n\nOutro.")
    assert all(header in each for each in found)
    kept = [line for each in found for line in each.splitlines() if line.startswith("| ") and line not in header]
    assert kept == rows
    assert found[0].startswith("Intro.")
    assert found[-1].endswith("Outro.")


def test_a_header_stays_with_its_first_row() -> None:
    text = (ENGLISH * 12).strip() + "\n\n| A | B |\n|---|---|\n| 1 | " + "x" * 200 + " |\n| 2 | y |"
    assert [each for each in texts(text) if "|---|" in each] == [each for each in texts(text) if "| 1 |" in each]


def test_code_is_kept_whole_where_it_fits() -> None:
    code = "```python\n" + "x = 1  # a line. With stops!\n\n" * 30 + "```"
    text = f"{ENGLISH * 8}\n\n{code}\n\n{ENGLISH * 8}"
    assert any(code in each for each in texts(text))
    long = "~~~\n" + "\n".join(f"call({n})  # Why? Because." for n in range(300)) + "\n~~~\nAfter."
    lines = [line for each in texts(long) for line in each.splitlines() if line]
    assert lines == long.splitlines()


def test_chunks_come_while_sections_are_read() -> None:
    endless = (Section(ENGLISH * 3, page=page) for page in itertools.count(1))
    found = list(itertools.islice(chunks_of(endless), 3))
    assert [chunk.page for chunk in found] == [1, 2, 3]


PARTS = st.sampled_from(
    [
        *(
            "word ",
            "Sentence. ",
            "No. ",
            "“Quoted!” ",
            "中文句子。",
            "，",
            "\n",
            "\n\n",
            " ",
            "\t",
            "- item\n",
            "# head\n",
        ),
        *("| a | b |\n", "|---|---|\n", "```\n", "~~~\n", "x" * 300, "茶" * 300, "e\u0301", "🇨🇭", "..", "…", "\u3000"),
        *("A long sentence, " * 20, "| cell " * 100 + "|\n"),
    ]
)
TEXTS = st.lists(PARTS, max_size=60).map("".join)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.integers(0, 2), st.integers(1, 2)), max_size=6))
def test_nothing_is_lost_and_nothing_doubled(parts: list[tuple[str, int, int]]) -> None:
    sections = [Section(text, ("Top", "Sub")[:depth], page) for text, depth, page in parts]
    found = "".join(chunk.text for chunk in chunks_of(sections))
    whole = "".join(text for text, _, _ in parts)
    if "|---|" not in whole:
        assert bare(found) == bare(whole)
    else:  # headers are said again
        without = re.compile(r"\|a\|b\||\|---\|---\|")
        assert without.sub("", bare(found)) == without.sub("", bare(whole))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(TEXTS, max_size=6))
def test_no_chunk_is_empty_or_larger_than_a_row_may_be(parts: list[str]) -> None:
    for chunk in chunks(*parts):
        assert chunk.text == chunk.text.strip()
        assert 0 < size_of(chunk.text) <= ROW + MOST
