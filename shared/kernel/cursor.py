"""Opaque list cursors, bound to the list that gave them out."""

from __future__ import annotations

import base64
import hashlib
import json
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, Any

from shared.kernel.errors import InvalidInput
from shared.kernel.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = 12


def encode(position: Any, *binding: str) -> str:
    """Return a cursor for a JSON-able `position` that only decodes with the same `binding`."""
    text = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_mark(text, binding) + text).decode().rstrip("=")


def decode(cursor: str, *binding: str, field: str = "cursor", fits: Callable[[Any], bool] | None = None) -> Any:
    """Return the position of a cursor made with the same `binding`.

    The mark is no secret: a forged cursor can only name a place in the caller's own list,
    since scope comes from the credential. It keeps cursors of other lists out. `fits` tells
    whether a position has the form of the list's: a forged one may be anything that JSON can say.

    Raises:
        InvalidInput: made up, damaged, or of another list (contract "project memory", Requests).
    """
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        text = raw[_MARK:]
        position = parse(text) if raw[:_MARK] == _mark(text, binding) else None
        if position is not None and (fits is None or fits(position)):
            return position
    except (Base64Error, ValueError, InvalidInput):
        pass
    raise InvalidInput.at(
        "query",
        field,
        message="This cursor was not given out for this list; start without one.",
        value=cursor[:200],
    )


def _mark(text: bytes, binding: tuple[str, ...]) -> bytes:
    return hashlib.sha256("\x00".join(binding).encode() + b"\x00" + text).digest()[:_MARK]
