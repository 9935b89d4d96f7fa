"""Queue messages as rows of the journal, and queues that keep SQS's promises of order.

moto keeps a queue as a list without locks, gives out later messages of a group while an earlier one is in flight,
and knows a duplicate only while the first is still there. Here all that a queue does happens under one lock:

- While a message of a group is in flight, none of that group is given out.
- What was sent within five minutes under the same deduplication id, in the same group, is not sent again.
- A receive that finds nothing sleeps until something changes or a message becomes visible.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from copy import copy
from typing import TYPE_CHECKING, Any

from moto.sqs.exceptions import ReceiptHandleIsInvalid, SQSException
from moto.sqs.models import Message, Queue, SQSBackend

from infra.local.limits import refused_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
LOOK_SECONDS = 5.0
DEDUPLICATION_MS = 5 * 60 * 1000
REMEMBERED = 10_000
"""So many receipts of deleted messages are known, and so many sent ones are looked through for duplicates."""

lock = threading.RLock()
changed = threading.Condition(lock)
_delete_message = Queue.delete_message


def receive_message(backend: SQSBackend, queue_name: str, count: int, wait: int, *rest: Any) -> list[Message]:
    """Receive at most `count` messages, waiting up to `wait` seconds for the first.

    `rest` is the visibility in seconds, and the names of the attributes that are asked for.
    """
    visibility, names = rest
    end = time.monotonic() + wait
    with changed:
        while True:
            queue = backend.get_queue(queue_name)
            found = _take(queue, count, visibility)
            left = end - time.monotonic()
            if found or left <= 0:
                return [_shown(message, names) for message in found]
            changed.wait(min(left, LOOK_SECONDS, _seconds_to_next(queue)))


def add_message(queue: Queue, message: Message) -> None:
    """Add a message, unless it is one that was sent a moment ago.

    Raises:
        SQSException: SQS does not take its text or names.
    """
    if refused := refused_message(message.body, message.group_id, message.deduplication_id):
        raise SQSException("InvalidMessageContents", refused)
    with changed:
        if queue.fifo_queue and message.deduplication_id:
            sent = queue.__dict__.setdefault("sent_lately", {})
            name = message.group_id, message.deduplication_id
            if _now_ms() - sent.get(name, 0) < DEDUPLICATION_MS:
                return
            sent[name] = _now_ms()
            while len(sent) > REMEMBERED:
                sent.pop(next(iter(sent)))
        queue._messages.append(message)  # noqa: SLF001 - moto's own way in knows duplicates by another rule
        changed.notify_all()


def delete_message(queue: Queue, receipt_handle: str) -> None:
    """Delete a message, in flight or not; one that is gone is fine."""
    with changed:
        _delete_message(queue, receipt_handle)
        if len(queue.deleted_messages) > REMEMBERED:
            queue.deleted_messages.clear()
        changed.notify_all()


def change_message_visibility(
    backend: SQSBackend, queue_name: str, receipt_handle: str, visibility_timeout: int
) -> None:
    """Let a message that is in flight be so for another time; only its last receipt may say so."""
    with changed:
        queue = backend.get_queue(queue_name)
        message = next((m for m in queue._messages if m.receipt_handle == receipt_handle), None)  # noqa: SLF001
        if message is None:
            raise ReceiptHandleIsInvalid
        message.change_visibility(int(visibility_timeout))  # moto's own way in counts its twelve hours from the sending
        changed.notify_all()


def _take(queue: Queue, count: int, visibility: int) -> list[Message]:
    taken: list[Message] = []
    for message in list(_deliverable(queue)):
        if _is_worn_out(queue, message):
            _bury(queue, message)
        elif len(taken) < count:
            message.mark_received(visibility_timeout=visibility)
            taken.append(message)
    return taken


def _deliverable(queue: Queue) -> Iterator[Message]:
    """Yield what may be given out now, in order: nothing behind a message of its group that is in flight."""
    messages = queue._messages  # noqa: SLF001 - there is no other way to all of them
    oldest = _now_ms() - 1000 * queue.message_retention_period  # type: ignore[attr-defined]
    in_flight = {m.group_id for m in messages if not m.visible}
    for message in messages:
        is_held = queue.fifo_queue and message.group_id in in_flight
        if message.visible and not message.delayed and not is_held and _sent_ms(message) > oldest:
            yield message


def _sent_ms(message: Message) -> float:
    sent: Any = message.sent_timestamp
    return float(sent)


def _is_worn_out(queue: Queue, message: Message) -> bool:
    policy = queue.redrive_policy if queue.dead_letter_queue is not None else None
    return policy is not None and message.approximate_receive_count >= policy["maxReceiveCount"]


def _bury(queue: Queue, message: Message) -> None:
    queue._messages.remove(message)  # noqa: SLF001
    if queue.dead_letter_queue is not None:
        queue.dead_letter_queue._messages.append(message)  # noqa: SLF001 - it was sent long ago, and not twice


def _seconds_to_next(queue: Queue) -> float:
    """Return for how long nothing in the queue becomes visible by itself."""
    moments = [m.visible_at for m in queue._messages if not m.visible]  # noqa: SLF001
    return max(0.01, (min(moments) - _now_ms()) / 1000 + 0.001) if moments else LOOK_SECONDS


def _shown(message: Message, names: list[str]) -> Message:
    shown = copy(message)
    prefixes = tuple(name[:-1] for name in names if name.endswith(".*"))
    shown.message_attributes = {
        name: value
        for name, value in message.message_attributes.items()
        if "All" in names or name in names or (prefixes and name.startswith(prefixes))
    }
    return shown


def _now_ms() -> float:
    return time.time() * 1000


class MessageStore:
    """What the journal has of each queue."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._saved: dict[str, dict[str, tuple[Any, ...]]] = {}

    def restore(self, queue: Queue) -> None:
        """Put the messages of the last run back into `queue`; whoever had some in flight is gone with it."""
        rows = self._journal.rows("SELECT id, message FROM messages WHERE queue = ? ORDER BY rowid", queue.name)
        for _, text in rows:
            message = Message("", "")
            message.__dict__.update(json.loads(text, object_hook=_bytes_back))
            message.visible_at = 0.0
            queue._messages.append(message)  # noqa: SLF001 - what add_message would send on to others
        self._saved[queue.name] = {m.id: _stamp(m) for m in queue._messages}  # noqa: SLF001

    def flush(self, queues: Iterable[Queue]) -> None:
        """Commit what has changed in `queues`."""
        for queue in queues:
            saved = self._saved.get(queue.name, {})
            found = {message.id: _stamp(message) for message in queue._messages}  # noqa: SLF001
            if found != saved:
                self._save(queue, saved, found)

    def _save(self, queue: Queue, saved: dict[str, tuple[Any, ...]], found: dict[str, tuple[Any, ...]]) -> None:
        with self._journal.changes() as db:
            for gone in saved.keys() - found.keys():
                db.execute("DELETE FROM messages WHERE queue = ? AND id = ?", (queue.name, gone))
            for message in queue._messages:  # noqa: SLF001
                if saved.get(message.id) != found[message.id]:
                    query = (
                        "INSERT INTO messages VALUES (?, ?, ?) "
                        "ON CONFLICT (queue, id) DO UPDATE SET message = excluded.message"
                    )
                    db.execute(query, (queue.name, message.id, _record(message)))
        self._saved[queue.name] = found


def _stamp(message: Message) -> tuple[Any, ...]:
    """Return what changes of a message after it was sent."""
    return message.receipt_handle, message.visible_at


def _record(message: Message) -> str:
    return json.dumps({name: getattr(message, name) for name in KEPT}, default=_bytes_kept)


def _bytes_kept(value: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode()}


def _bytes_back(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value
