"""What each format's reader makes of pages, sheets, slides, character sets and large files."""

import re
from pathlib import Path

import pytest

from shared.documents import rich_text, workbooks
from shared.documents.formats import sections_of
from shared.documents.limits import ParseLimits
from shared.documents.port import Section
from tests.documents.minimal import docx_parts, pdf, xlsx_parts, zipped
from tests.documents.reading import outcome, text


def sections(folder: Path, content: bytes, extension: str) -> list[Section]:
    path = folder / f"document.{extension}"
    path.write_bytes(content)
    return list(sections_of(path, extension, ParseLimits(), ocr=False))


@pytest.mark.parametrize(
    ("said", "encoding"),
    [
        ("gb2312", "gb18030"),
        ("GBK", "gb18030"),
        ("utf-8", "utf-8"),
        ("big5", "big5"),
        ("utf-8", "gb18030"),  # it says what is not so
        ("no-such-set", "utf-8"),
        ("zip", "utf-8"),
        ("", "utf-16"),
    ],
)
def test_a_page_is_decoded_as_it_says_where_that_is_so(tmp_path: Path, said: str, encoding: str) -> None:
    page = f'<head><meta charset="{said}"></head><body><p>天氣很好，我們去公園。天氣很好，我們去公園。</p></body>'
    found = sections(tmp_path, page.encode(encoding), "html")
    assert "天氣很好，我們去公園。" in found[0].text


def test_a_western_page_that_says_latin_means_what_browsers_take_for_it(tmp_path: Path) -> None:
    page = '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"><p>“Café” costs 5 €</p>'
    assert "“Café” costs 5 €" in sections(tmp_path, page.encode("cp1252"), "html")[0].text


def test_a_pages_title_is_its_heading_where_it_has_none(tmp_path: Path) -> None:
    head = "<head><title>Log &amp; book</title><meta name=description content=unseen></head>"
    assert sections(tmp_path, f"<html>{head}<p>Text</p>".encode(), "html")[0].heading == ("Log & book",)
    other = sections(tmp_path, f"<html>{head}<h1>Ships</h1><p>Text</p>".encode(), "html")
    assert other[0].heading == ("Ships",)
    assert "unseen" not in other[0].text


def test_large_rich_text_is_cut_between_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_text, "SLICE_BYTES", 1_000)
    head = rb"{\rtf1\ansi\ansicpg936{\fonttbl{\f0 Arial;}{\f1 SimSun;}}"
    said = [rb"\pard Paragraph %d {\b bold\par inside} \{ \'c4\'e3 \bin4 }}}}x\par" % each for each in range(100)]
    slices = list(rich_text.slices_of(head + b"\n".join(said) + b"}"))
    assert len(slices) > 3
    assert all(each.startswith(head) and each.endswith(b"}") for each in slices)
    numbers = [int(each) for part in slices for each in re.findall(rb"Paragraph (\d+)", part)]
    assert numbers == list(range(100))


def test_rich_text_without_fonts_or_paragraphs_is_cut_or_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_text, "SLICE_BYTES", 100)
    plain = rb"{\rtf1\ansi " + rb"word\par " * 100 + b"}"
    assert b"".join(rich_text.slices_of(plain)).count(b"word") == 100
    whole = rb"{\rtf1 " + b"word " * 100 + b"}"
    assert list(rich_text.slices_of(whole)) == [whole]
    small = rb"{\rtf1 a\par}"
    assert list(rich_text.slices_of(small)) == [small]


def test_a_large_rich_text_says_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_text, "SLICE_BYTES", 10_000)
    head = rb"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fcharset134 SimSun;}}\f0 "
    content = head + rb"".join(rb"Line %d says \'c4\'e3\'ba\'c3.\par " % each for each in range(2_000)) + b"}"
    said = "\n".join(section.text for section in sections(tmp_path, content, "rtf"))
    assert said.count("你好") == 2_000
    assert "Line 1999 says" in said


def test_pdf_sections_have_pages_and_what_bookmarks_name(tmp_path: Path) -> None:
    marks = [
        b"<< /Type /Outlines /First 5 0 R /Last 6 0 R >>",
        b"<< /Title (Harbour) /Parent 4 0 R /Next 6 0 R /First 7 0 R /Last 7 0 R /Dest [8 0 R /Fit] >>",
        b"<< /Title (Town) /Parent 4 0 R /Prev 5 0 R /Dest [12 0 R /Fit] >>",
        b"<< /Title (Ships) /Parent 5 0 R /Dest [10 0 R /Fit] >>",
    ]
    pages = [
        b"BT /F1 12 Tf 14 TL 72 720 Td (Before it.) Tj T* (1. Harbour) Tj T* (It was rebuilt.) Tj ET",
        b"BT /F1 12 Tf 72 720 Td (Eleven of them.) Tj ET",
        b"BT /F1 12 Tf 72 720 Td (Nobody counts here.) Tj ET",
    ]
    content = pdf(pages, extra=marks).replace(b"/Catalog", b"/Catalog /Outlines 4 0 R")
    found = [(each.page, each.heading, each.text.split("\n")[0]) for each in sections(tmp_path, content, "pdf")]
    assert found == [
        (1, (), "Before it."),
        (1, ("Harbour",), "1. Harbour"),
        (2, ("Harbour", "Ships"), "Eleven of them."),
        (3, ("Town",), "Nobody counts here."),
    ]


def test_a_sheets_name_is_as_it_was_written(tmp_path: Path) -> None:
    parts = xlsx_parts()
    parts["xl/workbook.xml"] = str(parts["xl/workbook.xml"]).replace('name="Ships"', 'name="A &amp; B_1 #2 *"')
    assert {section.sheet for section in sections(tmp_path, zipped(parts), "xlsx")} == {"A & B_1 #2 *"}


def test_what_is_embedded_in_a_document_is_no_part_of_it(tmp_path: Path) -> None:
    other = zipped(docx_parts("<w:p><w:r><w:t>embedded secret</w:t></w:r></w:p>"))
    found = outcome(tmp_path, zipped({**docx_parts(), "word/embeddings/other.docx": other}), "docx")
    assert "lighthouse" in text(found)
    assert "secret" not in text(found)


@pytest.mark.parametrize("numbered", [True, False])
def test_a_large_sheet_says_all_of_its_rows_once_each_part_under_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, numbered: bool
) -> None:
    def row(number: int, *cells: str) -> str:
        place = [f' r="{letter}{number}"' if numbered else "" for letter in "AC"]
        told = "".join(
            f'<c{at} t="inlineStr"><is><t>{cell}</t></is></c>' for at, cell in zip(place, cells, strict=True)
        )
        return (f'<row spans="1:3" r="{number}">' if numbered else "<row>") + told + "</row>"

    rows = "".join(row(each, f"ship {each}", f'&lt;c r="B{each}"') for each in range(3, 1_000))
    content = zipped(xlsx_parts(row(2, "Name", "Load") + rows))
    whole = sections(tmp_path, content, "xlsx")
    monkeypatch.setattr(workbooks, "SLICE_BYTES", 8_000)
    monkeypatch.setattr(workbooks, "_READ_BYTES", 1_000)
    parts = sections(tmp_path, content, "xlsx")
    assert len(whole) == 1
    assert len(parts) > 5
    head, rule, *said = whole[0].text.split("\n")
    assert all(part.sheet == "Ships" and part.text.startswith(f"{head}\n{rule}\n") for part in parts)
    assert [line for part in parts for line in part.text.split("\n")[2:]] == said
    assert len(said) == 997


def test_a_large_sheet_without_rows_that_are_known_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zipped(xlsx_parts())
    expected = sections(tmp_path, content, "xlsx")
    monkeypatch.setattr(workbooks, "SLICE_BYTES", 10)
    assert sections(tmp_path, content, "xlsx") == expected
    monkeypatch.setattr(workbooks, "_BEGIN", b"<none>")
    assert sections(tmp_path, content, "xlsx") == expected
