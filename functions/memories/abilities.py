"""What a deployment can do with files and images, and how a caller is told what it can't."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shared.documents.port import IMAGES

if TYPE_CHECKING:
    from functions.memories.fields import Fields

NO_DOCUMENTS: Final = "Documents are not enabled in this deployment (DocumentParsing off)"
NO_PICTURES: Final = "Nothing reads text off pictures in this deployment (VisionModel): send it as an input_image"
NO_CAPTIONS: Final = "Nothing describes images in this deployment (VisionModel): give each image a caption"
CAPTION_LATER: Final = "An image without a caption needs async_mode true"


@dataclass(frozen=True)
class Abilities:
    """Whether documents are read, text is read off pictures, and images are described."""

    documents: bool = True
    pictures: bool = False
    captions: bool = False

    def check_file(self, file: Fields, name: str, extension: str | None) -> None:
        """Note at a file's field that its kind is not read here."""
        if extension in IMAGES and not self.pictures:
            file.refuse(name, NO_PICTURES, "not_enabled")

    def check_uncaptioned(self, image: Fields, *, in_background: bool) -> None:
        """Note at an image without a caption why it needs one."""
        if not (self.captions and self.documents):
            image.refuse("caption", NO_CAPTIONS, "not_enabled")
        elif not in_background:
            image.refuse("caption", CAPTION_LATER, "combination")
