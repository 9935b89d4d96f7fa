"""What a picture's headers say of it: its form, its size and its frames, before anything of it is decompressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from shared.kernel.errors import LodestoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

Form = Literal["png", "jpeg", "gif", "webp", "bmp"]

BLOCKS: Final = 200_000
"""The blocks of a picture that are looked at: 20 MiB of the smallest that encoders write; more is no picture."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_ALONE: Final = frozenset((0x01, *range(0xD0, 0xD8)))  # JPEG's markers that no length follows
_SIZES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN: Final = 0xDA
_CORE: Final = 12


class BrokenPicture(LodestoreError):
    """These bytes are no whole picture of a form that is known; `message` says what is wrong with them."""


@dataclass(frozen=True)
class Measured:
    """A picture's form, and what decompressing it takes: its size in pixels (the largest of its frames), its frames.

    What headers disagree about counts as the most that a decoder could make of it.
    """

    form: Form
    width: int
    height: int
    frames: int = 1

    @property
    def pixels(self) -> int:
        """How many pixels one frame has."""
        return self.width * self.height


def measured(content: bytes) -> Measured:
    """Return what a PNG, JPEG, GIF, WebP or BMP says of itself; its headers are read, its pixels are not.

    Raises:
        BrokenPicture: it is none of these, is cut off, has no size or no picture, or contradicts itself.
    """
    if content.startswith(_PNG):
        return _png(_Bytes(content, len(_PNG)))
    if content.startswith(_JPEG):
        return _jpeg(_Bytes(content, len(_JPEG)))
    if content.startswith((b"GIF87a", b"GIF89a")):
        return _gif(_Bytes(content, 6))
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return _webp(_Bytes(content, 12))
    if content.startswith(b"BM"):
        return _bmp(_Bytes(content, 14))
    raise BrokenPicture("It is no PNG, JPEG, GIF, WebP or BMP.")


class _Bytes:
    """Bytes that are read from a place on, and never past their end."""

    def __init__(self, content: bytes, place: int, blocks: Iterator[int] | None = None) -> None:
        self._content = content
        self._place = place
        self._blocks = blocks or iter(range(BLOCKS))

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        taken = self._content[self._place : self._place + size]
        self.skip(size)
        return taken

    def skip(self, size: int) -> None:
        """Leave bytes out; they have to be there."""
        self._place += size
        if size < 0 or self._place > len(self._content):
            raise BrokenPicture("It is cut off.")

    def number(self, size: int, order: Literal["big", "little"]) -> int:
        """Return the next bytes as a number from 0."""
        return int.from_bytes(self.take(size), order)

    def part(self, size: int) -> _Bytes:
        """Return the next bytes to be read by themselves."""
        return _Bytes(self.take(size), 0, self._blocks)

    def has(self, size: int) -> bool:
        """Tell whether so many bytes are left."""
        return self._place + size <= len(self._content)

    def block(self) -> None:
        """Count a block, also of the parts."""
        if next(self._blocks, None) is None:
            raise BrokenPicture("It has more parts than a picture has.")


class _Canvas:
    """The largest size that was met, and how many frames."""

    def __init__(self) -> None:
        self.width = self.height = self.frames = 0

    def holds(self, width: int, height: int) -> None:
        """Grow to a size."""
        if width < 1 or height < 1:
            raise BrokenPicture("It has no size.")
        self.width, self.height = max(self.width, width), max(self.height, height)

    def measured(self, form: Form) -> Measured:
        """Return what was met."""
        if not (self.width and self.frames):
            _no_picture()
        return Measured(form, self.width, self.height, self.frames)


def _no_picture() -> NoReturn:
    raise BrokenPicture("There is no picture in it.")


def _png(content: _Bytes) -> Measured:
    """Walk over the chunks: the size is in the first, and each frame of an animation has one that controls it."""
    canvas, announced, has_pixels = _Canvas(), 1, False
    while True:
        content.block()
        size, name = content.number(4, "big"), content.take(4)
        if not canvas.width and name != b"IHDR":
            raise BrokenPicture("It does not begin with its size.")
        chunk = content.part(size)
        content.skip(4)
        if name == b"IEND":
            break
        if name == b"IHDR":
            canvas.holds(chunk.number(4, "big"), chunk.number(4, "big"))
        elif name == b"acTL":
            announced = max(announced, chunk.number(4, "big"))
        elif name == b"fcTL":
            canvas.frames += 1
        has_pixels = has_pixels or name == b"IDAT"
    canvas.frames = max(announced, canvas.frames) if has_pixels else 0
    return canvas.measured("png")


def _jpeg(content: _Bytes) -> Measured:
    """Walk over the segments before the first scan; thumbnails lie inside them and are passed over."""
    canvas = _Canvas()
    while (marker := _marker(content)) != _SCAN:
        if marker in _ALONE:
            continue
        segment = content.part(content.number(2, "big") - 2)
        if marker in _SIZES:
            segment.skip(1)
            height = segment.number(2, "big")
            canvas.holds(segment.number(2, "big"), height)
    canvas.frames = 1
    return canvas.measured("jpeg")


def _marker(content: _Bytes) -> int:
    content.block()
    if content.take(1) != b"\xff":
        raise BrokenPicture("What should be a marker is none.")
    while (marker := content.number(1, "big")) == 0xFF:
        content.block()  # a marker may be filled up with such bytes
    if marker == 0xD9:
        _no_picture()
    return marker


def _gif(content: _Bytes) -> Measured:
    """Walk over the blocks to the end; a frame may be larger than the screen it was announced for."""
    canvas = _Canvas()
    screen = content.number(2, "little"), content.number(2, "little")
    flags = content.number(1, "little")
    content.skip(2)
    _colours(content, flags)
    while (kind := content.take(1)) != b";":
        if kind == b"!":
            content.skip(1)
        elif kind == b",":
            left, top, width, height = (content.number(2, "little") for _ in range(4))
            canvas.holds(left + width, top + height)
            canvas.frames += 1
            _colours(content, content.number(1, "little"))
            content.skip(1)
        else:
            raise BrokenPicture("What should be a block is none.")
        _pass_over(content)
    if canvas.frames and all(screen):
        canvas.holds(*screen)
    return canvas.measured("gif")


def _colours(content: _Bytes, flags: int) -> None:
    if flags & 0x80:
        content.skip(3 << ((flags & 7) + 1))


def _pass_over(content: _Bytes) -> None:
    content.block()
    while size := content.number(1, "little"):
        content.skip(size)
        content.block()


def _webp(content: _Bytes) -> Measured:
    """Walk over the chunks, those of an animation's frames too; each picture says its size itself."""
    canvas, stills = _Canvas(), 0
    for name, chunk in _chunks(content):
        if name == b"ANMF":
            canvas.frames += 1
            chunk.skip(6)
            canvas.holds(chunk.number(3, "little") + 1, chunk.number(3, "little") + 1)
            chunk.skip(4)
            for inner, picture in _chunks(chunk):
                _webp_size(canvas, inner, picture)
        else:
            stills += name in {b"VP8 ", b"VP8L"}
            _webp_size(canvas, name, chunk)
    canvas.frames = canvas.frames or min(stills, 1)
    return canvas.measured("webp")


def _chunks(content: _Bytes) -> Iterator[tuple[bytes, _Bytes]]:
    while content.has(8):
        content.block()
        name, size = content.take(4), content.number(4, "little")
        yield name, content.part(size)
        content.skip(size % 2 if content.has(size % 2) else 0)


def _webp_size(canvas: _Canvas, name: bytes, chunk: _Bytes) -> None:
    if name == b"VP8X":
        chunk.skip(4)
        canvas.holds(chunk.number(3, "little") + 1, chunk.number(3, "little") + 1)
    elif name == b"VP8 ":
        chunk.skip(3)
        if chunk.take(3) != b"\x9d\x01\x2a":
            raise BrokenPicture("Its picture does not begin as one.")
        canvas.holds(chunk.number(2, "little") & 0x3FFF, chunk.number(2, "little") & 0x3FFF)
    elif name == b"VP8L":
        if chunk.take(1) != b"\x2f":
            raise BrokenPicture("Its picture does not begin as one.")
        sizes = chunk.number(4, "little")
        canvas.holds((sizes & 0x3FFF) + 1, (sizes >> 14 & 0x3FFF) + 1)


def _bmp(content: _Bytes) -> Measured:
    canvas = _Canvas()
    header = content.number(4, "little")
    if header == _CORE:
        canvas.holds(content.number(2, "little"), content.number(2, "little"))
    elif header < _CORE:
        raise BrokenPicture("What should be its header is none.")
    else:
        # Rows that go downwards have a height below 0.
        canvas.holds(_signed(content), abs(_signed(content)))
    canvas.frames = 1
    return canvas.measured("bmp")


def _signed(content: _Bytes) -> int:
    return int.from_bytes(content.take(4), "little", signed=True)
