"""Decodes pictures, and draws them anew in a form and size that a model takes."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageOps

from shared.documents.pictures import BrokenPicture, measured
from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from pathlib import Path

    from shared.documents.limits import ParseLimits

_SMALLER: Final = 0.7
_TRIES: Final = 12
_QUALITY: Final = 88


def first_frame(path: Path, limits: ParseLimits) -> Image.Image:
    """Return what a picture shows at first, upright, on white where it shows nothing, in RGB.

    Raises:
        DocumentFailed: `damaged`, `too_complex`.
    """
    content = path.read_bytes()
    try:
        told = measured(content)
    except BrokenPicture as broken:
        raise DocumentFailed("damaged", broken.message) from None
    if told.pixels > limits.pixels:
        raise DocumentFailed("too_complex", f"It has more than the {limits.pixels:,} pixels that a picture may have.")
    Image.MAX_IMAGE_PIXELS = None  # it was measured
    with Image.open(BytesIO(content), formats=[told.form]) as image:
        if image.width * image.height > limits.pixels:
            raise DocumentFailed("damaged", "It contradicts itself about its size.")
        image.load()  # raises where it is cut off
        return _on_white(ImageOps.exif_transpose(image))


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I") or image.mode == "F":  # 16 bits a pixel, which a conversion would cut at white
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    seen = image.convert("RGBA")
    ground = Image.new("RGBA", seen.size, "white")
    ground.alpha_composite(seen)
    return ground.convert("RGB")


def redrawn(path: Path, limits: ParseLimits, most_pixels: int, *, most_bytes: int) -> tuple[bytes, str]:
    """Return a picture's first frame as a PNG, or as a JPEG if it was one or would be too large, and its form.

    Neither side is longer than `most_pixels`. What else the file told, as where it was taken, is not in it.

    Raises:
        DocumentFailed: `damaged`, `too_complex`.
    """
    image = first_frame(path, limits)
    with path.open("rb") as file:
        forms = ["jpeg"] if file.read(2) == b"\xff\xd8" else ["png", "jpeg"]
    for _ in range(_TRIES):
        image.thumbnail((most_pixels, most_pixels))
        for form in forms:
            content = _written(image, form)
            if len(content) <= most_bytes:
                return content, form
        most_pixels, forms = max(1, int(max(image.size) * _SMALLER)), ["jpeg"]
    raise DocumentFailed("too_complex", "It can't be made small enough to be looked at.")


def _written(image: Image.Image, form: str) -> bytes:
    content = BytesIO()
    image.save(content, form, quality=_QUALITY)
    return content.getvalue()
