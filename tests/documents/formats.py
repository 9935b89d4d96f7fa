"""A real file of each format in each language: those that can be written here, and those in `samples/`."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.documents.books import mobi
from tests.documents.known import KNOWN
from tests.documents.minimal import zipped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.documents.known import Known

SAMPLES = Path(__file__).parent / "samples"


def sample(extension: str, language: str) -> bytes:
    """Return the file of one of the 20 extensions, `en` or `zh`."""
    if written := WRITTEN.get(extension):
        return written(KNOWN[language])
    if extension == "ppt":
        return gzip.decompress((SAMPLES / f"{language}.ppt.gz").read_bytes())
    return (SAMPLES / f"{language}.{'jpg' if extension == 'jpeg' else extension}").read_bytes()


def text(known: Known) -> bytes:
    """Plain text, of lines that end as Windows ends them."""
    rows = "\r\n".join("\t".join(row) for row in known.rows)
    parts = known.title, known.first, known.section, known.second, rows
    return ("\r\n\r\n".join(parts) + "\r\n").encode()


def markdown(known: Known) -> bytes:
    """Markdown with headings and a table."""
    head, *rows = (f"| {' | '.join(row)} |" for row in known.rows)
    table = "\n".join((head, "| --- | --- | --- |", *rows))
    return f"# {known.title}\n\n{known.first}\n\n## {known.section}\n\n{known.second}\n\n{table}\n".encode()


def page(known: Known) -> str:
    """A page of HTML with what is no text: a script, styles, a comment."""
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in known.rows)
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{known.title}</title>"
        "<style>.secret-style {color: red}</style><script>var secretScript = 1;</script></head><body>"
        f"<h1>{known.title}</h1><p>{known.first}</p><!-- secret comment --><h2>{known.section}</h2>"
        f"<p>{known.second}</p><table>{rows}</table><script>secretScript()</script></body></html>"
    )


def epub(known: Known) -> bytes:
    """A book of two chapters."""
    space, xhtml = "http://www.idpf.org/2007/opf", "http://www.w3.org/1999/xhtml"
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in (1, 2))
    package = (
        f'<package xmlns="{space}" version="3.0" unique-identifier="id"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">harbour</dc:identifier>'
        f"<dc:title>{known.title}</dc:title><dc:language>en</dc:language></metadata>"
        f'<manifest>{items}</manifest><spine><itemref idref="c1"/><itemref idref="c2"/></spine></package>'
    )
    chapters = ((1, "h1", known.title, known.first), (2, "h2", known.section, known.second))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "book.opf": package,
            **{
                f"c{n}.xhtml": f'<html xmlns="{xhtml}"><head><title>{title}</title></head>'
                f"<body><{tag}>{title}</{tag}><p>{said}</p></body></html>"
                for n, tag, title, said in chapters
            },
        }
    )


WRITTEN: Final[Mapping[str, Callable[[Known], bytes]]] = {
    **dict.fromkeys(("md", "markdown"), markdown),
    "epub": epub,
    "html": lambda known: page(known).encode(),
    "mobi": lambda known: mobi(page(known), trailers=3),
    "txt": text,
}
