"""The errors that domain rooms raise; each surface renders them in its own dialect.

LodestoreError
├── InvalidInput          a rule is broken; lists each field and its rule
├── Unauthenticated       no credential, or one that is not valid
├── PermissionDenied      a valid credential that may not do this
├── NotFound              unknown, or in a scope the caller can't see
├── PreconditionFailed    If-Match, If-None-Match or a hash did not hold
├── Conflict              the state forbids it, or contention outlasted the retries
├── TooLarge              over a limit in bytes
├── UnsupportedType       a body of a type this operation does not read
├── RangeNotSatisfiable   no byte of the range exists
├── RateLimited           try again after `retry_after` seconds
└── Unavailable           a dependency is down; try again after `retry_after` seconds
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class LodestoreError(Exception):
    """The root of every error that a caller may be told about."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


@dataclass(frozen=True)
class Violation:
    """One broken rule: where (`loc`), what (`message`), its kind (`type`) and the refused value."""

    loc: tuple[str | int, ...]
    message: str
    type: str = "value_error"
    input: Any = None


class InvalidInput(LodestoreError):
    """A rule of the request is broken; nothing was changed."""

    def __init__(self, *violations: Violation) -> None:
        super().__init__("; ".join(f"{'.'.join(map(str, v.loc))}: {v.message}" for v in violations))
        self.violations = violations

    @classmethod
    def at(cls, *loc: str | int, message: str, type_: str = "value_error", value: Any = None) -> InvalidInput:
        """Return the error for one broken rule at `loc`."""
        return cls(Violation(loc, message, type_, value))


class Unauthenticated(LodestoreError):
    """There is no credential, or it is unknown, expired or revoked."""


class PermissionDenied(LodestoreError):
    """The credential is valid and may not do this."""


class NotFound(LodestoreError):
    """It does not exist, or not where this caller can see it."""


class PreconditionFailed(LodestoreError):
    """A condition that the caller set does not hold."""


class Conflict(LodestoreError):
    """The state forbids the change, or others kept winning until the retries were used up."""


class TooLarge(LodestoreError):
    """A part of the request is over its limit in bytes."""


class UnsupportedType(LodestoreError):
    """The body is of a type that this operation does not read."""


class RangeNotSatisfiable(LodestoreError):
    """No byte of the requested range exists; `size` is the length in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"The range lies outside the {size} bytes that exist.")
        self.size = size


class RateLimited(LodestoreError):
    """Too many requests; `retry_after` is in seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(LodestoreError):
    """A dependency is down or throttles; nothing was lost and `retry_after` is in seconds."""

    def __init__(
        self, message: str = "A dependency is unavailable. Try again.", *, retry_after: int = 2, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after
