"""Bytes on a connection to the local server, and what comes back, read as a client that trusts nothing."""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PATIENCE_SECONDS = 4.0
QUIET_SECONDS = 0.4
"""A connection on which nothing came for so long says nothing more."""

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r]")


@dataclass(frozen=True)
class Came:
    """What came back on a connection: the statuses of the answers, all bytes, and whether it was closed."""

    statuses: list[int]
    raw: bytes
    closed: bool


def sent(port: int, pieces: Iterable[bytes], *, pause: float = 0.0, quiet: float = QUIET_SECONDS) -> Came:
    """Send pieces, with a pause between, and read what comes until nothing more does."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        except OSError:
            pass  # it had heard enough
        return _read(connection, quiet)


def _read(connection: socket.socket, quiet: float) -> Came:
    raw, closed = b"", False
    connection.settimeout(PATIENCE_SECONDS)
    try:
        while piece := connection.recv(65_536):
            raw += piece
            connection.settimeout(quiet)
        closed = True
    except TimeoutError:
        pass
    except OSError:
        closed = True
    return Came(statuses_in(raw), raw, closed)


def statuses_in(raw: bytes) -> list[int]:
    """Return the statuses of the answers in a stream, following each one's length; 0 for what is no answer."""
    found = []
    while raw:
        status = _STATUS.match(raw)
        head, mark, rest = raw.partition(b"\r\n\r\n")
        if status is None or not mark:
            return [*found, 0]
        found.append(int(status[1]))
        length = re.search(rb"\r\ncontent-length: (\d+)", head.lower())
        raw = rest[int(length[1]) if length else 0 :]
    return found
