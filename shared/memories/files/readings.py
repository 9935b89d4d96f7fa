"""Readings of files that count no more: what they have put into the index and the table goes.

Nothing of it can be seen: no document names the reading. A job stands for it until a message does.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from shared.aws.items import key_of
from shared.aws.writes import Delete
from shared.kernel.errors import Unavailable
from shared.kernel.scope import Scope
from shared.memories.records import UserAddress
from shared.retention.records import job

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.memories.backing import Backing

READING: Final = "memory_reading"
"""The sweeper's kind of a reading whose removal no message stands for yet."""


class Readings:
    """The readings of one user's files."""

    def __init__(self, backing: Backing, address: UserAddress) -> None:
        self._backing = backing
        self._address = address

    def left(self, reading: Item, *, outdated: bool = False) -> Item:
        """Return the job for what a reading leaves, by the row of its file job or of its document as it was.

        `outdated`: later bytes of the same name count now, so that those go too that were sent for nothing but it.
        """
        chunks = reading.get("chunks_total") or reading.get("chunks") or 0
        told = {"user_id": self._address.user_id, "token": reading["token"], "chunks": chunks}
        if outdated:
            told |= {"file": reading["file"], "task": reading.get("sent_by", reading["task"])}
        document = reading["document"] if "document" in reading else reading["sk"].removeprefix("d#")
        now = self._backing.clock.now_ms()
        return job(READING, self._address.scope, now, **told, document=document)

    def send(self, left: Item) -> None:
        """Have a worker remove it now; else the sweeper does."""
        with suppress(Unavailable):
            send_reading(self._backing, left)
            self._backing.table.write(Delete(key_of(left)))


def send_reading(backing: Backing, left: Item) -> None:
    """Send the message that has a reading removed, in a group of its own: it may be long.

    Raises:
        Unavailable: it may not have been sent.
    """
    told = ("tenant", "project", "user_id", "token", "chunks", "document", "file", "task")
    body: dict[str, Any] = {"work": "unread", **{name: left[name] for name in told if name in left}}
    backing.queue.send(body, group=left["token"], once=left["pk"])


def address_in(body: dict[str, Any]) -> UserAddress:
    """Return whose reading a message is about."""
    return UserAddress(Scope(body["tenant"], body["project"]), body["user_id"])


def chunk_id(address: UserAddress, token: str, index: int) -> str:
    """Return the id of a reading's chunk: always the same one, so that to write it again changes nothing."""
    return address.memory_id(token, "chunk", index)
