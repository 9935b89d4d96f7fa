"""What `embed` promises, held against markdown-it as an independent reader of CommonMark.

markdown-it itself leaves CommonMark in three places, which the generated documents keep out of: it takes `>` for a
block quote's marker however far a line is indented, ends a paragraph after link reference definitions (what follows
could then begin a block that can't interrupt a paragraph), and measures some tabs wrongly.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from shared.projects.markdown import embed
from shared.projects.markdown_blocks import MAX_DEPTH

if TYPE_CHECKING:
    from types import FrameType

_READER = MarkdownIt("commonmark", {"maxNesting": 4 * MAX_DEPTH})
_JOINT = re.compile(r"\\*[ \t\n]+")
_UNLIKE_COMMONMARK = re.compile(r"(?: {4}|\t)[ \t]*>|\]:")
_VERBATIM = ("fence", "code_block", "html_block")


class Block(NamedTuple):
    """A token of the reader: its type and all of it that counts."""

    type: str
    level: int
    content: str


def outline(text: str) -> list[Block]:
    """Read a document; heading text has its white space and line breaks made alike."""
    blocks: list[Block] = []
    for token in _READER.parse(text + "\n"):  # it stumbles over a last line of white space alone
        heading = token.type.startswith("heading")
        content = f"{token.info}\n{token.content}" if token.type in _VERBATIM else token.content or str(token.attrs)
        if blocks and blocks[-1].type == "heading_open":
            content = _JOINT.sub(" ", content)
        blocks.append(Block(token.type, int(token.tag[1]) if heading else 0, content))
    return blocks


def pushed(blocks: list[Block]) -> list[Block]:
    return [block._replace(level=block.level and min(block.level + 2, 6)) for block in blocks]


def without_closing(before: list[Block], after: list[Block]) -> list[Block]:
    """Undo what a closing line may have added to the one block that was open at the end."""
    differing = [at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other]
    if len(differing) == 1 and before[differing[0]].type in _VERBATIM:
        one, other = (blocks[differing[0]].content.rstrip("\n") for blocks in (before, after))
        added = other.removeprefix(one).strip()
        if other.startswith(one) and re.fullmatch(r"|-->|\?>|>|\]\]>|</\w+>", added):
            return [*after[: differing[0]], before[differing[0]], *after[differing[0] + 1 :]]
    return after


def stands_alone(text: str) -> bool:
    """Tell if a text in a section leaves this section and the next one as they are."""
    tokens = _READER.parse(f"## a\n\n{embed(text)}\n\n## b\n")
    tops = [at for at, token in enumerate(tokens) if token.type == "heading_open" and token.tag in ("h1", "h2")]
    return [(tokens[at].level, tokens[at + 1].content) for at in tops] == [(0, "a"), (0, "b")]


HARD_CASES = {
    "level one": ("# A", "### A"),
    "level five stops at six": ("##### A\n###### B\n", "###### A\n###### B\n"),
    "seven marks are text": ("# A\n####### B", "### A\n####### B"),
    "no space is text": ("# A\n#B", "### A\n#B"),
    "an empty heading": ("#\n", "###\n"),
    "a closing sequence that mirrors": ("## A ##  \n", "#### A ####  \n"),
    "a closing sequence that does not": ("## A ####\n# B \\#\n# C#", "#### A ####\n### B \\#\n### C#"),
    "a heading of a closing sequence alone": ("# #", "### ###"),
    "a tab after the mark": ("#\tA", "###\tA"),
    "a heading ends a paragraph": ("a\n# B\nc", "a\n### B\nc"),
    "an indented heading": ("   # A\n    # code", "   ### A\n    # code"),
    "over-indented in a paragraph": ("# A\nb\n    # c", "### A\nb\n    # c"),
    "escaped": ("# A\n\n\\# B", "### A\n\n\\# B"),
    "underlined": ("A\n===\nB\n---\nc", "### A\n#### B\nc"),
    "underlined by one mark": ("A\n=\n\nB\n-\n", "### A\n\n#### B\n"),
    "underlined at the end, spaces after": ("A  \n  ---  ", "#### A  "),
    "underlined lines are joined": ("  A\n    b  \nc\n===\n", "  ### A b c\n"),
    "underlined with a hard break": ("A\\\nb\\\\\nc\n===\n", "### A b\\\\ c\n"),
    "underlined code may end a line in a backslash": ("`A\\\nb`\n===\n", "### `A\\ b`\n"),
    "underlined text like a closing sequence": ("A #\n===\n", "### A # ###\n"),
    "underlined text of marks alone": ("#######\n===\n", "### ####### ###\n"),
    "an underline has no paragraph": ("---\n\n===\n# A", "---\n\n===\n### A"),
    "an underline with a gap": ("A\n- -\n# B", "A\n- -\n### B"),
    "a rule after a blank line": ("# A\n\nb\n\n---", "### A\n\nb\n\n---"),
    "in a quote": ("> # A\n> B\n> ===\n>c\n>---", "> ### A\n> ### B\n>#### c"),
    "a lazy underline is none": ("> a\n===\n- b\n===\n# C", "> a\n===\n- b\n===\n### C"),
    "a lazy rule": ("> a\n---\n# B", "> a\n---\n### B"),
    "a lazy line in a heading": ("> A\nb\n> ===\n", "> ### A b\n"),
    "in an item": ("- # A\n- B\n  ===\n  c", "- ### A\n- ### B\n  c"),
    "in a numbered item": ("12. # A\n\n    B\n    ---\n", "12. ### A\n\n    #### B\n"),
    "number two cannot end a paragraph": ("# A\nb\n2. # c", "### A\nb\n2. # c"),
    "number two can after an item": ("- a\n2. # B", "- a\n2. ### B"),
    "an empty item cannot end a paragraph": ("# A\nb\n*\n      # c", "### A\nb\n*\n      # c"),
    "an empty item": ("-\n  # A\n-\n\n  # B\n", "-\n  ### A\n-\n\n  ### B\n"),
    "an empty item ends with a blank line": ("-\n\n      # code\n# A", "-\n\n      # code\n### A"),
    "code in an item": ("-     # code\n\n      # code\n  # A", "-     # code\n\n      # code\n  ### A"),
    "tabs in containers": ("-\t# A\n>\t# B\n-\t\t# code", "-\t### A\n>\t### B\n-\t\t# code"),
    "containers in containers": ("> 1. > - # A\n>    > - B\n>    >   ---\n", "> 1. > - ### A\n>    > - #### B\n"),
    "fenced": ("```\n# a\n```\n# B\n~~~ # c\n# d\n```\n~~~", "```\n# a\n```\n### B\n~~~ # c\n# d\n```\n~~~"),
    "a fence closes with as many marks": ("````\n```\n# a\n`````\n# B", "````\n```\n# a\n`````\n### B"),
    "a fence closes unindented": ("```\n    ```\n# a\n   ```\n# B", "```\n    ```\n# a\n   ```\n### B"),
    "not a fence": ("``` a`b\n# A", "``` a`b\n### A"),
    "a fence ends with its quote": ("> ```\n> # a\n# B", "> ```\n> # a\n### B"),
    "a fence ends with its item": ("- ```\n\n  # a\n# B", "- ```\n\n  # a\n### B"),
    "an open fence": ("~~~~ py\n# a", "~~~~ py\n# a\n~~~~"),
    "an open fence, line ended": ("```\n# a\n", "```\n# a\n```"),
    "an open fence in containers": ("> 1. ```\n>    # a\n", "> 1. ```\n>    # a\n>    ```"),
    "an HTML block": ("<div>\n# a\n\n# B\n</div>", "<div>\n# a\n\n### B\n</div>"),
    "a tag alone": ("<x-y a='b' c>\n# a\n\nb\n<i>\n# C", "<x-y a='b' c>\n# a\n\nb\n<i>\n### C"),
    "not a tag alone": ("<x-y a='b' c> d\n# A", "<x-y a='b' c> d\n### A"),
    "a comment": ("<!-- a\n\n# b\n--> # c\n# D", "<!-- a\n\n# b\n--> # c\n### D"),
    "an open comment": ("# A\n<!-- b\n\n# c", "### A\n<!-- b\n\n# c\n-->"),
    "an open instruction": ("<?php\n# a\n", "<?php\n# a\n?>"),
    "an open declaration": ("<!DOCTYPE\n\n# a\n", "<!DOCTYPE\n\n# a\n>"),
    "open character data": ("<![CDATA[\n# a ]>\n", "<![CDATA[\n# a ]>\n]]>"),
    "an open script": ("<SCRIPT a>\n# a\n", "<SCRIPT a>\n# a\n</SCRIPT>"),
    "any raw tag ends any": ("<pre>\n# a\n</style>\n# B\n", "<pre>\n# a\n</style>\n### B\n"),
    "an open comment in a quote": ("> <!-- a\n> # b", "> <!-- a\n> # b\n> -->"),
    "a comment ends with its quote": ("> <!-- a\n\n# B", "> <!-- a\n\n### B"),
    "definitions above a heading": ("[a]: /u\n[b]: <v> 't\nt'\nA\n===\n", "[a]: /u\n[b]: <v> 't\nt'\n### A\n"),
    "definitions above a heading in containers": ("- > [a]: /u\r\n  > A\r\n  > -\r\n", "- > [a]: /u\r\n  > #### A\r\n"),
    "definitions alone are no heading": ("[a]: /u\n---\n# A\n", "[a]: /u\n\n---\n### A\n"),
    "definitions alone, then a heading": ("> [a]: /u\n> ===\n> ===\n", "> [a]: /u\n>\n> ### ===\n"),
    "no definition": ("[a]: /u v\n===\n[b]\n---\n", "### [a]: /u v\n#### [b]\n"),
    "an open title at the end": ("# A\n[a]: /u 'b", "### A\n[a]: /u 'b"),
    "line endings": ("# A\r\nB\r===\rc\r\n\rD\n---\r\n", "### A\r\n### B\rc\r\n\r#### D\r\n"),
    "closed with its own line ending": ("# A\r\n```", "### A\r\n```\r\n```"),
    "other separators are text": ("# A\x0b# b\u2028# c\x85\n\u00a0\n===\n", "### A\x0b# b\u2028# c\x85\n### \u00a0\n"),
    "NUL": ("\0\n# \0\n\0\n===\n", "\0\n### \0\n### \0\n"),
    "a lone surrogate": ("# \ud800\n", "### \ud800\n"),
    "deeper than is taken": (">" * MAX_DEPTH + "> # a\n# B", ">" * MAX_DEPTH + "\\> # a\n### B"),
    "an item deeper than is taken": ("> " * MAX_DEPTH + "1. # a", "> " * MAX_DEPTH + "1\\. # a"),
}


@pytest.mark.parametrize(("text", "embedded"), HARD_CASES.values(), ids=HARD_CASES)
def test_hard_cases_come_out_to_the_letter_and_stand_alone(text: str, embedded: str) -> None:
    assert embed(text) == embedded
    assert stands_alone(text.replace("\ud800", "?"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\r\n \r",
        "plain",
        "fixed #3 - see C# and a == b - done\n\n- one\n- two\n  1. three\n\n> said\n\n    code\n\n* * *\n",
        "a | b\n--- | ---\n1 | 2",
        "`code` and ``code`` ~ <b>bold</b> <https://example.org>\n<div>\n</div>\n",
        "[a]: /u 'open\n",
        ">" * 1000,
    ],
)
def test_a_text_without_structure_is_unchanged(text: str) -> None:
    assert embed(text) == text


LEAVES = [
    *("", "", "A", "foo bar", "A #", "a\\", "A  ", "`c", "d`", "\\# x", "| a |", "é", "\0", "\u2028", "\x0b"),
    *("# A", "## B ##", "#", "# #", "#### C #", "######  D", "####### E", "#x", "#\tA"),
    *("===", "=", "---", "-", "- - -", "***", "* * *", "___", " ===", "   ---  "),
    *("```", "````", "~~~", "```py", "``` a`b", "    code", "      # code"),
    *("<div>", "</div>", "<b>", "</b>", "<a href='x'>", "<a b", "<!-- c", "<!-- x -->", "-->", "<script>", "</script>"),
    *("<pre", "</pre>", "<?php", "?>", "<!X", "<![CDATA[", "]]>", "<", "<script>x</script>", "<style", "<textarea>"),
    *("- ", "1. ", "2)", "+ x", "10. # A", "> # A", ">", ">> b"),
]
PREFIXES = ["", "", "", "> ", ">", "- ", "* ", "+ ", "1. ", "2) ", "10. ", "  ", "   ", "    "]
ENDINGS = ["\n", "\n", "\n", "\n", "\n", "\r\n", "\r"]


def inside(first: str, rest: str, text: str) -> str:
    """Put a text into a container: one prefix for its first line, one for the others."""
    lines = re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text)
    return first + rest.join(lines)


LINES = st.builds("{}{}{}".format, st.sampled_from(PREFIXES), st.sampled_from(LEAVES), st.sampled_from(ENDINGS))
NOISE = st.text("#=->`~*+_<!?/ \n\r\\a1.)[]\t'\"\0é", max_size=12)
FRAGMENTS = st.lists(LINES | LINES | LINES | NOISE, max_size=6).map("".join)
CONTAINERS = [
    ("> ", "> "),
    (">", ">"),
    ("> ", ""),
    ("- ", "  "),
    ("* ", "  "),
    ("1. ", "   "),
    ("-    ", "     "),
    ("2) ", ""),
]
NESTED = st.builds(
    lambda container, text: inside(container[0], container[1], text), st.sampled_from(CONTAINERS), FRAGMENTS
)
TWICE = st.builds(lambda container, text: inside(container[0], container[1], text), st.sampled_from(CONTAINERS), NESTED)
DEFINITIONS = st.sampled_from(["[a]: /u\n\n", "[b]: <x y> 'ti\ntle'\n\n", "[a]: /u\nA\n===\n", "[a]: /u\n===\n"])
DOCUMENTS = (
    st.lists(FRAGMENTS | NESTED | TWICE, min_size=1, max_size=4)
    .map("".join)
    .flatmap(lambda text: st.sampled_from([text, text.rstrip("\r\n")]))
)


@given(DOCUMENTS)
@example("- a\n\n  B\n  ===\n> ```\n> # c")
@settings(max_examples=300, derandomize=True, deadline=None)
def test_every_reader_sees_the_same_blocks_with_headings_two_levels_lower(text: str) -> None:
    assume("\t" not in text)
    assume(not _UNLIKE_COMMONMARK.search(text))
    before, after = pushed(outline(text)), outline(embed(text))
    assert without_closing(before, after) == before


@given(st.lists(DOCUMENTS | DEFINITIONS, max_size=3).map("".join))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_nothing_reaches_the_sections_around(text: str) -> None:
    assume(not _UNLIKE_COMMONMARK.search(re.sub(r"(?m)^\[[ab]\]:", "", text)))
    assert stands_alone(text)


@given(st.text(max_size=40))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_any_text_can_be_embedded(text: str) -> None:
    assert stands_alone(text)


@given(DOCUMENTS)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_what_is_embedded_has_nothing_more_to_close(text: str) -> None:
    lines = embed(text).splitlines()
    assert len(embed(embed(text)).splitlines()) == len(lines)


ADVERSE = {
    "quotes in one line": (">", "\n# a"),
    "quotes in every line": (">" * MAX_DEPTH + "\n", "# a"),
    "marks in one line": ("#", " a"),
    "headings": ("#\n", ""),
    "items in one line": ("- ", "x\n# a"),
    "items in every line": ("- " * MAX_DEPTH + "a\n", "# a"),
    "a rule that is none": ("* ", "x\n# a"),
    "blank lines": ("\n", "# a"),
    "underlines": ("x\n=\n", ""),
    "a line of equal signs": ("=", "x\n# a"),
    "definitions": ("[a]: /u\n", "==="),
    "definitions apart": ("[a]: /u\n===\n", ""),
    "open labels": ("[\\[a\n", "==="),
    "open titles": ("[a]: /u\n'\\'\n", "==="),
    "parentheses": ("[a]: ((\\(", "\n==="),
    "backslashes": ("a\\\n", "==="),
    "fences": ("```\n", ""),
    "attributes": ("<a a='b' ", "\n# a"),
    "comments": ("<!--\n", ""),
    "tabs": (">\t", "# a"),
    "spaces": (" ", "x\n# a"),
}


def steps(text: str) -> int:
    """Count the calls that embedding a text takes, those of built-in functions too."""
    count = 0

    def call(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(call)
    try:
        embed(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(("unit", "end"), ADVERSE.values(), ids=ADVERSE)
def test_the_work_grows_no_faster_than_the_text(unit: str, end: str) -> None:
    small, large = (steps(unit * (size // len(unit)) + end) for size in (2000, 8000))
    assert large <= 5 * small


@pytest.mark.parametrize(("unit", "end"), ADVERSE.values(), ids=ADVERSE)
def test_a_long_adverse_text_comes_to_its_end(unit: str, end: str) -> None:
    text = unit * ((1 << 17) // len(unit)) + end
    assert len(embed(text)) <= 3 * len(text)


def test_blank_lines_and_deep_containers_do_not_multiply() -> None:
    deep = "> " + "- " * (MAX_DEPTH - 1) + "x\n"
    assert steps(deep + ">\n" * 2000 + "# a") <= 5 * steps(deep + ">\n" * 500 + "# a")
