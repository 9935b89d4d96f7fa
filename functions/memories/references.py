"""The files that an Add names by id, held to the rules of those that come with one (contract, "Files")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions.memories.parts import bound_picture
from shared.kernel.errors import Conflict, NotFound
from shared.memories.files.media import is_document, is_picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from functions.memories.abilities import Abilities
    from functions.memories.fields import Fields
    from functions.memories.limits import Limits
    from functions.memories.parts import Attached
    from shared.aws.items import Item


@dataclass(frozen=True)
class References:
    """What an Add names, by `n`, and what it is held to."""

    named: Mapping[int, Attached]
    limits: Limits
    abilities: Abilities

    def check(self, found: Mapping[int, Item | None]) -> None:
        """Hold the rows of the named files to the rules; None: not there, or not this caller's.

        Raises:
            NotFound: one is not there.
            Conflict: one has no bytes yet.
            InvalidInput: one is of a kind that the part does not take.
            TooLarge: one is over a limit.
        """
        for n, attached in self.named.items():
            fields, row = attached.fields, found[n]
            if row is None:
                raise NotFound(f"{fields.path('file_id')}: There is no such file.", hint=_WHOSE)
            if row["status"] != "ready":
                message = f"{fields.path('file_id')}: The bytes of this file are not complete."
                raise Conflict(message, code="file_pending", hint=_COMPLETE)
            if attached.attachment.of == "file":
                self._check_file(fields, row)
            else:
                self._check_image(fields, row)
            fields.check()

    def _check_file(self, file: Fields, row: Item) -> None:
        if not is_document(row["extension"]):
            file.refuse("file_id", "This file is no document: send it as input_image", "file_kind")
        elif row["size"] > self.limits.file_bytes:
            file.too_large("file_id", f"At most {self.limits.file_bytes} bytes")
        self.abilities.check_file(file, "file_id", row["extension"])

    def _check_image(self, image: Fields, row: Item) -> None:
        if not is_picture(row["media_type"]) or row.get("pixels") is None:
            image.refuse("file_id", "This file is no PNG, JPEG, WebP or GIF: send it as a file", "file_kind")
            return
        if row["size"] > self.limits.image_bytes:
            image.too_large("file_id", f"At most {self.limits.image_bytes} bytes")
        bound_picture(image, "file_id", (row["pixels"], row["frames"]), limits=self.limits)


_WHOSE = "A file can be named by the user it was uploaded for, in the same project, until it is deleted."
_COMPLETE = "PUT the bytes to the URL of the upload, then POST /v1/files/{id}/complete."
