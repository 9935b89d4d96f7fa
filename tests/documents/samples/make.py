"""Make the samples that only an office suite, or a font, can make: `python tests/documents/samples/make.py`.

It needs LibreOffice (`soffice`), Pillow, and the font WenQuanYi Micro Hei where fontconfig finds it (its path is
the first argument). Everything in a sample is written in `tests/documents/known.py`.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from PIL import Image, ImageDraw, ImageFont

from tests.documents.known import KNOWN, Known

HERE = Path(__file__).parent
FONT = "WenQuanYi Micro Hei"
SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{of}:1.0"'
    for name, of in {
        "office": "office",
        "style": "style",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "presentation": "presentation",
        "fo": "xsl-fo-compatible",
        "svg": "svg-compatible",
    }.items()
)


def main() -> None:
    """Make them all."""
    for language, known in KNOWN.items():
        suite(f"{language}.fodt", writer(known), ["doc:MS Word 97", "docx", "pdf", "rtf"])
        suite(f"{language}.fods", calc(known), ["xls:MS Excel 97", "xlsx", "xlsm:Calc MS Excel 2007 VBA XML"])
        suite(f"{language}.fodp", impress(known), ["ppt:MS PowerPoint 97", "pptx"])
        slides = HERE / f"{language}.ppt"
        slides.with_suffix(".ppt.gz").write_bytes(gzip.compress(slides.read_bytes(), mtime=0))
        slides.unlink()
        picture = drawn(known)
        for form in ("png", "jpg", "bmp", "gif"):
            made = picture.convert("1", dither=Image.Dither.NONE) if form != "jpg" else picture
            made.save(HERE / f"{language}.{form}", quality=80, optimize=True)


def suite(name: str, document: str, filters: list[str]) -> None:
    """Let the office suite write a flat document in other formats."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name
        source.write_text(document, "utf-8")
        for each in filters:
            command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", each]
            subprocess.run([*command, "--outdir", str(HERE), str(source)], check=True, stdout=subprocess.DEVNULL)


def flat(kind: str, styles: str, automatic: str, body: str) -> str:
    """A flat document of the suite."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {SPACES} office:version="1.2" '
        f'office:mimetype="application/vnd.oasis.opendocument.{kind}"><office:styles>{styles}</office:styles>'
        f"<office:automatic-styles>{automatic}</office:automatic-styles>"
        f'<office:master-styles><style:master-page style:name="Default" style:page-layout-name="layout"/>'
        f"</office:master-styles><office:body>{body}</office:body></office:document>"
    )


FONTS = (
    f'<style:text-properties style:font-name="{FONT}" fo:font-family="{FONT}" style:font-family-asian="{FONT}" '
    f'style:font-name-asian="{FONT}"/>'
)
LAYOUT = (
    '<style:page-layout style:name="layout"><style:page-layout-properties fo:page-width="21cm" '
    'fo:page-height="29.7cm" fo:margin="2cm"/></style:page-layout>'
)


def writer(known: Known) -> str:
    """Two pages, with headings, paragraphs and a table."""
    styles = f'<style:default-style style:family="paragraph">{FONTS}</style:default-style>' + "".join(
        f'<style:style style:name="Heading_20_{level}" style:display-name="Heading {level}" '
        f'style:family="paragraph" style:default-outline-level="{level}"/>'
        for level in (1, 2)
    )
    broken = (
        '<style:style style:name="Broken" style:family="paragraph" style:parent-style-name="Heading_20_2">'
        '<style:paragraph-properties fo:break-before="page"/></style:style>'
    )
    body = (
        f"<office:text>{heading(1, known.title)}{paragraph(known.first)}"
        f"{heading(2, known.section, 'Broken')}{paragraph(known.second)}{table('Table1', known)}</office:text>"
    )
    return flat("text", styles, LAYOUT + broken, body)


def calc(known: Known) -> str:
    """Two sheets: a table, and a sentence."""
    first, second = known.sheets
    note = f'<table:table table:name="{second}"><table:table-row>{cell(known.second)}</table:table-row></table:table>'
    default = f'<style:default-style style:family="table-cell">{FONTS}</style:default-style>'
    return flat("spreadsheet", default, "", f"<office:spreadsheet>{table(first, known)}{note}</office:spreadsheet>")


def impress(known: Known) -> str:
    """Two slides, each with a title and a sentence."""
    graphic = f'<style:style style:name="box" style:family="presentation">{FONTS}</style:style>'
    slides = "".join(
        f'<draw:page draw:name="page{number}" draw:master-page-name="Default">'
        f"{frame('title', 1, title)}{frame('subtitle', 6, text)}</draw:page>"
        for number, title, text in ((1, known.title, known.first), (2, known.section, known.second))
    )
    layout = LAYOUT.replace("21cm", "28cm").replace("29.7cm", "21cm")
    return flat("presentation", "", layout + graphic, f"<office:presentation>{slides}</office:presentation>")


def frame(kind: str, top: int, text: str) -> str:
    """A box of text on a slide."""
    return (
        f'<draw:frame presentation:style-name="box" presentation:class="{kind}" svg:x="2cm" svg:y="{top}cm" '
        f'svg:width="22cm" svg:height="3cm"><draw:text-box>{paragraph(text)}</draw:text-box></draw:frame>'
    )


def heading(level: int, text: str, style: str = "") -> str:
    """A heading."""
    name = style or f"Heading_20_{level}"
    return f'<text:h text:style-name="{name}" text:outline-level="{level}">{text}</text:h>'


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<text:p>{text}</text:p>"


def cell(text: str) -> str:
    """A table's cell."""
    return f'<table:table-cell office:value-type="string">{paragraph(text)}</table:table-cell>'


def table(name: str, known: Known) -> str:
    """The known table."""
    rows = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in known.rows)
    columns = f'<table:table-column table:number-columns-repeated="{len(known.rows[0])}"/>'
    return f'<table:table table:name="{name}">{columns}{rows}</table:table>'


def drawn(known: Known) -> Image.Image:
    """The sentences, in black on white."""
    font = ImageFont.truetype(sys.argv[1], 28)
    picture = Image.new("L", (860, 160), 255)
    pen = ImageDraw.Draw(picture)
    pen.text((24, 24), known.first, font=font, fill=0)
    pen.text((24, 92), known.second, font=font, fill=0)
    return picture


if __name__ == "__main__":
    main()
