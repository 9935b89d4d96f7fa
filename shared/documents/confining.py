"""Takes from a process what a hostile document could use: memory, time, files, other processes, the network."""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.documents.fencing import fence

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN_FILES: Final = 256


def confine(memory: int, seconds: int) -> None:
    """Bound this process for good: `memory` bytes of address space, `seconds` of its processors' time, no file written.

    Where the machine is short of memory, this process is what the kernel ends. A bound that a system does not know is
    left out: all of them hold on Linux.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    for what, most in _bounds(memory, seconds):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))
    fence()


def _bounds(memory: int, seconds: int) -> Iterator[tuple[int, int]]:
    yield resource.RLIMIT_AS, memory
    yield resource.RLIMIT_DATA, memory
    yield resource.RLIMIT_CPU, seconds
    yield resource.RLIMIT_FSIZE, 0
    yield resource.RLIMIT_CORE, 0
    yield resource.RLIMIT_NOFILE, _OPEN_FILES
