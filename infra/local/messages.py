"""Queue messages as rows of the journal, and receives that never give a message twice.

moto keeps a queue as a list without locks. Receives look under a lock and wait outside of it.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from typing import TYPE_CHECKING, Any

from moto.sqs.models import Message, Queue, SQSBackend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.local.journal import Journal

KEPT = (
    "id",
    "body",
    "message_attributes",
    "receipt_handle",
    "_old_receipt_handles",
    "sender_id",
    "sent_timestamp",
    "approximate_first_receive_timestamp",
    "approximate_receive_count",
    "deduplication_id",
    "group_id",
    "sequence_number",
    "visible_at",
    "delayed_until",
    "system_attributes",
)
LOOK_SECONDS = 1.0

lock = threading.RLock()
_receive_message = SQSBackend.receive_message


def receive_message(backend: SQSBackend, queue_name: str, count: int, wait: int, *rest: Any) -> list[Message]:
    """Receive at most `count` messages, waiting up to `wait` seconds for the first."""
    end = time.monotonic() + wait
    while True:
        with lock:
            found = _receive_message(backend, queue_name, count, 0, *rest)
        left = end - time.monotonic()
        if found or left <= 0:
            return found
        backend.get_queue(queue_name).wait_for_messages(min(left, LOOK_SECONDS))  # type: ignore[arg-type]


class MessageStore:
    """What the journal has of each queue."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._saved: dict[str, dict[str, str]] = {}

    def restore(self, queue: Queue) -> None:
        """Put the messages of the last run back into `queue`, those in flight too."""
        rows = self._journal.rows("SELECT id, message FROM messages WHERE queue = ? ORDER BY rowid", queue.name)
        self._saved[queue.name] = dict(rows)
        for text in self._saved[queue.name].values():
            message = Message("", "")
            message.__dict__.update(json.loads(text, object_hook=_bytes_back))
            queue._messages.append(message)  # noqa: SLF001 - what add_message would send on to others
            if not message.visible:
                queue.pending_messages.add(message)

    def flush(self, queues: Iterable[Queue]) -> None:
        """Commit what has changed in `queues`."""
        for queue in queues:
            saved = self._saved.get(queue.name, {})
            found = {message.id: _record(message) for message in queue._messages}  # noqa: SLF001
            if found != saved:
                self._save(queue.name, saved, found)

    def _save(self, name: str, saved: dict[str, str], found: dict[str, str]) -> None:
        with self._journal.changes() as db:
            for gone in saved.keys() - found.keys():
                db.execute("DELETE FROM messages WHERE queue = ? AND id = ?", (name, gone))
            for key, text in found.items():
                if saved.get(key) != text:
                    query = (
                        "INSERT INTO messages VALUES (?, ?, ?) "
                        "ON CONFLICT (queue, id) DO UPDATE SET message = excluded.message"
                    )
                    db.execute(query, (name, key, text))
        self._saved[name] = found


def _record(message: Message) -> str:
    return json.dumps({name: getattr(message, name) for name in KEPT}, default=_bytes_kept)


def _bytes_kept(value: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode()}


def _bytes_back(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value
