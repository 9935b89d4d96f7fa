"""The reading side of memories over an emulated stack: memories put in place by hand, searched over HTTP events."""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from functions.memories import api
from functions.platform import sweeper
from shared.aws.items import key_of
from shared.aws.writes import Put, Update
from shared.extraction.fingerprint import fingerprint
from shared.http.dialects import report
from shared.http.surface import Surface
from shared.http.telemetry import Telemetry
from shared.kernel.errors import Unavailable
from shared.kernel.scope import Role, Scope
from shared.memories.delivery import Deliveries
from shared.memories.indexing import passages_of
from shared.memories.letters import Message
from shared.memories.means import Means
from shared.memories.models import MODES_OF_KIND
from shared.memories.outcome import State
from shared.memories.past import past_state
from shared.memories.records import INLINE_BYTES, UserAddress
from shared.memories.rows import Origin, memory_row, next_revision
from shared.retention.records import KEEP, object_key, owner_of
from shared.retention.sweeper import HOUR_MS, STATE
from shared.search.embedded.index import EmbeddedIndex
from shared.tenancy.models import KeyWish
from shared.wiring.memories import SURFACE, Memories
from tests.clients.events import CONTEXT, Client
from tests.emulator.cloud import emulated_cloud
from tests.memories.fakes import SentenceExtractor, WordDecider
from tests.memories.hashing import HashEmbedder
from tests.projects.world import START_MS, MovedClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from infra.local.transactions import Conflicts
    from shared.aws.items import Item
    from tests.clients.events import Answer
    from tests.emulator.cloud import Cloud

ROOT = "/v1/memories"
USER = "ann"


class WatchedIndex:
    """An index that counts what it is asked; `broken` names what fails, `afterwards` is done after the next search."""

    def __init__(self, index: EmbeddedIndex) -> None:
        self.index = index
        self.broken: set[str] = set()
        self.calls: list[str] = []
        self.afterwards: list[Callable[[], Any]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            if name in self.broken or "all" in self.broken:
                raise Unavailable
            answer = getattr(self.index, name)(*arguments)
            while name == "search" and self.afterwards:
                self.afterwards.pop()()
            return answer

        return call


class Composed(Memories):
    """The composition with an embedder and an index of the test's."""

    def __init__(self, world: Shelf) -> None:
        super().__init__(world.environ, world.cloud.aws, world.clock)
        self._world = world

    @property
    def embedder(self) -> Any:
        return self._world.embedder

    @property
    def index(self) -> Any:
        return self._world.index

    @property
    def means(self) -> Means:
        return Means(self.backing, self.index, self.embedder, SentenceExtractor(), WordDecider())


@dataclass
class Shelf:
    """One stack with its memories."""

    cloud: Cloud
    folder: Path
    clock: Any = field(default_factory=MovedClock)
    settings: dict[str, str] = field(default_factory=dict)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)

    @cached_property
    def index(self) -> WatchedIndex:
        index = EmbeddedIndex(self.folder, self.embedder.name, self.embedder.dimension)
        index.ensure()
        return WatchedIndex(index)

    @property
    def environ(self) -> dict[str, str]:
        local = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(self.folder)}
        return {**self.cloud.environment("MemoriesFunction"), **local, **self.settings}

    @cached_property
    def composed(self) -> Composed:
        return Composed(self)

    def handler(self) -> Surface:
        """Return a new instance of the function."""
        telemetry = Telemetry(SURFACE, "Test")
        admit = api._admission(self.composed)
        routers = api.routers(self.composed)
        return Surface(routers, dialect=report, admit=admit, telemetry=telemetry, new_id=lambda: str(uuid.uuid4()))

    def key(self, *, tenant: str = "acme", project: str | None = None, role: Role = Role.MEMBER, **wish: Any) -> str:
        keys = self.composed.callers.keys
        return keys.issue(KeyWish(name="test", role=role, tenant=tenant, project=project, **wish)).secret

    def client(self, **key: Any) -> Reader:
        """Return a client with a new key and an instance of its own."""
        return Reader(self.handler(), self.key(**key))

    def address(self, user: str = USER, tenant: str = "acme", project: str = "default") -> UserAddress:
        return UserAddress(Scope(tenant, project), user)

    def put(self, text: str, *, address: UserAddress | None = None, indexed: bool = True, **fields: Any) -> str:
        """Put a memory in place as a worker does, and return its id; see `row`."""
        row = self.row(text, address=address, **fields)
        self.store(row, text, indexed=indexed)
        return str(row["sk"]).removeprefix("m#")

    def put_many(self, texts: Sequence[str], **fields: Any) -> list[str]:
        """Put verbatim memories of one task in place, and return their ids."""
        task = str(uuid.uuid4())
        rows = [(self.row(text, task=task, number=n, **fields), text) for n, text in enumerate(texts)]
        for row, text in rows:
            self.store(row, text, indexed=False)
        self.index.index.put(passages_of(rows, self.embedder))
        return [str(row["sk"]).removeprefix("m#") for row, _ in rows]

    def row(
        self, text: str, *, address: UserAddress | None = None, kind: str = "raw", number: int = 0, **fields: Any
    ) -> Item:
        """Return the row of a memory: `task`, `number` and `positions` say where it came from."""
        address = address or self.address()
        task = fields.pop("task", None) or str(uuid.uuid4())
        names = ("agent_id", "app_id", "session_id", "document_id", "metadata")
        origin = Origin(
            task,
            tuple(fields.pop("positions", (number,))),
            fields.pop("content_type", "dialogue"),
            fields.pop("source", "dialogue"),
            fields.pop("key_id", "apikey_01JD0000000000000000000000"),
            **{name: fields.pop(name) for name in names if name in fields},
        )
        at = fields.pop("at", None) or self.clock.now_ms()
        generations = self.table.get(address.generation_key) or {}
        state = {
            "modes": list(MODES_OF_KIND[kind]),  # type: ignore[index]
            "revision": 1,
            "generation": generations.get(address.generation_name, 0),
            "created_at": at,
            "updated_at": at,
            "event_at": None,
            "memory_type": "semantic",
            "categories": [],
            "immutable": False,
            "speaker": "",
            "previous": "",
            "following": "",
            "fingerprint": fingerprint(text) if kind == "fact" else None,
            "event": "ADD",
            "reason": "Written as it came.",
            "decided_at": at,
            "task": task,
            **self._kept(text, address.scope),
            **fields,
        }
        return memory_row(address, address.memory_id(task, kind, number), kind, origin=origin, **state)  # type: ignore[arg-type]

    def store(self, row: Item, text: str, *, indexed: bool = True) -> None:
        """Write a row with its object, its fingerprint and its passages."""
        if "object" in row:
            self.objects.put(row["object"], text.encode(), owner=owner_of(key_of(row)))
        self.table.write(Put(row))
        if row["fingerprint"]:
            _, sk = UserAddress(self.address().scope, row["user_id"]).fingerprint_key(row["fingerprint"])
            told = {"user": row["user"], "generation": row["generation"], "memory": row["sk"].removeprefix("m#")}
            self.table.write(Put({"pk": row["pk"], "sk": sk, **told}))
        if indexed:
            self.index.index.put(passages_of([(row, text)], self.embedder))

    def supersede(self, memory_id: str, text: str, address: UserAddress | None = None, **fields: Any) -> Item:
        """Let a memory say something else, as a decided UPDATE does, with the old entries still in the index."""
        old = self.memory_row(memory_id, address)
        self.table.write(Put(past_state(self.composed.backing, old)))
        at = self.clock.now_ms()
        kept = {name: value for name, value in old.items() if name not in ("text", "object", "size")}
        said = {"event": "UPDATE", "reason": "It says something newer.", "decided_at": at, "updated_at": at}
        row = {**kept, **self._kept(text, self.address().scope), **said, "revision": next_revision(old), **fields}
        self.store(row, text)
        self.objects.discard(*([old["object"]] if "object" in old else []))
        return row

    def memory_row(self, memory_id: str, address: UserAddress | None = None) -> Item:
        row = self.table.get(((address or self.address()).pk, f"m#{memory_id}"))
        assert row is not None
        return row

    @property
    def table(self) -> Any:
        return self.composed.backing.table

    @property
    def objects(self) -> Any:
        return self.composed.backing.objects

    def rows(self, prefix: str = "") -> list[tuple[str, str]]:
        """Return the keys of the rows of all users' memories whose sort key begins so."""
        keys = [(item["pk"]["S"], item["sk"]["S"]) for item in self.cloud.items()]
        return [key for key in keys if key[0].startswith("L#") and key[1].startswith(prefix)]

    def indexed(self, text: str, address: UserAddress | None = None) -> bool:
        """Tell whether the index would still find a text."""
        from shared.search.port import Ask  # noqa: PLC0415

        owner = (address or self.address()).owner
        found = self.index.index.search([Ask(owner, text, self.embedder.of_query(text), 5, 5, 0.99)])[0]
        return bool(found.dense)

    def work(self) -> int:
        """Do the work of all messages in the queue, as the worker does, and return how many there were."""
        deliveries = Deliveries(self.composed.means, self.composed.dead_letters)
        sqs, url, done = self.cloud.aws.sqs, self.environ["QUEUE_URL"], 0
        while got := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for message in got:
                outcome = deliveries.take(Message(message["Body"]), late=lambda: False, watch=lambda _: None)
                assert outcome.state is State.DONE, outcome
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                done += 1
        return done

    def sweep(self, job: str = "sweep") -> dict[str, Any]:
        """Run a job of the sweeper, and return what its log line says."""
        environ = self.cloud.environment("SweeperFunction")
        told: dict[str, Any] = sweeper.build(environ, self.cloud.aws, self.clock)({"job": job}, CONTEXT)
        return told

    def messages(self) -> list[dict[str, Any]]:
        """Return the bodies of the messages in the queue, and leave them there."""
        sqs, url = self.cloud.aws.sqs, self.environ["QUEUE_URL"]
        got = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0).get("Messages", [])
        return [json.loads(message["Body"]) for message in got]

    def _kept(self, text: str, scope: Scope) -> Item:
        size = len(text.encode())
        if size <= INLINE_BYTES:
            return {"text": text, "size": size}
        return {"object": object_key(KEEP, self.clock.now_ms(), scope), "size": size}


@dataclass
class Reader(Client):
    """A client that knows the surface's paths."""

    def search(self, query: str, user: str = USER, **body: Any) -> Answer:
        return self.post(f"{ROOT}/search", json_body={"user_id": user, "query": query, **body})

    def hits(self, query: str, user: str = USER, **body: Any) -> list[dict[str, Any]]:
        """Return the hits of a search that succeeds."""
        answer = self.search(query, user, **body)
        assert answer.status == 200, answer.content
        found: list[dict[str, Any]] = answer.json["data"]["data"]
        return found

    def texts(self, query: str, user: str = USER, **body: Any) -> list[str]:
        return [hit["memory"] for hit in self.hits(query, user, **body)]

    def memory(self, memory_id: str, **how: Any) -> Answer:
        return self.get(f"{ROOT}/{memory_id}", **how)

    def change(self, memory_id: str, headers: dict[str, str] | None = None, **body: Any) -> Answer:
        return self.patch(f"{ROOT}/{memory_id}", json_body=body, headers=headers)

    def forget(self, memory_id: str, query: str = "") -> Answer:
        return self.delete(f"{ROOT}/{memory_id}", query=query)

    def forget_all(self, user: str = USER) -> str:
        """Forget all of a user, and return the erasure's id."""
        answer = self.delete(ROOT, query={"user_id": user})
        assert answer.status == 202, answer.content
        assert answer.json["data"]["status"] == "accepted"
        task_id: str = answer.json["data"]["task_id"]
        return task_id

    def receipt(self, task_id: str) -> dict[str, Any]:
        answer = self.get(f"{ROOT}/erasures/{task_id}")
        assert answer.status == 200, answer.content
        told: dict[str, Any] = answer.json["data"]
        return told

    def history(self, memory_id: str, **query: Any) -> Answer:
        return self.get(f"{ROOT}/{memory_id}/history", query=query)

    def listed(self, user: str = USER, **query: Any) -> list[dict[str, Any]]:
        """Return the memories of every page of a list."""
        if "filters" in query:
            query["filters"] = json.dumps(query["filters"])
        found: list[dict[str, Any]] = []
        while True:
            answer = self.get(ROOT, query={"user_id": user, **query})
            assert answer.status == 200, answer.content
            page = answer.json["data"]
            found += page["data"]
            assert page["data"] or not page["next_cursor"], "an empty page with a cursor"
            if not page["next_cursor"]:
                return found
            query["cursor"] = page["next_cursor"]


@contextmanager
def shelf_world(*, conflicts: Conflicts | None = None, **world: Any) -> Iterator[Shelf]:
    folder = Path(tempfile.mkdtemp(prefix="index-"))
    with emulated_cloud(conflicts=conflicts) as cloud:
        made = Shelf(cloud, folder, **world)
        # As if the sweeper had run an hour ago: it has no days to look through.
        made.table.write(Update(STATE, put={"passed": START_MS - START_MS % HOUR_MS}))
        try:
            yield made
        finally:
            made.index.index.close()
            shutil.rmtree(folder)


def ids_of(found: Sequence[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in found]
