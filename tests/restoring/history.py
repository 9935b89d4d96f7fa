"""A stack over which a day passes: what was there at a moment, what was erased, changed and moved since.

The emulated AWS can't restore to a moment; so the test keeps the table's rows of that moment, and puts them into
another table, as AWS would.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from functions.platform import api as platform_api
from functions.platform import sweeper
from functions.projects import api as projects_api
from functions.stores import api as stores_api
from shared.aws.items import decode_item
from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.aws.writes import Update
from shared.kernel.ids import ulid
from shared.kernel.scope import Role
from shared.memories.reindexing import Reindexing
from shared.retention.sweeper import HOUR_MS, STATE
from shared.search.embedded.rebuilding import EmbeddedRebuild
from shared.tenancy.models import KeyWish
from shared.tenancy.opening import open_new
from shared.wiring.restoring import Plan, Restorer
from tests.clients.events import CONTEXT, Client
from tests.memories.files.cabinet import Filer, read
from tests.memories.shelf import Shelf, shelf_world
from tests.projects.world import artifact_path, turn_path
from tests.stores.world import StoreClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Answer

LONG = "A long summary of what was done. " * 1_200
LONGER = "Another long summary. " * 2_000
SECRET = "the secret word is aubergine"


@dataclass
class History:
    """One stack, the clients of its surfaces, and the rows of its table at the moment."""

    shelf: Shelf
    moment: int = 0
    snapshot: list[dict[str, Any]] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    keys: dict[str, str] = field(default_factory=dict)

    def issue(self, name: str) -> None:
        """Make a key of this name."""
        wish = KeyWish(name=name, role=Role.TENANT_ADMIN, tenant="acme")
        issued = self.shelf.composed.callers.keys.issue(wish)
        self.keys[name], self.ids[f"{name} key"] = issued.secret, issued.record.id

    @property
    def table_name(self) -> str:
        return str(self.shelf.environ["TABLE_NAME"])

    @property
    def table(self) -> Table:
        return Table(self.shelf.cloud.aws, self.table_name)

    @property
    def objects(self) -> Objects:
        return Objects(self.shelf.cloud.aws, self.shelf.cloud.bucket_name)

    def client(self, surface: str, key: str = "admin") -> Any:
        """Return a client of a new instance of a surface's function."""
        cloud, clock, secret = self.shelf.cloud, self.shelf.clock, self.keys[key]
        changed = self.shelf.settings
        if surface == "projects":
            environ = {**cloud.environment("ProjectsFunction"), **changed}
            return Client(projects_api.build(environ, cloud.aws, clock), secret)
        if surface == "stores":
            environ = {**cloud.environment("StoresFunction"), **changed}
            return StoreClient(stores_api.build(environ, cloud.aws, clock), secret)
        if surface == "platform":
            environ = {**cloud.environment("PlatformFunction"), **changed}
            return Client(platform_api.build(environ, cloud.aws, clock), secret)
        return Filer(self.shelf.handler(), secret)

    def take_snapshot(self) -> None:
        """Keep the rows of now."""
        self.shelf.clock.move(ms=60_000)
        self.snapshot = list(self.shelf.cloud.items())
        self.moment = self.shelf.clock.now_ms()
        self.shelf.clock.move(ms=60_000)

    def restored(self, name: str) -> str:
        """Put the kept rows into a new table, as point-in-time recovery does, and return its name."""
        client = self.shelf.cloud.aws.dynamodb
        described: Any = client.describe_table(TableName=self.shelf.cloud.table_name)["Table"]
        made: dict[str, Any] = {n: described[n] for n in ("AttributeDefinitions", "KeySchema")}
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            made[kind] = [{n: i[n] for n in ("IndexName", "KeySchema", "Projection")} for i in described[kind]]
        client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **made)
        for item in self.snapshot:
            client.put_item(TableName=name, Item=item)
        return name

    def restorer(self, name: str, **plan: Any) -> Restorer:
        """Return what restores; the pauses of a test take no time."""
        cloud = self.shelf.cloud
        wanted = Plan(name, self.moment, **{"old": cloud.table_name, **plan})
        return Restorer(cloud.aws, self.objects, Queue(cloud.aws, ""), self.shelf.clock, wanted, lambda _: None)

    def reindex(self, name: str) -> None:
        """Make the search index of a table anew."""
        shelf = self.shelf
        rebuild = EmbeddedRebuild(shelf.folder, shelf.embedder.name, shelf.embedder.dimension)
        Reindexing(Table(shelf.cloud.aws, name), self.objects, shelf.embedder, rebuild=rebuild).run(lambda _: None)

    def switch_to(self, name: str) -> History:
        """Return the same stack, deployed with another table."""
        self.shelf.index.index.close()
        shelf = Shelf(
            self.shelf.cloud,
            self.shelf.folder,
            clock=self.shelf.clock,
            settings={**self.shelf.settings, "TABLE_NAME": name},
            embedder=self.shelf.embedder,
        )
        return History(shelf, self.moment, self.snapshot, self.ids, self.keys)

    def rows(self, name: str) -> dict[tuple[str, str], dict[str, Any]]:
        """Return every row of a table by its key."""
        found = [decode_item(i.to_json()["Attributes"]) for i in self.shelf.cloud.emulator.table(name).all_items()]
        return {(row["pk"], row["sk"]): row for row in found}


@contextmanager
def history() -> Iterator[History]:
    """Give a stack whose sweeper has run."""
    with shelf_world() as shelf:
        made = History(shelf)
        open_new(made.table)
        for name in ("admin", "stolen"):
            made.issue(name)
        yield made


@contextmanager
def a_day() -> Iterator[History]:
    """Give a stack over which a day has passed, with the rows of its middle kept."""
    with history() as made:
        the_day_before(made)
        made.take_snapshot()
        the_day_after(made)
        yield made


def put_turn(client: Client, task: str, turn: int = 1, summary: str = "short", **body: Any) -> Answer:
    answer = client.put(turn_path(task, turn), json_body={"summary_md": summary, **body})
    assert answer.status == 200, answer.content
    return answer


def put_artifact(client: Client, task: str, name: str, content: bytes) -> None:
    answer = client.put(artifact_path(task, 1, name), body=content)
    assert answer.status == 200, answer.content


def the_day_before(at: History) -> None:
    """Fill all surfaces."""
    projects, stores, memories = (at.client(name) for name in ("projects", "stores", "memories"))
    for task in ("kept", "deleted", "reborn", "overwritten", "moved"):
        put_turn(projects, task, 1, LONG)
        put_turn(projects, task, 2, SECRET if task in {"deleted", "reborn"} else "short")
        put_artifact(projects, task, "log.txt", f"log of {task}".encode())
    put_turn(projects, "only-long", 1, LONG)
    at.ids["store"], at.ids["deleted store"] = stores.store("kept"), stores.store("deleted")
    for path in ("/a/b/kept.md", "/a/b/redacted.md", "/a/c/redacted.md", "/top.md"):
        at.ids[path] = stores.memory(at.ids["store"], path, f"{SECRET if 'redacted' in path else 'text'} {path}")["id"]
    stores.memory(at.ids["deleted store"], "/x", SECRET)
    at.ids["kept memory"] = at.shelf.put("ann keeps bees", kind="fact")
    at.ids["deleted memory"] = at.shelf.put(f"{SECRET} of ann", kind="fact")
    at.ids["long memory"] = at.shelf.put(f"{SECRET} " + "long text " * 4_000)
    at.ids["changed memory"] = at.shelf.put("ann lives in Rome", kind="fact")
    at.shelf.supersede(at.ids["changed memory"], "ann lives in Oslo")
    talk = at.shelf.put_many(["first things", f"then {SECRET}", "last things"])
    words = [("", f"then {SECRET}"[:20]), ("first things", "last things"), (f"then {SECRET}", "")]
    for memory_id, (previous, following) in zip(talk, words, strict=True):
        row = at.shelf.memory_row(memory_id) | {"previous": previous, "following": following}
        at.shelf.store(row, row["text"])
    at.ids["first"], at.ids["beside"], at.ids["last"] = talk
    at.ids["of bob"] = at.shelf.put(f"{SECRET} of bob", address=at.shelf.address("bob"))
    at.ids["of cyd"] = at.shelf.put("cyd likes tea", address=at.shelf.address("cyd"))
    at.ids["file"] = memories.uploaded(at.shelf, f"{SECRET} in a file".encode(), filename="secret.txt")
    read(at.shelf, at.ids["file"], f"{SECRET} in a chunk", "and more of it")
    at.ids["kept file"] = memories.uploaded(at.shelf, b"nothing special", filename="plain.txt")
    read(at.shelf, at.ids["kept file"], "plain words in a chunk")
    for row in [row for row in at.rows(at.table_name).values() if "token" in row and row["sk"].startswith("m#")]:
        place = {"index": 0, "heading": None, "page": None, "sheet": None, "filename": "plain.txt"}
        at.table.write(Update((row["pk"], row["sk"]), {"place": place}))
    at.ids["task of ann"] = _added(memories, "ann", "k-ann")
    at.ids["task of cyd"] = _added(memories, "cyd", "k-cyd")
    at.ids["ended task of dan"] = _added(memories, "dan", "k-dan")


def _added(client: Any, user: str, key: str) -> str:
    body = {
        "user_id": user,
        "messages": [{"role": "user", "content": f"{SECRET}, says {user}.", "timestamp": -1}],
        "metadata": {"idempotency_key": key},
    }
    answer = client.post("/v1/memories/add", json_body=body)
    assert answer.status == 202, answer.content
    task_id: str = answer.json["data"]["task_id"]
    return task_id


def the_day_after(at: History) -> None:
    """Erase, change and add on all surfaces, and let what was under way end."""
    projects, stores, memories = (at.client(name) for name in ("projects", "stores", "memories"))
    for task in ("deleted", "reborn"):
        assert projects.delete(f"/sandbox/memory/v1/tasks/{task}").status == 204
    put_turn(projects, "reborn", 1, "a new life, not in the copy")
    put_turn(projects, "overwritten", 1, LONGER)
    put_artifact(projects, "overwritten", "log.txt", b"another log")
    put_turn(projects, "only-long", 1, "no longer long")
    put_turn(projects, "new", 1, "not in the copy")
    move_objects(at, "moved")
    for path in ("/a/b/redacted.md", "/a/c/redacted.md"):
        version = stores.retrieve(at.ids["store"], at.ids[path]).json["memory_version_id"]
        at.ids[f"version of {path}"] = version
        assert stores.update(at.ids["store"], at.ids[path], content="harmless").status == 200
        redacted = stores.post(f"/v1/memory_stores/{at.ids['store']}/memory_versions/{version}/redact")
        assert redacted.status == 200, redacted.content
    assert stores.delete(f"/v1/memory_stores/{at.ids['deleted store']}").status == 200
    at.shelf.put("not in the copy", kind="fact")
    for name in ("deleted memory", "long memory", "beside"):
        assert memories.forget(at.ids[name]).status == 200
    at.ids["erasure of bob"] = memories.forget_all("bob")
    at.ids["erasure of the file"] = memories.unfile(at.ids["file"])
    revoked = at.client("platform").delete(f"/v1/api_keys/{at.ids['stolen key']}")
    assert revoked.status in {200, 204}, revoked.content
    at.shelf.work()
    sweep(at)
    at.shelf.work()


def move_objects(at: History, task: str) -> None:
    """Let the sweeper renew the objects of a task, and remove the old ones."""
    for row in at.rows(at.table_name).values():
        if row["pk"] == f"T#acme#default#{task}" and "object" in row:
            fresh = f"{row['object'].rpartition('/')[0]}/{ulid()}"
            at.objects.copy(row["object"], fresh, owner=f"{row['pk']}|{row['sk']}")
            at.objects.delete(row["object"])


def sweep(at: History) -> dict[str, Any]:
    """Let the sweeper do what is due by the end of the hour."""
    now = at.shelf.clock.now_ms()
    at.table.write(Update(STATE, put={"passed": now - now % HOUR_MS}))
    told: dict[str, Any] = {"swept": 1}
    while told["swept"]:
        environ = {**at.shelf.cloud.environment("SweeperFunction"), **at.shelf.settings}
        told = _sweeper(environ, at)
        assert told["errors"] == 0, told
    return told


def _sweeper(environ: dict[str, str], at: History) -> dict[str, Any]:
    told: dict[str, Any] = sweeper.build(environ, at.shelf.cloud.aws, at.shelf.clock)({"job": "sweep"}, CONTEXT)
    return told
