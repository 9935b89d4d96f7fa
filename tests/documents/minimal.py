"""The smallest documents that are read, made by hand, so that a test can break any part of them."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

SENTENCE = "The lighthouse keeper counts eleven ships."

_OFFICE = "http://schemas.openxmlformats.org"
_WORDS = f"{_OFFICE}/wordprocessingml/2006/main"
_SHEETS = f"{_OFFICE}/spreadsheetml/2006/main"
_SLIDES = f"{_OFFICE}/presentationml/2006/main"
_DRAWING = f"{_OFFICE}/drawingml/2006/main"
_LINKS = f"{_OFFICE}/officeDocument/2006/relationships"
_BOOK = "urn:oasis:names:tc:opendocument:xmlns:container"
_PACKAGE = f"{_OFFICE}/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument."
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'

Parts = dict[str, str | bytes]


def zipped(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return file.getvalue()


def _package(main: str, kind: str, parts: Parts) -> Parts:
    return {
        "[Content_Types].xml": f'{XML}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{_TYPE}{kind}.main+xml"/></Types>',
        "_rels/.rels": _relations({"rId1": ("officeDocument", main)}),
        **parts,
    }


def _relations(links: Mapping[str, tuple[str, str]]) -> str:
    each = "".join(f'<Relationship Id="{i}" Type="{_LINKS}/{t}" Target="{to}"/>' for i, (t, to) in links.items())
    return f'{XML}<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'


def docx_parts(body: str = f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p>", prolog: str = XML) -> Parts:
    document = f'{prolog}<w:document xmlns:w="{_WORDS}"><w:body>{body}</w:body></w:document>'
    return _package("word/document.xml", "wordprocessingml.document", {"word/document.xml": document})


def xlsx_parts(rows: str | None = None, prolog: str = XML) -> Parts:
    cells = rows or f'<row><c t="inlineStr"><is><t>{SENTENCE}</t></is></c></row>'
    return _package(
        "xl/workbook.xml",
        "spreadsheetml.sheet",
        {
            "xl/workbook.xml": f'{XML}<workbook xmlns="{_SHEETS}" xmlns:r="{_LINKS}"><sheets>'
            '<sheet name="Ships" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relations({"rId1": ("worksheet", "worksheets/sheet1.xml")}),
            "xl/worksheets/sheet1.xml": f'{prolog}<worksheet xmlns="{_SHEETS}">'
            f"<sheetData>{cells}</sheetData></worksheet>",
        },
    )


def pptx_parts(shapes: str | None = None, prolog: str = XML) -> Parts:
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="a"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{SENTENCE}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    return _package(
        "ppt/presentation.xml",
        "presentationml.presentation",
        {
            "ppt/presentation.xml": f'{XML}<p:presentation xmlns:p="{_SLIDES}" xmlns:r="{_LINKS}"><p:sldIdLst>'
            '<p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": _relations({"rId1": ("slide", "slides/slide1.xml")}),
            "ppt/slides/slide1.xml": f'{prolog}<p:sld xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}" xmlns:r="{_LINKS}">'
            f"<p:cSld><p:spTree>{shapes or shape}</p:spTree></p:cSld></p:sld>",
        },
    )


def epub_parts(body: str = f"<p>{SENTENCE}</p>", prolog: str = XML) -> Parts:
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'{XML}<container xmlns="{_BOOK}" version="1.0">'
        '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        "</container>",
        "book.opf": f'{XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Ships</dc:title>'
        '<dc:identifier id="id">1</dc:identifier></metadata>'
        '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>',
        "a.xhtml": f'{prolog}<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>',
    }


def pdf(pages: Sequence[bytes] | None = None, *, resources: bytes = b"", extra: Sequence[bytes] = ()) -> bytes:
    """A PDF whose pages draw `pages` (content streams); `extra` objects are numbered from 4 on, pages behind them."""
    contents = pages if pages is not None else [b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % SENTENCE.encode()]
    first = 4 + len(extra)
    kids = b" ".join(b"%d 0 R" % (first + 2 * each) for each in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *extra,
    ]
    for place, content in enumerate(contents):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> %s >> >>" % (first + 2 * place + 1, resources),
            content if content.startswith(b"<<") else stream(content),
        ]
    return _written(objects)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def _written(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    file, places = bytearray(b"%PDF-1.7\n"), []
    for number, each in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    file += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    begin = len(file) - len(table) - len(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, begin)
    return bytes(file)


def locked_pdf() -> bytes:
    """A PDF that a password opens; nobody knows which."""
    lock = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"ab" * 32, b"cd" * 32)
    plain = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>", lock]
    return _written(plain, b"/Encrypt 3 0 R /ID [<00> <00>]")


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file of these streams, each of them padded to where none is a small one."""
    sector, table, content, entries = 512, [0xFFFFFFFD, 0xFFFFFFFE], b"", b""
    for name, given in streams.items():
        padded = given.ljust(-(-max(len(given), 4096) // sector) * sector, b"\0")
        start = len(table)
        table += [*range(start + 1, start + len(padded) // sector), 0xFFFFFFFE]
        content += padded
        entries += _entry(name, 2, start, len(padded))
    folder = (_entry("Root Entry", 5, 0xFFFFFFFE, 0) + entries).ljust(sector, b"\0")
    assert len(folder) == sector
    assert len(table) <= sector // 4
    header = struct.pack("<8s16xHHHHH6xIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6,
                         0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0)  # fmt: skip
    allocation = struct.pack(f"<{len(table)}I", *table).ljust(sector, b"\xff")
    return header.ljust(sector, b"\xff") + allocation + folder + content


def _entry(name: str, kind: int, start: int, size: int) -> bytes:
    written = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII36xIQ", written, len(written) + 2, kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, start, size
    )


DOCUMENTS: Mapping[str, bytes] = {
    "docx": zipped(docx_parts()),
    "xlsx": zipped(xlsx_parts()),
    "xlsm": zipped({**xlsx_parts(), "xl/vbaProject.bin": compound({"VBA": b"Sub Auto_Open()"})}),
    "pptx": zipped(pptx_parts()),
    "epub": zipped(epub_parts()),
    "pdf": pdf(),
    "rtf": rb"{\rtf1\ansi\ansicpg1252{\fonttbl\f0 Arial;}\f0 %s\par}" % SENTENCE.encode(),
    "html": f"<html><head><title>Ships</title></head><body><h1>Log</h1><p>{SENTENCE}</p></body></html>".encode(),
    "md": f"# Log\n\n{SENTENCE}\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n".encode(),
    "txt": f"{SENTENCE}\n".encode(),
}
