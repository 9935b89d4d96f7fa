"""A picture's headers say how large it is before anything of it is decompressed."""

from __future__ import annotations

import base64
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents.pictures import BrokenPicture, Measured, measured
from tests.documents.drawing import bmp, gif, jpeg, png, segment, webp

if TYPE_CHECKING:
    from collections.abc import Callable

THE_DOCUMENTS_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC"
ONE_OF_EACH = {
    "png": png(3, 2),
    "apng": png(3, 2, frames=3, announced=3),
    "jpeg": jpeg(3, 2),
    "gif": gif(3, 2, frames=3),
    "lossy": webp(3, 2),
    "lossless": webp(3, 2, kind="VP8L"),
    "animation": webp(3, 2, frames=3),
    "bmp": bmp(3, 2),
}


def test_the_one_pixel_that_the_document_shows_is_one_pixel() -> None:
    assert measured(base64.b64decode(THE_DOCUMENTS_PIXEL)) == Measured("png", 1, 1, 1)


@pytest.mark.parametrize(("draw", "form"), [(png, "png"), (jpeg, "jpeg"), (gif, "gif"), (webp, "webp"), (bmp, "bmp")])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (640, 480), (5_000, 4_001), (16_383, 1)])
def test_each_form_says_its_size(draw: Callable[[int, int], bytes], form: str, width: int, height: int) -> None:
    found = measured(draw(width, height))
    assert (found.form, found.width, found.height, found.frames) == (form, width, height, 1)
    assert found.pixels == width * height


@pytest.mark.parametrize("frames", [1, 2, 16, 17, 1_000])
def test_the_frames_of_animations_are_counted(frames: int) -> None:
    assert measured(gif(4, 3, frames=frames)).frames == frames
    assert measured(webp(4, 3, frames=frames)).frames == frames
    assert measured(png(4, 3, frames=frames, announced=frames)).frames == frames


def test_a_png_that_announces_fewer_frames_than_it_has_counts_as_having_them() -> None:
    assert measured(png(frames=40, announced=1)).frames == 40
    assert measured(png(frames=1, announced=40)).frames == 40


def test_a_frame_larger_than_the_screen_it_is_announced_for_counts() -> None:
    found = measured(gif(9_000, 8_000, screen=(1, 1)))
    assert (found.width, found.height) == (9_000, 8_000)
    assert measured(gif(2, 2, screen=(700, 600))).pixels == 420_000


def test_a_lossless_webp_and_a_canvas_say_their_size() -> None:
    assert measured(webp(16_384, 2, kind="VP8L")).width == 16_384
    assert measured(webp(16_000, 9_000, frames=2)).pixels == 144_000_000


def test_a_picture_larger_than_the_canvas_it_is_announced_for_counts() -> None:
    small = webp(1, 1, frames=1).partition(b"ANIM")[0]
    found = measured(small + webp(900, 800)[12:])
    assert (found.width, found.height, found.frames) == (900, 800, 1)


def test_a_thumbnail_in_a_jpeg_is_not_its_size() -> None:
    found = measured(jpeg(800, 600, before=segment(0xE1, b"Exif\0\0" + jpeg(16, 12)) + segment(0xFE, b"a comment")))
    assert (found.width, found.height) == (800, 600)


def test_a_jpeg_that_says_two_sizes_has_the_larger() -> None:
    second = segment(0xC0, b"\x08" + struct.pack(">HH", 9_000, 9_000) + b"\x01\x01\x11\0")
    assert measured(jpeg(1, 1, before=second)).pixels == 81_000_000


def test_filled_up_markers_of_a_jpeg_are_read() -> None:
    assert measured(jpeg(7, 5, before=b"\xff\xff\xff\xfe\x00\x03a\xff\x01")).width == 7


def test_a_bmp_whose_rows_go_downwards_has_its_height_and_an_old_one_its_size() -> None:
    assert measured(bmp(3, -9)).height == 9
    assert measured(b"BM" + b"\0" * 12 + struct.pack("<IHHHH", 12, 30, 20, 1, 24)).width == 30


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_picture_that_is_cut_off_is_broken_or_still_says_its_size(name: str) -> None:
    whole = ONE_OF_EACH[name]
    size = measured(whole)
    for end in range(len(whole)):
        with suppress(BrokenPicture):
            found = measured(whole[:end])
            assert (found.width, found.height) == (size.width, size.height)


@pytest.mark.parametrize("name", ["png", "apng", "gif"])
def test_a_picture_that_says_where_it_ends_has_to_have_its_end(name: str) -> None:
    for end in range(len(ONE_OF_EACH[name])):
        with pytest.raises(BrokenPicture):
            measured(ONE_OF_EACH[name][:end])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"%PDF-1.7",
        b"MZ\x90\0",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"RIFF\x04\0\0\0WAVE",
        b"RIFF\x04\0\0\0WEBP",
        png(0, 5),
        gif(0, 5),
        gif(frames=0),
        jpeg(5, 0),
        bmp(-4, 4),
        b"BM" + b"\0" * 20,
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xe0\0\0",
        b"\xff\xd8\xff\xe0\0\x01" + jpeg()[2:],
        b"\xff\xd8 no marker",
        png()[:33] + png()[-12:],
        png()[:8] + png()[33:],
    ],
)
def test_what_is_no_picture_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(BrokenPicture):
        measured(content)


@pytest.mark.parametrize(
    "content",
    [
        png()[:33] + png()[33:-12] * 250_000 + png()[-12:],
        gif()[:-1] + b"!\xfe" + b"\x01a" * 250_000 + b"\0;",
        b"\xff\xd8" + b"\xff\xfe\0\x02" * 250_000 + jpeg()[2:],
        b"\xff\xd8" + b"\xff" * 500_000 + jpeg()[2:],
        webp()[:12] + b"ANMF" + struct.pack("<I", 2_000_016) + b"\0" * 16 + b"XXXX\0\0\0\0" * 250_000,
    ],
)
def test_a_picture_of_endlessly_many_parts_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenPicture, match="more parts"):
        measured(content)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.data())
def test_whatever_the_bytes_are_they_are_measured_or_said_to_be_broken(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from(sorted(ONE_OF_EACH.values()))))
    for _ in range(data.draw(st.integers(0, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = measured(bytes(content))
    except BrokenPicture:
        return
    assert found.width > 0
    assert found.height > 0
    assert found.frames > 0
