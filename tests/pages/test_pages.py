"""What pages name is there: links and their headings, files, targets of make, decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
DECISIONS = sorted(ROOT.glob("docs/decisions/0*.md"))
CODE = ("functions", "shared", "infra", "bench", "tests")
NAMED = re.compile(rf"`((?:{'|'.join(CODE)}|docs)/[\w./-]+)`")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the names by which a page's headings can be linked, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text("utf-8"))):
        if link.startswith("https://"):
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_it_names_are_there(page: Path) -> None:
    for name in NAMED.findall(page.read_text("utf-8")):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_that_it_names_are_targets(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = page.read_text("utf-8")
    named = re.findall(r"`(?:[A-Z_]+=\S+ )*make ([a-z-]+)", text) + re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)
    assert set(named) <= targets


def test_every_page_is_found_from_the_first_one() -> None:
    found, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in found:
            continue
        found.add(page)
        links = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
        targets = [(page.parent / link).resolve() for link in links if not link.startswith("https://")]
        left += [target / "README.md" if target.is_dir() else target for target in targets if _is_page(target)]
    assert set(PAGES) <= found


def _is_page(target: Path) -> bool:
    return target.suffix == ".md" or (target / "README.md").exists()


def test_every_decision_has_its_number_and_its_line_and_says_whether_it_is_a_one_way_door() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text("utf-8")
    for page in DECISIONS:
        text = page.read_text("utf-8")
        number = int(page.name[:4])
        title = text.partition("\n")[0].removeprefix(f"# {number}. ")
        assert f"| {number} | [{title}]({page.name}) |" in index
        assert re.search("one-way door", text, re.IGNORECASE), page.name


def test_decisions_that_code_names_are_there() -> None:
    numbers = {int(page.name[:4]) for page in DECISIONS}
    for folder in CODE:
        for file in (ROOT / folder).rglob("*.py"):
            named = re.findall(r"\b[Dd]ecision (\d+)", file.read_text("utf-8"))
            assert {int(number) for number in named} <= numbers, file
