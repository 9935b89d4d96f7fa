"""Documents of as many pages as are asked for, made by hand; a page has nearly 3,000 characters that mean nothing."""

from __future__ import annotations

import io
import random
import re
import struct
import zipfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_WORDS: Final = """harbour ship count keeper salt timber evening crew forty rebuilt light tower north wind cargo captain
anchor market bridge winter storm ledger clerk price rope barrel stone quay season letter voyage island"""
_OFFICE: Final = "http://schemas.openxmlformats.org"
_LINKS: Final = f"{_OFFICE}/officeDocument/2006/relationships"
_TYPE: Final = "application/vnd.openxmlformats-officedocument."
_SHEET: Final = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
_XHTML: Final = "http://www.w3.org/1999/xhtml"


def paper(extension: str, pages: int) -> bytes:
    """Return a document of one of `PAPERS`; the same each time."""
    chance = random.Random(pages)
    return PAPERS[extension]([_page(chance) for _ in range(pages)])


def _page(chance: random.Random) -> list[str]:
    """Six paragraphs of some sentences."""
    words = _WORDS.split()
    return [" ".join(" ".join(chance.choices(words, k=12)).capitalize() + "." for _ in range(6)) for _ in range(6)]


def _text(pages: list[list[str]]) -> bytes:
    return "\n\n".join("\n\n".join(page) for page in pages).encode()


def _markdown(pages: list[list[str]]) -> bytes:
    return "\n\n".join("\n\n".join((f"## Part {n}", *page)) for n, page in enumerate(pages, 1)).encode()


def _html(pages: list[list[str]]) -> bytes:
    return f"<html><body>{''.join(_chapter(n, page) for n, page in enumerate(pages, 1))}</body></html>".encode()


def _chapter(number: int, page: list[str]) -> str:
    return f"<h2>Part {number}</h2>{''.join(f'<p>{each}</p>' for each in page)}"


def _rtf(pages: list[list[str]]) -> bytes:
    said = "".join("".join(f"{each}\\par\n" for each in page) for page in pages)
    return f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl\\f0 Arial;}}\\f0 {said}}}".encode()


def _docx(pages: list[list[str]]) -> bytes:
    words = f"{_OFFICE}/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for page in pages for each in page)
    document = f'<w:document xmlns:w="{words}"><w:body>{body}</w:body></w:document>'
    return _package("word/document.xml", "wordprocessingml.document", {"word/document.xml": document})


def _xlsx(pages: list[list[str]]) -> bytes:
    sheets = f"{_OFFICE}/spreadsheetml/2006/main"
    cells = (sentence.split() for page in pages for each in page for sentence in each.split(". "))
    one = "<c t='inlineStr'><is><t>{}</t></is></c>"
    rows = "".join(f"<row>{''.join(map(one.format, row))}</row>" for row in cells)
    book = (
        f'<workbook xmlns="{sheets}" xmlns:r="{_LINKS}"><sheets><sheet name="Ledger" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>"
    )
    parts = {
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": _relations([("worksheet", "worksheets/sheet1.xml")]),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{sheets}"><sheetData>{rows}</sheetData></worksheet>',
    }
    return _package("xl/workbook.xml", "spreadsheetml.sheet", parts)


def _pptx(pages: list[list[str]]) -> bytes:
    spaces = f'xmlns:p="{_OFFICE}/presentationml/2006/main" xmlns:r="{_LINKS}" xmlns:a="{_OFFICE}/drawingml/2006/main"'
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, len(pages) + 1))
    parts = {
        "ppt/presentation.xml": f"<p:presentation {spaces}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(
            ("slide", f"slides/slide{n}.xml") for n in range(1, len(pages) + 1)
        ),
    }
    for number, page in enumerate(pages, 1):
        said = "".join(f"<a:p><a:r><a:t>{each}</a:t></a:r></a:p>" for each in page)
        parts[f"ppt/slides/slide{number}.xml"] = (
            f'<p:sld {spaces}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id="2" name="a"/><p:cNvSpPr/><p:nvPr/>'
            f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{said}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        )
    return _package("ppt/presentation.xml", "presentationml.presentation", parts)


def _epub(pages: list[list[str]]) -> bytes:
    names = [f"c{number}" for number in range(len(pages))]
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in names)
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">1</dc:identifier><dc:title>Log</dc:title>'
        f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    chapters = {
        f"{name}.xhtml": f'<html xmlns="{_XHTML}"><head><title/></head><body>{_chapter(n, page)}</body></html>'
        for n, (name, page) in enumerate(zip(names, pages, strict=True), 1)
    }
    return _zipped(
        {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "book.opf": package, **chapters}
    )


def _mobi(pages: list[list[str]]) -> bytes:
    content = _html(pages)
    pieces = [content[place : place + 4_096] for place in range(0, len(content), 4_096)]
    header = struct.pack(">4sIIIII", b"MOBI", 232, 2, 65_001, 1, 6).ljust(232, b"\0")
    first = struct.pack(">HHIHHHH", 2, 0, len(content), len(pieces), 4_096, 0, 0) + header
    records = [first, *(_packed(piece) for piece in pieces)]
    start, entries = 78 + 8 * len(records), b""
    for record in records:
        entries += struct.pack(">II", start, 0)
        start += len(record)
    head = b"Log".ljust(60, b"\0") + b"BOOKMOBI" + struct.pack(">IIH", 0, 0, len(records))
    return head + entries + b"".join(records)


def _packed(text: bytes) -> bytes:
    """Pack spaces with the letters after them, the cheapest of PalmDoc's three ways."""
    return re.sub(rb" ([@-~])", lambda found: bytes((found[1][0] ^ 0x80,)), text)


def _pdf(pages: list[list[str]]) -> bytes:
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        drawn = f"BT /F1 8 Tf 10 TL 36 760 Td {' '.join(f'({line}) Tj T*' for line in _lines(page))} ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {_SHEET} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    file, places = "%PDF-1.7\n", []
    parts = [file]
    size = len(file)
    for number, each in enumerate(objects, 1):
        places.append(size)
        parts.append(f"{number} 0 obj\n{each}\nendobj\n")
        size += len(parts[-1])
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    parts.append(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}")
    parts.append(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{size}\n%%EOF\n")
    return "".join(parts).encode()


def _lines(page: list[str]) -> Iterable[str]:
    """Lines of a hundred characters or so."""
    for paragraph in page:
        line = ""
        for word in paragraph.split():
            if len(line) + len(word) > 100:
                yield line
                line = ""
            line = f"{line} {word}".strip()
        yield line


def _package(main: str, kind: str, parts: Mapping[str, str]) -> bytes:
    types = (
        f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{_TYPE}{kind}.main+xml"/></Types>'
    )
    return _zipped({"[Content_Types].xml": types, "_rels/.rels": _relations([("officeDocument", main)]), **parts})


def _relations(targets: Iterable[tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="rId{n}" Type="{_LINKS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">{each}</Relationships>'


def _zipped(parts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return file.getvalue()


PAPERS: Final[Mapping[str, Callable[[list[list[str]]], bytes]]] = {
    "txt": _text,
    "md": _markdown,
    "html": _html,
    "rtf": _rtf,
    "docx": _docx,
    "xlsx": _xlsx,
    "pptx": _pptx,
    "epub": _epub,
    "mobi": _mobi,
    "pdf": _pdf,
}
"""How the formats are written that need no office suite."""
