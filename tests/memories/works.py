"""The work of memories over an emulated stack and an embedded index, without HTTP: adds, a queue, a worker."""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Query, Table
from shared.kernel.scope import Scope
from shared.memories.backing import Backing
from shared.memories.means import Means
from shared.memories.models import Add, Message
from shared.memories.outcome import State
from shared.memories.past import past_rows
from shared.memories.records import UserAddress, task_key
from shared.memories.sight import generation_in, is_visible
from shared.memories.tasks import NewTask
from shared.memories.texts import text_of
from shared.memories.work import Worker
from shared.retention.records import object_key, owner_of
from shared.search.embedded.index import EmbeddedIndex
from shared.search.port import Ask
from tests.emulator.cloud import emulated_cloud
from tests.memories.fakes import DIMENSION, HashEmbedder, SentenceExtractor, WordDecider
from tests.projects.world import MovedClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.aws.items import Item
    from tests.emulator.cloud import Cloud

SCOPE = Scope("acme", "default")
ANA = UserAddress(SCOPE, "ana")


def never() -> bool:
    return False


@dataclass
class Works:
    """One stack, one index, one user at a time."""

    cloud: Cloud
    folder: Path
    clock: Any = field(default_factory=MovedClock)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    extractor: Any = field(default_factory=SentenceExtractor)
    decider: Any = field(default_factory=WordDecider)

    def __post_init__(self) -> None:
        self.index = EmbeddedIndex(self.folder, self.embedder.name, DIMENSION)
        self.index.ensure()
        environment = self.cloud.environment("PlatformFunction")
        aws = self.cloud.aws
        self.queue = Queue(aws, environment["QUEUE_URL"])
        table, objects = Table(aws, self.cloud.table_name), Objects(aws, self.cloud.bucket_name)
        self.backing = Backing(table, objects, self.clock, queue=self.queue)
        self.table, self.objects = table, objects

    def means(self, **other: Any) -> Means:
        made = Means(self.backing, self.index, self.embedder, self.extractor, self.decider)
        return replace(made, **other)

    def worker(self, **other: Any) -> Worker:
        return Worker(self.means(**other), wait=lambda _: None)

    def task(self, *texts: str, address: UserAddress = ANA, generation: int | None = None, **fields: Any) -> str:
        """Accept an add of one user message a text, and return its task."""
        messages = tuple(text if isinstance(text, Message) else said(text) for text in texts)
        add = Add(address.user_id, messages, **{"language": "source", **fields})
        task_id, now = str(uuid.uuid4()), self.clock.now_ms()
        key = object_key("r30", now, address.scope)
        self.objects.put(key, json.dumps(add.to_json()).encode(), owner=owner_of(task_key(address.scope, task_id)))
        if generation is None:
            generation = generation_in(self.table.get(address.generation_key), address.user)
        from shared.aws.writes import Put  # noqa: PLC0415

        self.table.write(Put(NewTask(address, task_id, now, key, "digest", "corr", generation).row()))
        return task_id

    def deliver(self, task_id: str, **other: Any) -> Any:
        """Deliver a task's message once."""
        return self.worker(**other).deliver(task_key(SCOPE, task_id), late=never)

    def add(self, *texts: Any, **fields: Any) -> Item:
        """Add, work on it, and return the task's row."""
        task_id = self.task(*texts, **fields)
        self.deliver(task_id)
        return self.row(task_id)

    def finish_together(self, tasks: Sequence[str]) -> None:
        """Work on adds of one user with several workers at once, until each has ended."""

        def finish(task: str) -> None:
            while self.deliver(task).state is not State.DONE:
                self.clock.move(ms=10)

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(finish, tasks))

    def row(self, task_id: str) -> Item:
        found = self.table.get(task_key(SCOPE, task_id))
        assert found is not None
        return found

    def rows(self, address: UserAddress = ANA, kind: str | None = None) -> list[Item]:
        """Return the visible rows of memories, the oldest first."""
        generations = self.table.get(address.generation_key)
        found = self.table.every(Query(address.pk, "l1", begins=f"{address.user}#"))
        return [r for r in found if is_visible(r, generations) and kind in {None, r["kind"]}]

    def texts(self, kind: str | None = None, address: UserAddress = ANA) -> list[str]:
        """Return the texts of the visible memories, the oldest first."""
        return [text_of(self.objects, row) for row in self.rows(address, kind)]

    def facts(self, address: UserAddress = ANA) -> list[str]:
        return self.texts("fact", address)

    def past(self, memory_id: str, address: UserAddress = ANA) -> list[Item]:
        return list(past_rows(self.table, address.pk, memory_id))

    def all_past(self, address: UserAddress = ANA) -> list[Item]:
        return list(self.table.every(Query(address.pk, begins="h#")))

    def found(self, query: str, address: UserAddress = ANA) -> list[str]:
        """Return the texts that a search finds: what the index names and the records have."""
        ask = Ask(address.owner, query, self.embedder.of_query(query), 50, 50, -1.0)
        channels = self.index.search([ask])[0]
        states = {(f.memory_id, f.revision) for f in (*channels.dense, *channels.sparse)}
        rows = {(r["sk"].removeprefix("m#"), r["revision"]): r for r in self.rows(address)}
        return sorted(text_of(self.objects, rows[state]) for state in states & rows.keys())


def said(text: str, **fields: Any) -> Message:
    return Message("user", ({"type": "text", "text": text},), **fields)


def answered(text: str, **fields: Any) -> Message:
    return Message("assistant", ({"type": "text", "text": text},), **fields)


@contextmanager
def works(**given: Any) -> Iterator[Works]:
    folder = Path(tempfile.mkdtemp(prefix="index-"))
    try:
        with emulated_cloud() as cloud:
            made = Works(cloud, folder, **given)
            yield made
            made.index.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
