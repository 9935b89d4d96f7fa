"""uvicorn's HTTP, with a bound on the head of a request, which its parser does not have."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 65_536
"""Request line and headers together. API Gateway itself takes 10,240."""

REFUSAL = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: application/json\r\ncontent-length: 45\r\nconnection: close\r\n\r\n"
    b'{"message":"Request Header Fields Too Large"}'
)


class BoundedProtocol(HttpToolsProtocol):
    """One connection. A head that is too long is answered 431 and the connection closed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Count what comes before the end of a head."""
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES and b"\r\n\r\n" not in data:
                self.transport.write(REFUSAL)
                self.transport.close()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Begin the body."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Begin the next head."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_complete()
