"""The connection to a node or domain: signed for a domain, with tight time-outs and few retries."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opensearchpy import OpenSearch

READ_SECONDS: Final = 3.0
"""For a search: a caller waits 5 s in all."""
WRITE_SECONDS: Final = 10.0
CONNECTIONS: Final = 32
_RETRIES: Final = 1
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
_BUSY_SECONDS: Final = 5
"""When to come again if the node says that it has too much to do."""


def connect(endpoint: str, credentials: Any = None, region: str | None = None) -> OpenSearch:
    """Return a client of the node at `endpoint`; what is not on this machine is signed with `credentials` (botocore's).

    It makes no call itself.

    Raises:
        Unavailable: it has to sign and has no credentials or no region.
    """
    from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection  # noqa: PLC0415 - half a second

    signed = urlsplit(endpoint).hostname not in _LOCAL
    if signed and not (credentials and region):
        raise Unavailable("There are no AWS credentials, or no region, to sign requests to the search domain with.")
    return OpenSearch(
        hosts=[endpoint],
        http_auth=Urllib3AWSV4SignerAuth(credentials, region) if signed else None,
        connection_class=Urllib3HttpConnection,
        pool_maxsize=CONNECTIONS,
        timeout=READ_SECONDS,
        max_retries=_RETRIES,
        retry_on_status=(502, 503, 504),
    )


@contextmanager
def translated() -> Iterator[None]:
    """Turn everything that can go wrong between us and the node into `Unavailable`.

    A request that the node refuses is an error of ours, and yet no answer: it must never look like an empty one.
    """
    from opensearchpy import OpenSearchException, TransportError  # noqa: PLC0415 - imported by then

    try:
        yield
    except OpenSearchException as error:
        busy = isinstance(error, TransportError) and error.status_code == 429
        raise unavailable(busy=busy) from error


def unavailable(*, busy: bool = False) -> Unavailable:
    """Return the error of a search that can't be asked now."""
    return Unavailable("Search is unavailable. Try again.", retry_after=_BUSY_SECONDS if busy else 2)
