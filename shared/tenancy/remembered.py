"""What was read from the table a moment ago and need not be read again for each request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.kernel.clock import Clock

T = TypeVar("T")

SECONDS = 55
"""How long: a revoked key is refused everywhere within 60 s (contract "platform", Endpoints)."""

CAPACITY = 10_000


class Remembered(Generic[T]):
    """Values by name, each kept for at most 55 s from before it was read; nothing is kept of what is absent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._values: dict[str, tuple[int, T]] = {}

    def get(self, name: str, load: Callable[[], T | None]) -> T | None:
        """Return the value of `name`, read with `load` unless it was read a moment ago."""
        now = self._clock.now_ms()
        kept = self._values.get(name)
        if kept is not None and now < kept[0]:
            return kept[1]
        value = load()
        if value is None:
            self.forget(name)
        else:
            self._keep(name, now, value)
        return value

    def forget(self, name: str) -> None:
        """Read `name` again at its next use."""
        self._values.pop(name, None)

    def _keep(self, name: str, now: int, value: T) -> None:
        if len(self._values) >= CAPACITY:
            self._values = {n: v for n, v in list(self._values.items()) if now < v[0]}
        if len(self._values) >= CAPACITY:
            self._values = {}
        self._values[name] = (now + SECONDS * 1000, value)
