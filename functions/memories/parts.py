"""The parts of a message: text, images and files, each with its shape (seed, Add request body, `content`).

Bytes are bounded before they are decoded, decoded once, and of an image only the headers are read.
"""

from __future__ import annotations

import re
import uuid
from binascii import Error as Base64Error
from binascii import a2b_base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from functions.memories.filenames import FILE_NAME_CHARACTERS, read_filename
from shared.documents.pictures import BrokenPicture, measured
from shared.documents.port import EXTENSIONS
from shared.memories.files.rows import Attachment

if TYPE_CHECKING:
    from functions.memories.fields import Fields
    from functions.memories.limits import Limits
    from shared.documents.pictures import Measured

CAPTION_CHARACTERS = 4000
DETAILS = ("auto", "low", "high", "original")
_IMAGE = re.compile(r"data:(image/(?:png|jpeg|webp|gif));base64,", re.IGNORECASE)
_DATA_URL = re.compile(r"data:[^,]{0,1000};base64,", re.IGNORECASE)

_LINE_BREAKS = 10  # encoders that break lines do so every 64 or 76 characters: far less than a tenth


@dataclass
class Numbers:
    """How many files and images a request has, as far as it was read."""

    file: int = 0
    image: int = 0


@dataclass(frozen=True)
class Attached:
    """A file or an image, and the fields that it came in: those of `file`, or of the image's part."""

    fields: Fields
    attachment: Attachment


@dataclass
class Parts:
    """What the parts of one message are, the message's place, and what all its request is counted and bounded by."""

    position: int
    numbers: Numbers
    limits: Limits
    kept: list[dict[str, Any]] = field(default_factory=list)
    attached: list[Attached] = field(default_factory=list)

    def of(self, kind: Literal["file", "image"]) -> list[Attached]:
        """Return the files or the images."""
        return [each for each in self.attached if each.attachment.of == kind]

    def say(self, text: str) -> None:
        """Take in a text."""
        self.kept.append({"type": "text", "text": text})

    def read(self, part: Fields) -> None:
        """Take in one part, or note what is wrong with it."""
        kind = part.choice("type", ("text", "input_text", "input_image", "file"))
        if kind in ("text", "input_text"):
            self._read_text(part)
        elif kind == "input_image":
            self._read_image(part)
        elif kind == "file":
            self._read_file(part)

    def _read_text(self, part: Fields) -> None:
        text = part.text("text", required=True)
        if text is not None and not text.strip():
            part.refuse("text", "A text needs a character that is not white space", "string_blank")
        elif text is not None:
            self.say(text)

    def _read_image(self, part: Fields) -> None:
        detail = part.choice("detail", DETAILS, "auto") or "auto"
        caption = part.text("caption", most=CAPTION_CHARACTERS, nullable=True)
        if caption is not None and not caption.strip():
            part.refuse("caption", "A caption needs a character that is not white space", "string_blank")
        named = _has(part, "file_id")
        if named and _has(part, "image_url"):
            part.refuse("file_id", "Give either image_url or file_id", "exactly_one")
        source = {"file_id": _file_id_in(part)} if named else _picture_in(part, self.limits)
        self._keep(part, "image", {"caption": caption, "detail": detail}, source=source)

    def _read_file(self, part: Fields) -> None:
        file = part.object("file", required=True)
        source: dict[str, Any] = {"filename": None}
        if file is None:
            pass
        elif _has(file, "file_id") == _has(file, "file_data"):
            file.refuse("file_id", "Give either file_id or file_data", "exactly_one")
        elif _has(file, "file_id"):
            file.text("filename", most=FILE_NAME_CHARACTERS, nullable=True)  # its own name counts
            source |= {"file_id": _file_id_in(file)}
        else:
            name = read_filename(file, EXTENSIONS)
            source |= {"filename": name and name[0], "content": _file_data_in(file, self.limits)}
        self._keep(file or part, "file", {"filename": source["filename"]}, source=source)

    def _keep(
        self, fields: Fields, of: Literal["file", "image"], told: dict[str, Any], *, source: dict[str, Any]
    ) -> None:
        """Number an attachment, and keep what the payload has of it."""
        n, index = self.numbers.file + self.numbers.image, getattr(self.numbers, of)
        setattr(self.numbers, of, index + 1)
        attachment = Attachment(of, n, index, self.position, **{**told, **source})
        self.attached.append(Attached(fields, attachment))
        self.kept.append({"type": of, "n": n, "file_id": attachment.file_id, **told})


def _has(given: Fields, name: str) -> bool:
    """Tell whether a field is there; typed clients send those that they leave out as null."""
    return given.given.get(name) is not None


def _file_id_in(given: Fields) -> str | None:
    value = given.text("file_id", required=True)
    try:
        return None if value is None else str(uuid.UUID(value))
    except ValueError:
        given.refuse("file_id", "Input should be a UUID", "uuid_parsing", value=value)
        return None


def _picture_in(part: Fields, limits: Limits) -> dict[str, Any]:
    """Return the picture of an image's Data URL: its bytes, its media type, and what decompressing it takes."""
    url = part.text("image_url", required=True)
    head = _IMAGE.match(url) if url is not None else None
    if url is None:
        return {}
    if head is None:
        rule = "Only data:image/png|jpeg|webp|gif;base64,… is taken, no address and no bare base64"
        part.refuse("image_url", rule, "image_url", value=url[:100])
        return {}
    content = _decoded(part, "image_url", url[head.end() :], limit=limits.image_bytes)
    kind = head[1].lower()
    found = None if content is None else _measured(part, content, kind)
    if found is None:
        return {}
    bound_picture(part, "image_url", (found.pixels, found.frames), limits=limits)
    return {"content": content, "media_type": kind, "pixels": found.pixels, "frames": found.frames}


def _measured(part: Fields, content: bytes, kind: str) -> Measured | None:
    try:
        found = measured(content)
    except BrokenPicture as broken:
        part.refuse("image_url", f"This is no {kind}: {broken.message}", "image_content")
        return None
    if f"image/{found.form}" != kind:
        part.refuse("image_url", f"The Data URL says {kind}, but this is image/{found.form}", "image_content")
        return None
    return found


def bound_picture(given: Fields, name: str, size: tuple[int, int], *, limits: Limits) -> None:
    """Hold a picture's pixels and frames to the limits.

    Raises:
        TooLarge: it has more.
    """
    pixels, frames = size
    if pixels > limits.image_pixels:
        given.too_large(name, f"At most {limits.image_pixels} pixels an image, and this has {pixels}")
    if frames > limits.image_frames:
        given.too_large(name, f"At most {limits.image_frames} frames an image, and this has {frames}")


def _file_data_in(file: Fields, limits: Limits) -> bytes | None:
    data = file.text("file_data", required=True)
    if data is None:
        return None
    head = _DATA_URL.match(data)
    return _decoded(file, "file_data", data[head.end() :] if head else data, limit=limits.file_bytes)


def _decoded(given: Fields, name: str, text: str, *, limit: int) -> bytes | None:
    if len(text) <= limit * 4 // 3 + limit // _LINE_BREAKS + 8:
        text = "".join(text.split())
    if len(text) * 3 // 4 - 2 > limit:
        given.too_large(name, f"At most {limit} bytes")
    given.given[name] = ""  # what it was decoded from is not held beside it
    try:
        content = a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError):
        given.refuse(name, "The data is not base64 of the ordinary alphabet (+ and /), padded with =", "base64")
        return None
    if not content:
        given.refuse(name, "There is no data", "empty")
    elif len(content) > limit:
        given.too_large(name, f"At most {limit} bytes")
    return content or None
