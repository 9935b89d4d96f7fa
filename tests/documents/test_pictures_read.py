"""Pictures: made ready for a model, and read where the models for it are installed."""

import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from shared.documents.flowing import flowed
from shared.documents.parsing import SubprocessParser, ocr_is_there
from shared.documents.picturing import prepared
from shared.documents.port import DocumentFailed
from tests.documents.drawing import gif, png
from tests.documents.formats import sample
from tests.documents.reading import bounded, outcome, text

reads_pictures = pytest.mark.skipif(not ocr_is_there(), reason="the extra `ocr` is not installed")


def drawn(mode: str = "RGB", size: tuple[int, int] = (60, 40), form: str = "png", **options: object) -> bytes:
    file = BytesIO()
    Image.new(mode, size).save(file, form, **options)
    return file.getvalue()


def opened(content: bytes) -> Image.Image:
    return Image.open(BytesIO(content))


def failure(content: bytes, most_bytes: int = 3_750_000) -> str:
    with pytest.raises(DocumentFailed) as failed:
        prepared(content, most_bytes=most_bytes)
    return failed.value.code


def come_of(content: bytes) -> str:
    """Return the form of what became of a picture, or the code that it failed with."""
    try:
        return prepared(content, limits=bounded()).form
    except DocumentFailed as failed:
        return failed.code


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "bmp", "webp"])
def test_a_picture_of_any_form_becomes_one_that_a_model_takes(tmp_path: Path, form: str) -> None:
    path = tmp_path / "picture"
    path.write_bytes(drawn(form=form))
    for source in (path, path.read_bytes()):
        picture = prepared(source)
        assert picture.form == ("jpeg" if form == "jpeg" else "png")
        assert opened(picture.content).size == (60, 40)
        assert opened(picture.content).mode == "RGB"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_a_picture_of_any_colours_becomes_plain_ones(mode: str) -> None:
    assert opened(prepared(drawn(mode)).content).mode == "RGB"


def test_where_a_picture_shows_nothing_it_is_white() -> None:
    assert opened(prepared(drawn("RGBA")).content).getpixel((0, 0)) == (255, 255, 255)


def test_a_picture_is_no_larger_than_a_model_takes() -> None:
    assert opened(prepared(drawn(size=(900, 300)), most_pixels=300).content).size == (300, 100)
    noise = Image.effect_noise((600, 600), 90)
    file = BytesIO()
    noise.save(file, "png")
    small = prepared(file.getvalue(), most_bytes=40_000)
    assert small.form == "jpeg"
    assert len(small.content) <= 40_000


def test_a_picture_that_can_not_be_made_small_enough_fails() -> None:
    assert failure(drawn(), most_bytes=10) == "too_complex"


def test_a_picture_is_upright_and_does_not_tell_where_it_was_taken() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "at home"
    picture = prepared(drawn(form="jpeg", exif=exif))
    assert opened(picture.content).size == (40, 60)
    assert b"at home" not in picture.content


def test_the_first_frame_of_a_moving_picture_is_its_picture() -> None:
    first, second = Image.new("RGB", (9, 9), "red"), Image.new("RGB", (9, 9), "blue")
    file = BytesIO()
    first.save(file, "gif", save_all=True, append_images=[second])
    assert opened(prepared(file.getvalue()).content).getpixel((4, 4)) == (255, 0, 0)


def test_a_moving_picture_of_a_hundred_thousand_frames_is_looked_at_once() -> None:
    assert come_of(gif(frames=100_000)) in {"png", "damaged", "too_complex"}


def test_a_picture_of_more_pixels_than_any_is_not_unpacked() -> None:
    assert failure(png(60_000, 60_000)) == "too_complex"


def test_a_picture_with_far_more_in_it_than_it_shows_is_read_in_bounds() -> None:
    content = drawn()
    begin = content.index(b"IDAT") - 4
    size = int.from_bytes(content[begin : begin + 4], "big")
    packed = b"IDAT" + zlib.compress(bytes(64 << 20))
    bomb = len(packed[4:]).to_bytes(4, "big") + packed + zlib.crc32(packed).to_bytes(4, "big")
    assert come_of(content[:begin] + bomb + content[begin + size + 12 :]) in {"png", "damaged", "too_complex"}


@pytest.mark.parametrize("content", [b"", b"no picture", sample("pdf", "en"), sample("png", "en")[:900]])
def test_what_is_no_whole_picture_fails(content: bytes) -> None:
    assert failure(content) == "damaged"


def test_pictures_are_not_read_where_nothing_reads_them(tmp_path: Path) -> None:
    assert outcome(tmp_path, sample("png", "en"), "png") == "not_readable_here"
    assert outcome(tmp_path, _scan(), "pdf") == "not_readable_here"


def _scan() -> bytes:
    file = BytesIO()
    opened(sample("png", "en")).convert("RGB").save(file, "pdf")
    return file.getvalue()


@reads_pictures
def test_a_scanned_page_is_read_as_the_picture_that_it_is(tmp_path: Path) -> None:
    chunks = list(SubprocessParser(ocr=True).parse(_written(tmp_path, "a.pdf", _scan()), "pdf"))
    assert "The lighthouse keeper counts eleven ships" in text(chunks)
    assert chunks[0].page == 1
    assert outcome(tmp_path, _scan(), "pdf", bounded(scans=0, picture_memory=4 << 30), ocr=True) == "too_complex"


@reads_pictures
def test_a_picture_without_text_says_nothing(tmp_path: Path) -> None:
    limits = bounded(picture_memory=4 << 30)
    assert outcome(tmp_path, drawn(size=(200, 200)), "png", limits, ocr=True) == "no_text"


@reads_pictures
@pytest.mark.parametrize("extension", ["png", "jpg", "gif", "bmp"])
def test_a_picture_under_anothers_name_or_cut_off_is_refused(tmp_path: Path, extension: str) -> None:
    content = sample(extension, "en")
    other = "gif" if extension == "png" else "png"
    limits = bounded(picture_memory=4 << 30)
    assert outcome(tmp_path, content, other, limits, ocr=True) == "wrong_type"
    assert outcome(tmp_path, content[: len(content) // 2], extension, limits, ocr=True) == "damaged"
    assert outcome(tmp_path, png(60_000, 60_000), "png", limits, ocr=True) == "too_complex"


def _written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_lines_become_paragraphs_again() -> None:
    line = "The harbour of the town was rebuilt by hands that nobody counted"
    assert flowed([line, "and it stood."]) == f"{line} and it stood."
    assert flowed(["It stood.", "It fell.", line]) == f"It stood.\n\nIt fell.\n\n{line}"
    assert flowed([line, "Ship Tons", "Aurora 420"]) == f"{line} Ship Tons\nAurora 420"
    assert flowed([f"{line}.", "Ship Tons"]) == f"{line}.\nShip Tons"
    assert flowed(["天", "气", "很", "好", "。"]) == "天气很好。"
    assert flowed(["林达瓦港于一九八七年由许多没有人数过的手重建起来而且", "一直到今天。"]).count("\n") == 0
    assert flowed([]) == ""
