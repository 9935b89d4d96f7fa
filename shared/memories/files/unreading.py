"""The worker's part of letting a reading count no more: what it has put into the index and the table goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from shared.memories.files.readings import address_in, chunk_id
from shared.memories.files.unfiling import remove_reading
from shared.memories.records import document_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.memories.means import Means

AT_ONCE: Final = 1_000
"""States that are removed from the index together."""


def unread(means: Means, body: Mapping[str, Any], late: Callable[[], bool]) -> bool:
    """Remove all that a reading has made which no document names; False: late, not all yet.

    Of a batch that was indexed and never committed no row tells: so the index is asked by the chunks' ids first.

    Raises:
        Unavailable: something can't be asked now.
    """
    address, token = address_in(dict(body)), body["token"]
    document = means.backing.table.get(document_key(address.scope, body["document"]))
    if document is not None and document["token"] == token:
        return True  # it counts: whoever wrote the message was wrong
    for start in range(0, body["chunks"], AT_ONCE):
        if start and late():
            return False
        places = range(start, min(start + AT_ONCE, body["chunks"]))
        means.index.remove(address.owner, {(chunk_id(address, token, n), 1) for n in places})
    return remove_reading(means, address, token, late)
