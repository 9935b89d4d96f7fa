"""Deleting files: out of sight at once with what was made of them, removed by a worker, told in a receipt.

A chunk is seen while its document is there: so taking away the rows of the file and of its documents is one write,
whatever the size, and the worker removes the rest (`unfiling`).
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import TransactionFailed
from shared.aws.items import key_of
from shared.aws.writes import ABSENT, Check, Delete, Put
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import Unavailable
from shared.kernel.ids import ulid
from shared.memories.erasing import UNFILE, new_receipt, send
from shared.memories.files.finding import seen_file
from shared.memories.files.views import document_keys_of, file_id_of
from shared.memories.records import UserAddress
from shared.retention.erasures import Erasure, ErasureLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.aws.writes import Write
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing

    Record = dict[str, Any]


@dataclass(frozen=True)
class Deleting:
    """Deletes files with the documents that were made of them."""

    backing: Backing

    def delete(self, scope: Scope, file_id: str, user_id: str | None = None, *, correlation_id: str) -> Record:
        """Put a file and what was made of it out of sight for good, and return what a caller asks the receipt by.

        Raises:
            NotFound: there is no such file, or not of the user that is named.
            Conflict: others kept changing it for longer than the retries last.
            Unavailable: a store does not answer; it may have been done or not.
        """
        wish = _Deletion(self.backing, scope, (file_id, user_id), correlation_id=correlation_id)
        receipt = persist(wish.attempt)
        with suppress(Unavailable):  # the receipt is there: the sweeper sends it
            send(self.backing, receipt)
        return {"task_id": receipt["erasure"], "status": "accepted"}

    def delete_of(self, scope: Scope, document: Item, correlation_id: str) -> Record:
        """Delete the file that a document was made of last.

        Raises:
            NotFound: it is gone already.
            Conflict: others kept changing it for longer than the retries last.
            Unavailable: a store does not answer; it may have been done or not.
        """
        return self.delete(scope, document["file"], document["user_id"], correlation_id=correlation_id)


class _Deletion:
    """One request's deletion, known as its own when it is tried again."""

    def __init__(self, backing: Backing, scope: Scope, file: tuple[str, str | None], *, correlation_id: str) -> None:
        self._backing, self._scope = backing, scope
        self._file = file
        self._correlation_id = correlation_id
        self._erasure_id = str(uuid.uuid4())
        self._name = ulid(backing.clock.now_ms())

    def attempt(self) -> Item:
        """Delete what is there now, and return the receipt.

        Raises:
            LostRace: something of it changed since it was read.
            NotFound: there is no such file.
        """
        file_id, user_id = self._file
        row, _ = seen_file(self._backing, self._scope, file_id, user_id=user_id)
        keys = document_keys_of(self._scope, row)
        found = self._backing.table.batch_get(keys) if row["status"] == "ready" else {}
        documents = [document for document in found.values() if document["file"] == file_id_of(row)]
        receipt = self._receipt(row, documents)
        self._log(row, documents)
        others = [key for key in keys if key not in set(map(key_of, documents))]
        try:
            self._backing.table.transact(Put(receipt, ABSENT), *_removal(row, documents, others))
        except TransactionFailed as failed:
            if 0 not in failed.items:  # else it is done: only the answer was lost
                raise LostRace(pause=False) from None
        self._account(row)
        return receipt

    def _receipt(self, row: Item, documents: Sequence[Item]) -> Item:
        address = UserAddress(self._scope, row["user_id"])
        receipt = new_receipt(address, self._erasure_id, self._correlation_id, now=self._backing.clock.now_ms())
        kept = [row["object"]] if row["status"] == "ready" else []
        tokens = [document["token"] for document in documents]
        return {**receipt, "work": UNFILE, "records": 1 + len(documents), "kept": kept, "tokens": tokens}

    def _log(self, row: Item, documents: Sequence[Item]) -> None:
        """Log what is deleted first: what is logged and not deleted is removed by a restored table's replay alone."""
        # The same bytes sent again are a file of the same id: when it came tells which one was deleted.
        named = [{"document": document["sk"].removeprefix("d#"), "token": document["token"]} for document in documents]
        whose = {"pk": row["pk"], "user": row["user"], "erasure": self._erasure_id}
        ids = {
            **whose,
            "object": row["object"],
            "file": file_id_of(row),
            "created_at": row["created_at"],
            "documents": named,
        }
        ErasureLog(self._backing.objects).write(Erasure(self._name, "memory_file", self._scope, ids))

    def _account(self, row: Item) -> None:
        if row["status"] == "ready":
            self._backing.note(self._scope, bytes=-row["size"])
        else:
            self._backing.objects.discard(row["object"])


def _removal(row: Item, documents: Sequence[Item], others: Sequence[Key]) -> list[Write]:
    """Return the writes that take a file and its documents away, and hold others to being another file's."""
    seen = {"status": row["status"], "seen": row["object"]}
    gone: list[Write] = [Delete(key_of(row), "#status = :status AND #object = :seen", seen)]
    gone += [Delete(key_of(document), "#token = :seen", {"seen": document["token"]}) for document in documents]
    other = f"{ABSENT} OR #file <> :file"
    return gone + [Check(key, other, {"file": file_id_of(row)}) for key in others]
