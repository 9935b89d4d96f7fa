"""Holding a batch of messages while it is worked on: a worker that dies frees them within half a minute."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from shared.kernel.contention import LostRace
from shared.kernel.errors import Conflict, Unavailable
from shared.memories.attempts import Fenced

if TYPE_CHECKING:
    from shared.aws.queue import Queue
    from shared.kernel.clock import Clock

HELD_SECONDS = 30
BEAT_SECONDS = 10


class Held(Protocol):
    """An attempt whose message is held: until when (ms) it may be, and what it holds of its own."""

    @property
    def held_until(self) -> int:
        """Until when the message may be kept from others."""

    def renew(self) -> None:
        """Hold what the attempt has of its own for longer.

        Raises:
            Fenced: another has it.
        """


@dataclass
class Heartbeat:
    """Holds the messages of one batch; entered, it beats every ten seconds.

    An attempt that gets no further is held no longer than its task may hold up its user, and nothing of its batch is.
    """

    queue: Queue
    clock: Clock
    receipts: list[str]
    _attempt: Held | None = None
    _asking: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.beat()
        self._thread = threading.Thread(target=self._go_on, name="heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()

    def watch(self, attempt: Held | None) -> None:
        """Hold what this attempt has too, from now on."""
        self._attempt = attempt

    def beat(self) -> None:
        """Hold everything for another half minute."""
        attempt = self._attempt
        if attempt is not None and self.clock.now_ms() > attempt.held_until:
            return
        with self._asking, suppress(Unavailable):
            if self.receipts:
                self.queue.hold(list(self.receipts), HELD_SECONDS)
        if attempt is not None:
            with suppress(Unavailable, LostRace, Conflict, Fenced):
                attempt.renew()

    def let_go(self, receipt: str, seconds: int | None) -> None:
        """Hold a message no longer: it comes again after so many seconds, or when it would anyway (None)."""
        self._attempt = None
        with self._asking:  # a beat that is on its way would hold it again afterwards
            if receipt in self.receipts:
                self.receipts.remove(receipt)
            if seconds is not None:
                with suppress(Unavailable):
                    self.queue.hold([receipt], seconds)

    def _go_on(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            self.beat()
