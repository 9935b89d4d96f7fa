"""A process that reads one hostile file: it is told what to do, what it says is read within bounds, and it is ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final, Self

from shared.documents.port import DocumentFailed

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from shared.documents.limits import ParseLimits

READY: Final = b"ready\n"
"""The first line of a process that has begun; without it, not the document is to blame."""

LINE_BYTES: Final = 1 << 20
"""The longest line that is read; chunks are far shorter."""

_READ_BYTES: Final = 1 << 16
_PROGRAM: Final = "shared.documents.child"
_HANDED_ON: Final = (
    "PATH",
    "LD_LIBRARY_PATH",
    "TZ",
    "SYSTEMROOT",
)  # what a Python needs to start; no secret is in them


class Reading:
    """A child process at work on `path`, as a context: it is killed and waited for at its end, whatever happens.

    It gets the module search path and no other part of this process's environment: no credentials, no open files.
    It can't tell much, either: lines and bytes are read as they are asked for, and it waits until they are.

    Raises:
        OSError: no process could be started; that says nothing of the document.
    """

    def __init__(self, work: str, path: Path, limits: ParseLimits, **order: Any) -> None:
        self._limits = limits
        self._waiting = float(limits.seconds)
        self._said = bytearray()
        self._pipe, written = os.pipe()
        try:
            given = json.dumps({"work": work, "path": str(path), "pipe": written, "limits": vars(limits), **order})
            self._process = _started(given, written)
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(written)

    def __enter__(self) -> Self:
        try:
            started = self.line() == READY
        except BaseException:
            self._end()
            raise
        if not started:
            self._end()
            raise OSError("What reads documents did not start.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def line(self) -> bytes:
        """Return its next line, with its end; what it said last if it ended within one, b"" if it said no more.

        Raises:
            DocumentFailed: it was waited for too long, or the line has no end.
        """
        seen = 0
        while (end := self._said.find(b"\n", seen)) < 0:
            seen = len(self._said)
            if seen > LINE_BYTES:
                raise DocumentFailed("too_complex", "It could not be read within bounds.")
            if not self._more():
                end = seen - 1
                break
        return self._taken(end + 1)

    def content(self, size: int) -> bytes:
        """Return its next bytes, fewer where it ended before.

        Raises:
            DocumentFailed: it was waited for too long.
        """
        while len(self._said) < size and self._more():
            pass
        return self._taken(size)

    def _taken(self, size: int) -> bytes:
        taken = bytes(self._said[:size])
        del self._said[:size]
        return taken

    def _more(self) -> bool:
        """Wait for more of what it says, and put it by; False at its end."""
        since = time.monotonic()
        there = select.poll()
        there.register(self._pipe, select.POLLIN)
        while not there.poll(max(0.0, self._waiting) * 1000):
            if time.monotonic() - since >= self._waiting:
                seconds = self._limits.seconds
                raise DocumentFailed("too_complex", f"Reading it took longer than the {seconds} s that one file may.")
        self._waiting -= time.monotonic() - since
        more = os.read(self._pipe, _READ_BYTES)
        self._said += more
        return bool(more)

    def _end(self) -> None:
        # Its group is its own; until it is waited for, the group's number can't be another's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        os.close(self._pipe)


def _started(order: str, pipe: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own program; what a file says is no part of its arguments
        [sys.executable, "-P", "-B", "-m", _PROGRAM, order],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(pipe,),
        cwd="/",
        env=_environment(),
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100 - "" is this folder
    # One heap for all threads, else each reserves a part of the bounded space; few threads, for the same reason.
    return kept | {"PYTHONPATH": paths, "PYTHONUTF8": "1", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "2"}
