"""Which calls waited for which: told by how the product forks and joins, not by when the machine came to them.

Calls made one after the other are a strand. `together` forks it: each call goes on from where the strand was, and after
them the strand is as long as the longest of theirs. A thread of somebody else's begins at nothing.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from shared.aws import parallel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future


@dataclass
class Strand:
    """How many calls one after the other have led to here, of one recording."""

    recording: object
    length: int = 0
    thread: int = field(default_factory=threading.get_ident)


_strand: ContextVar[Strand | None] = ContextVar("strand", default=None)


def strand_of(recording: object) -> Strand:
    """Return the strand that this thread is on."""
    found = _strand.get()
    if found is None or found.recording is not recording:
        found = Strand(recording)
    elif found.thread != threading.get_ident():  # a context was copied: this thread goes on from there by itself
        found = Strand(recording, found.length)
    _strand.set(found)
    return found


@contextmanager
def followed(recording: object) -> Iterator[None]:
    """Follow what `together` forks and joins."""
    threads, ended = parallel._threads(), parallel._ended

    class Forking:
        """What `together` takes for its threads."""

        @staticmethod
        def submit(run: Callable[[Callable[[], Any]], Any], call: Callable[[], Any]) -> Future[Any]:
            strand = Strand(recording, strand_of(recording).length)
            future = threads.submit(run, lambda: _on(strand, call))
            future.strand = strand  # type: ignore[attr-defined]
            return future

    def joined(future: Future[Any], call: Callable[[], Any]) -> Future[Any]:
        strand: Strand = future.strand  # type: ignore[attr-defined]
        end = ended(future, lambda: _on(strand, call))
        here = strand_of(recording)
        here.length = max(here.length, strand.length)
        return end

    with patch.object(parallel, "_threads", Forking), patch.object(parallel, "_ended", joined):
        yield


def _on(strand: Strand, call: Callable[[], Any]) -> Any:
    strand.thread = threading.get_ident()
    token = _strand.set(strand)
    try:
        return call()
    finally:
        _strand.reset(token)
