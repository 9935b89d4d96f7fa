"""The body that announces a file (contract, "Files")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from functions.memories.fields import Fields
from functions.memories.filenames import UPLOADED, read_filename
from shared.memories.files.media import is_document
from shared.memories.files.uploads import UploadWish
from shared.memories.records import UserAddress

if TYPE_CHECKING:
    from functions.memories.limits import Limits
    from shared.kernel.scope import Scope

MOST: Final = 1 << 53
_SHA256 = re.compile("[0-9a-f]{64}")


def upload_wish(body: Any, scope: Scope, limits: Limits) -> UploadWish:
    """Return a checked announcement; what is no document is held to the limit of images.

    Raises:
        InvalidInput: names each field and its rule.
        TooLarge: the file is over its limit.
    """
    fields = Fields.of_body(body)
    user_id = fields.identifier("user_id", required=True) or ""
    filename, extension = read_filename(fields, UPLOADED) or ("", "txt")
    size = fields.integer("size", 1, MOST) or 0
    sha256 = _sha256_of(fields)
    fields.check()
    limit = limits.file_bytes if is_document(extension) else limits.image_bytes
    if size > limit:
        fields.too_large("size", f"At most {limit} bytes")
    return UploadWish(UserAddress(scope, user_id), filename, extension, size, sha256)


def _sha256_of(fields: Fields) -> str | None:
    given = fields.text("sha256", nullable=True)
    if given is not None and not _SHA256.fullmatch(given):
        fields.refuse("sha256", "64 hex digits, small letters", "sha256", value=given)
        return None
    return given
