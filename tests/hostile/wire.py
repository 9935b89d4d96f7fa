"""Bytes on a connection to the local server, and what comes back, read as a client that trusts nothing."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PATIENCE_SECONDS = 4.0
TO_THE_END_SECONDS = 60.0
QUIET_SECONDS = 0.4
"""A connection on which nothing came for so long says nothing more."""

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r]")


@dataclass(frozen=True)
class Came:
    """What came back on a connection: the statuses of the answers, all bytes, and whether it was closed."""

    statuses: list[int]
    raw: bytes
    closed: bool


def sent(port: int, pieces: Iterable[bytes], *, quiet: float = QUIET_SECONDS, to_the_end: bool = False) -> Came:
    """Send pieces, and read what comes until nothing more does; `to_the_end`: until the server closes it."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except OSError:
            pass  # it had heard enough
        return _read(connection, *([TO_THE_END_SECONDS] * 2 if to_the_end else [PATIENCE_SECONDS, quiet]))


def _read(connection: socket.socket, patience: float, quiet: float) -> Came:
    raw, closed = b"", False
    connection.settimeout(patience)
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
