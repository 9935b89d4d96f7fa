"""The worker's part of letting a reading count no more: what it has put into the index and the table goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import TransactionFailed
from shared.aws.writes import Delete, Put
from shared.kernel.contention import LostRace, persist
from shared.memories.files.readings import address_in, chunk_id
from shared.memories.files.unfiling import remove_reading
from shared.memories.leftovers import Leftovers
from shared.memories.records import document_key, file_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.memories.means import Means
    from shared.memories.records import UserAddress

AT_ONCE: Final = 1_000
"""States that are removed from the index together."""


def unread(means: Means, body: dict[str, Any], late: Callable[[], bool]) -> bool:
    """Remove all that a reading has made which no document names; False: late, not all yet.

    Of a batch that was indexed and never committed no row tells: so the index is asked by the chunks' ids first. How
    many it was asked for is noted in `body`, with which the rest is sent: else a slow index would never be done.

    Raises:
        Unavailable: something can't be asked now.
    """
    address, token = address_in(body), body["token"]
    document = means.backing.table.get(document_key(address.scope, body["document"]))
    if document is not None and document["token"] == token:
        return True  # it counts: whoever wrote the message was wrong
    first = body.get("asked", 0)
    for start in range(first, body["chunks"], AT_ONCE):
        if start > first and late():
            return False
        places = range(start, min(start + AT_ONCE, body["chunks"]))
        means.index.remove(address.owner, {(chunk_id(address, token, n), 1) for n in places})
        body["asked"] = places.stop
    if not remove_reading(means, address, token, late=late):
        return False
    if "file" in body:
        persist(lambda: _forget_bytes(means, address, body["file"], task_id=body["task"]))
    return True


def _forget_bytes(means: Means, address: UserAddress, file_id: str, *, task_id: str) -> None:
    """Remove a file that came in an add, unless another add has sent the same bytes since: an upload is its user's.

    Raises:
        LostRace: it changed since it was read.
    """
    backing, key = means.backing, file_key(address.scope, file_id)
    row = backing.table.get(key)
    if row is None or row.get("sent_by") != task_id:
        return
    leftovers, objects = Leftovers(backing, address), [row["object"]]
    same = {"task": task_id, "object": row["object"]}
    gone = Delete(key, "#sent_by = :task AND #object = :object", same)
    try:
        backing.table.transact(gone, Put(leftovers.due((), objects)))
    except TransactionFailed:
        raise LostRace(pause=False) from None
    backing.note(address.scope, bytes=-row["size"])
    leftovers.remove(means.index, (), objects)
