"""The listening socket and uvicorn around the gateway."""

from __future__ import annotations

import errno
import signal
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from infra.local.protocol import BoundedProtocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.local.gateway import Gateway

HOST = "127.0.0.1"
KEEP_ALIVE_SECONDS = 75
STOP_SECONDS = 2


class PortInUse(Exception):
    """Something else listens on the port."""


def bind(port: int) -> socket.socket:
    """Return a socket bound to `port` of this machine alone; 0 takes any free one.

    Raises:
        PortInUse: the port is taken.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
            raise
        raise PortInUse(
            f"Port {port} of {HOST} can't be used: {error.strerror}. Set PORT to another one, or to 0."
        ) from error
    return bound


class Server(uvicorn.Server):
    """uvicorn, which says when it listens, and ends without raising the signal again."""

    def __init__(self, gateway: Gateway, listening: Callable[[], None]) -> None:
        config = uvicorn.Config(
            gateway,
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._listening()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at Ctrl-C and at TERM; only the main thread may ask for signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[int, Any] = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
