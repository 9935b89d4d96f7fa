"""What a task's next messages are: for each of its files that are still to be read or indexed, else for the add itself.

A message may come again, and to a job that has got further: whoever takes it looks at the job first.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from shared.aws.parallel import together
from shared.kernel.errors import Unavailable
from shared.kernel.scope import Scope
from shared.memories.records import file_job_key
from shared.memories.tasks import message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shared.aws.items import Item
    from shared.aws.queue import Queue
    from shared.aws.table import Table
    from shared.memories.backing import Backing

UNREAD: Final = frozenset({"queued", "parsing"})
"""The states of a file job that has to be read; a file's has to be indexed when it was."""

UNINDEXED: Final = frozenset({"parsed", "indexing"})


def jobs_of(table: Table, task: Item) -> list[Item]:
    """Return a task's file jobs, in order: one read, and none for a task that has no files and images."""
    scope = Scope(task["tenant"], task["project"])
    keys = [file_job_key(scope, task["task"], n) for n in range(task.get("files", 0))]
    found = table.batch_get(keys) if keys else {}
    return [found[key] for key in keys if key in found]


def read_message(task: Item, n: int) -> dict[str, Any]:
    """Return the message that has a file, or an image without a caption, read."""
    return {**message_of(task), "work": "read", "n": n}


def chunks_message(task: Item, n: int) -> dict[str, Any]:
    """Return the message that has a file's chunks indexed."""
    return {**message_of(task), "work": "chunks", "n": n}


def send_next(backing: Backing, task: Item, jobs: Sequence[Item], *, again: str = "") -> None:
    """Send what is next of a task, all at once; `again` tells these messages from those sent before.

    Raises:
        Unavailable: some of them may not have been sent.
    """
    together(*sends_of(backing, task, jobs, again=again))


def sends_of(backing: Backing, task: Item, jobs: Sequence[Item], *, again: str = "") -> list[Callable[[], None]]:
    """Return the sendings that `send_next` makes."""
    if not task.get("waiting"):
        once = f"{task['task']}{again}"
        return [partial(backing.queue.send, message_of(task), group=task["group"], once=once)]
    return list(_of_jobs(backing, task, jobs, again=again))


def _of_jobs(backing: Backing, task: Item, jobs: Sequence[Item], *, again: str) -> Iterator[Callable[[], None]]:
    for job in jobs:
        n = job["n"]
        group = f"{task['task']}#{n}"
        if job["status"] in UNREAD:
            body, once = read_message(task, n), f"{group}:read{again}"
            yield partial(_documents_queue(backing).send, body, group=group, once=once)
        elif job["status"] in UNINDEXED and job["of"] == "file":
            body, once = chunks_message(task, n), f"{group}:chunks{again}"
            yield partial(backing.queue.send, body, group=group, once=once)


def _documents_queue(backing: Backing) -> Queue:
    if backing.documents_queue is None:
        raise Unavailable("Nothing reads documents in this deployment now.", retry_after=60)
    return backing.documents_queue
