"""The parts of a message: text, images and files, each with its shape (seed, Add request body, `content`)."""

from __future__ import annotations

import base64
import re
import uuid
from binascii import Error as Base64Error
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functions.memories.fields import Fields
    from functions.memories.limits import Limits

CAPTION_CHARACTERS = 4000
FILE_NAME_CHARACTERS = 255
DETAILS = ("auto", "low", "high", "original")
EXTENSIONS = frozenset(
    {"pdf", "doc", "docx", "ppt", "pptx", "xls", "xlsx", "xlsm", "jpg", "jpeg", "png", "bmp", "gif"}
    | {"md", "markdown", "html", "epub", "mobi", "rtf", "txt"}
)
_IMAGE = re.compile(r"data:image/(png|jpeg|webp|gif);base64,", re.IGNORECASE)
_DATA_URL = re.compile(r"data:[^,]*;base64,", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^/\\\x00-\x1f\x7f-\x9f]+\.(\w+)")


@dataclass
class Parts:
    """What the parts of one message are."""

    texts: list[str] = field(default_factory=list)
    images: int = 0
    captions: int = 0
    files: int = 0
    file_ids: list[str] = field(default_factory=list)

    def read(self, part: Fields, limits: Limits) -> None:
        """Take in one part, or note what is wrong with it."""
        kind = part.choice("type", ("text", "input_text", "input_image", "file"))
        if kind in ("text", "input_text"):
            self._read_text(part)
        elif kind == "input_image":
            self._read_image(part, limits)
        elif kind == "file":
            self._read_file(part, limits)

    def _read_text(self, part: Fields) -> None:
        text = part.text("text", required=True)
        if text is not None and not text.strip():
            part.refuse("text", "A text needs a character that is not white space", "string_blank")
        elif text is not None:
            self.texts.append(text)

    def _read_image(self, part: Fields, limits: Limits) -> None:
        self.images += 1
        part.choice("detail", DETAILS, "auto")
        caption = part.text("caption", most=CAPTION_CHARACTERS, nullable=True)
        if caption is not None and not caption.strip():
            part.refuse("caption", "A caption needs a character that is not white space", "string_blank")
        self.captions += caption is not None
        if "file_id" in part.given and "image_url" not in part.given:
            self._read_file_id(part)
            return
        url = part.text("image_url", required=True)
        if url is None:
            return
        head = _IMAGE.match(url)
        if head is None:
            rule = "Only data:image/png|jpeg|webp|gif;base64,… is taken, no address and no bare base64"
            part.refuse("image_url", rule, "image_url", url[:100])
        else:
            _check_base64(part, "image_url", url[head.end() :], limits.image_bytes)

    def _read_file(self, part: Fields, limits: Limits) -> None:
        self.files += 1
        file = part.object("file", required=True)
        if file is None:
            return
        if ("file_id" in file.given) == ("file_data" in file.given):
            file.refuse("file_id", "Give either file_id or file_data", "exactly_one")
        elif "file_id" in file.given:
            self._read_file_id(file)
        else:
            _read_file_name(file)
            data = file.text("file_data", required=True)
            head = _DATA_URL.match(data) if data else None
            if data is not None:
                _check_base64(file, "file_data", data[head.end() :] if head else data, limits.file_bytes)

    def _read_file_id(self, given: Fields) -> None:
        value = given.text("file_id", required=True)
        try:
            if value is not None:
                self.file_ids.append(str(uuid.UUID(value)))
        except ValueError:
            given.refuse("file_id", "Input should be a UUID", "uuid_parsing", value)


def _read_file_name(file: Fields) -> None:
    name = file.text("filename", most=FILE_NAME_CHARACTERS, required=True)
    if name is None:
        return
    form = _FILE_NAME.fullmatch(name)
    if form is None:
        file.refuse("filename", "A name with an extension, without folders or control characters", "file_name", name)
    elif form[1].lower() not in EXTENSIONS:
        file.refuse("filename", f"The extension should be one of {', '.join(sorted(EXTENSIONS))}", "extension", name)


def _check_base64(given: Fields, name: str, text: str, limit: int) -> None:
    if len(text) * 3 // 4 - 2 > limit:
        given.too_large(name, f"At most {limit} bytes")
    try:
        size = len(base64.b64decode(text, validate=True))
    except (Base64Error, ValueError):
        given.refuse(name, "The data is not base64", "base64")
        return
    if size == 0:
        given.refuse(name, "There is no data", "empty")
    elif size > limit:
        given.too_large(name, f"At most {limit} bytes")


def text_part(text: str) -> dict[str, Any]:
    """Return a text as the part that is kept."""
    return {"type": "text", "text": text}
