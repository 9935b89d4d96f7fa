"""`If-Match`, `If-None-Match` and `Range`, as HTTP (RFC 9110) has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.errors import PreconditionFailed, RangeNotSatisfiable

if TYPE_CHECKING:
    from collections.abc import Mapping

_TAG = re.compile(r'(?:W/)?"[^"]*"')
_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")


@dataclass(frozen=True)
class Preconditions:
    """The conditions that a request sets; None where it sets none."""

    if_match: str | None = None
    if_none_match: str | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Preconditions:
        """Return the conditions in lower-cased headers."""
        return cls(headers.get("if-match"), headers.get("if-none-match"))

    def check_write(self, etag: str | None) -> None:
        """Hold a write to its conditions; `etag` is that of what is there now, None for nothing.

        Raises:
            PreconditionFailed: a condition does not hold.
        """
        if self.if_match is not None and not _strongly_matches(self.if_match, etag):
            found = "what is there now has another ETag" if etag else "nothing is there"
            raise PreconditionFailed(f"If-Match: {found}.")
        if self.if_none_match is not None and _matches(self.if_none_match, etag):
            raise PreconditionFailed("If-None-Match: it exists already.")

    def not_modified(self, etag: str) -> bool:
        """Tell whether a read may be answered with 304."""
        return self.if_none_match is not None and _matches(self.if_none_match, etag)


def tags_in(header: str) -> list[str]:
    """Return the entity tags that a header lists, without the mark of weakness."""
    return [tag.removeprefix("W/") for tag in _TAG.findall(header)]


def range_of(headers: Mapping[str, str], size: int, etag: str) -> tuple[int, int] | None:
    """Return the first and last position that a `Range` asks for, or None for the whole.

    What is not one range of bytes is ignored, as HTTP asks; so is a range whose `If-Range` is of another ETag.

    Raises:
        RangeNotSatisfiable: no byte of it exists.
    """
    found = _RANGE.fullmatch(headers.get("range", "").strip().lower())
    if found is None or headers.get("if-range", etag) != etag or found[1] == found[2] == "":
        return None
    if found[1] == "":
        first, last = max(size - int(found[2]), 0), size - 1
        satisfiable = int(found[2]) > 0
    else:
        first, last = int(found[1]), min(int(found[2] or size), size - 1)
        if found[2] and int(found[2]) < first:
            return None
        satisfiable = True
    if not satisfiable or first >= size:
        raise RangeNotSatisfiable(size)
    return first, last


def _matches(header: str, etag: str | None) -> bool:
    return etag is not None and (header.strip() == "*" or etag in tags_in(header))


def _strongly_matches(header: str, etag: str | None) -> bool:
    return etag is not None and (header.strip() == "*" or etag in _strong_tags(header))


def _strong_tags(header: str) -> list[str]:
    return [tag for tag in _TAG.findall(header) if not tag.startswith("W/")]
