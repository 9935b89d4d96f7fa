"""What memories stand on: the stores, and the queues of what is done after the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.retention import backing

if TYPE_CHECKING:
    from shared.aws.queue import Queue


@dataclass(frozen=True, kw_only=True)
class Backing(backing.Backing):
    """The stores and the queues; `documents_queue` is that of files to be read, where there is one."""

    queue: Queue
    documents_queue: Queue | None = None
