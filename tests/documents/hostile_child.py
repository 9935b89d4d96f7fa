"""A child as the real one is, confined and all, in which a hostile document has taken over."""

import ctypes
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shared.documents import child
from shared.documents.limits import ParseLimits

WORD = "said"


def _tells(what: Any) -> list[Any]:
    return [str(what), [], None, None]


def _memory(_path: Path) -> Iterator[Any]:
    held = []
    while True:
        held.append(b"x" * (64 << 20))
        yield _tells(WORD)


def _memory_of_a_library(_path: Path) -> Iterator[Any]:
    get = ctypes.CDLL(None).malloc
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    while place := get(16 << 20):
        ctypes.memset(place, 1, 16 << 20)
    os.abort()
    yield


def _loop(_path: Path) -> Iterator[Any]:
    while True:
        pass
    yield


def _silence(_path: Path) -> Iterator[Any]:
    os.read(os.pipe()[0], 1)
    yield


def _flood(_path: Path) -> Iterator[Any]:
    while True:
        yield _tells("flood " * 1_000)


def _line_without_end(_path: Path) -> Iterator[bytes]:
    while True:
        yield b"x" * 65_536


def _fault(_path: Path) -> Iterator[Any]:
    ctypes.string_at(0)
    yield


def _tries(path: Path) -> Iterator[Any]:
    """Everything a document could want, and what came of it."""
    attempts: Mapping[str, Callable[[], Any]] = {
        "fork": os.fork,
        "execute": lambda: os.execv("/bin/true", ["true"]),
        "start": lambda: subprocess.run(["true"], check=True),
        "connect": lambda: socket.create_connection(("127.0.0.1", 9)),
        "listen": socket.socket,
        "kill": lambda: os.kill(os.getppid(), 9),
        "write": lambda: (path.parent / "written").write_text("x"),
        "change": lambda: path.write_text("x"),
        "remove": path.unlink,
        "raise": lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
        except (OSError, ValueError) as error:
            yield _tells(f"{name}: {type(error).__name__}")
        else:
            yield _tells(f"{name}: done")


def _sees(_path: Path) -> Iterator[Any]:
    yield _tells(dict(os.environ))
    links = list(Path("/proc/self/fd").iterdir())  # the listing's own is gone by now
    yield _tells([str(link.readlink()) for link in links if link.is_symlink()])


def _says(path: Path) -> Iterator[bytes]:
    yield path.read_bytes()


def _ends_early(_path: Path) -> Iterator[Any]:
    yield _tells(WORD)
    os._exit(0)


WORKS: Mapping[str, Callable[[Path], Iterator[Any]]] = {
    "memory": _memory,
    "memory_of_a_library": _memory_of_a_library,
    "loop": _loop,
    "silence": _silence,
    "flood": _flood,
    "line_without_end": _line_without_end,
    "fault": _fault,
    "tries": _tries,
    "sees": _sees,
    "says": _says,
    "ends_early": _ends_early,
}


def _parse(order: Mapping[str, Any], _limits: ParseLimits) -> Iterator[Any]:
    path = Path(order["path"])
    return WORKS[path.suffix[1:]](path)


if __name__ == "__main__":
    child._WORKS = {"parse": _parse}  # type: ignore[assignment]
    child.main(sys.argv[1])
