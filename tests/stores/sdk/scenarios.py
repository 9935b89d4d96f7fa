"""What users do with the `anthropic` package, sync and async, old and new. Runs under the package's own Python.

    python scenarios.py BASE_URL KEYS_JSON

prints one JSON line a scenario: its name, and null or what went wrong. Each is written once, for both clients.
"""

# ruff: noqa: ANN001, ANN003, ANN201, ANN202, ANN204, BLE001, DTZ003, PLC0415, PLW0108, PT017, PT018
# It runs without pytest, under a Python that knows none of our types, and naive times are one of its cases.

import asyncio
import hashlib
import inspect
import json
import sys
import tempfile
import traceback
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import anthropic

BASE_URL, KEYS = sys.argv[1], json.loads(sys.argv[2])
NEWEST = int(anthropic.__version__.split(".")[0]) >= 2
UNKNOWN = "memstore_01M3250V06YW639FSPCZQ3TJW5"
CONTENTS = ["", "\r\n", "e\u0301", "\ufeffBOM", "a\u2028b", "nul \x00", "😀", "x" * 102_400]


class Caller:
    """A client, sync or async; `sent` counts its requests."""

    def __init__(self, kind, key=KEYS["admin"], base_url=BASE_URL, **options):
        self.sent = []
        if kind == "sync":
            http = anthropic.DefaultHttpxClient(event_hooks={"request": [self.sent.append]})
            self.client = anthropic.Anthropic(api_key=key, base_url=base_url, http_client=http, **options)
        else:

            async def note(request):
                self.sent.append(request)

            http = anthropic.DefaultAsyncHttpxClient(event_hooks={"request": [note]})
            self.client = anthropic.AsyncAnthropic(api_key=key, base_url=base_url, http_client=http, **options)
        self.kind = kind
        self.stores = self.client.beta.memory_stores
        self.memories = self.stores.memories
        self.versions = self.stores.memory_versions

    async def store(self, name="notes"):
        return (await done(self.stores.create(name=name))).id

    async def create(self, store, path, content="text", **more):
        return await done(self.memories.create(store, path=path, content=content, **more))


async def done(answer):
    return await answer if inspect.isawaitable(answer) else answer


async def every(pages):
    """Follow a list to its end with the package's own iteration."""
    if hasattr(pages, "__aiter__"):
        return [item async for item in pages]
    return list(pages)


async def refused(error, call):
    """Return the error that a call must end with."""
    try:
        await done(call())
    except error as caught:
        return caught
    raise AssertionError(f"no {error.__name__}")


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def is_at(digest):
    return {"type": "content_sha256", "content_sha256": digest}


async def every_method(c):
    store = await done(c.stores.create(name="Notes", description="Of the team", metadata={"a": "1"}))
    assert store.id.startswith("memstore_") and store.type == "memory_store" and store.archived_at is None
    assert (store.description, store.metadata) == ("Of the team", {"a": "1"})
    assert isinstance(store.created_at, datetime)
    assert (await done(c.stores.retrieve(store.id))) == store
    changed = await done(c.stores.update(store.id, name="Other", metadata={"a": None, "b": "2"}))
    assert (changed.name, changed.metadata, changed.description) == ("Other", {"b": "2"}, "Of the team")
    assert store.id in [s.id for s in await every(c.stores.list())]

    memory = await c.create(store.id, "/a/b.md", "one")
    assert (memory.path, memory.content, memory.content_size_bytes) == ("/a/b.md", None, 3)
    assert memory.content_sha256 == sha("one")
    read = await done(c.memories.retrieve(memory.id, memory_store_id=store.id))
    assert read.content == "one"
    updated = await done(
        c.memories.update(memory.id, memory_store_id=store.id, content="two", path="/c.md", view="full")
    )
    assert (updated.id, updated.path, updated.content) == (memory.id, "/c.md", "two")
    assert [m.id for m in await every(c.memories.list(store.id))] == [memory.id]

    versions = await every(c.versions.list(store.id, memory_id=memory.id))
    assert [v.operation for v in versions] == ["modified", "created"]
    assert versions[0].id == updated.memory_version_id
    assert versions[0].created_by.type == "api_actor" and versions[0].created_by.api_key_id.startswith("apikey_")
    first = await done(c.versions.retrieve(versions[1].id, memory_store_id=store.id))
    assert first.content == "one"
    gone = await done(c.versions.redact(versions[1].id, memory_store_id=store.id))
    assert gone.redacted_at is not None and gone.path is None and gone.content is None
    assert gone.redacted_by.type == "api_actor"

    deleted = await done(c.memories.delete(memory.id, memory_store_id=store.id, expected_content_sha256=sha("two")))
    assert (deleted.id, deleted.type) == (memory.id, "memory_deleted")
    archived = await done(c.stores.archive(store.id))
    assert archived.archived_at is not None
    removed = await done(c.stores.delete(store.id))
    assert (removed.id, removed.type) == (store.id, "memory_store_deleted")


async def pagination(c):
    store = await c.store()
    for number in range(23):
        await c.create(store, f"/d{number % 3}/{number:02d}")
    listed = await every(c.memories.list(store, limit=5))
    assert [m.path for m in listed] == sorted(m.path for m in listed) and len(listed) == 23
    page = await done(c.memories.list(store, limit=10))
    assert len(page.data) == 10 and page.next_page.startswith("page_") and page.has_next_page()
    following = await done(page.get_next_page())
    assert [m.path for m in following.data] == [m.path for m in listed[10:20]]
    rolled = await every(c.memories.list(store, depth=1, limit=2))
    assert [(e.type, e.path) for e in rolled] == [("memory_prefix", f"/d{n}/") for n in range(3)]
    below = await every(c.memories.list(store, path_prefix="/d1/", depth=1, view="full", limit=3))
    assert [e.content for e in below] == ["text"] * 8
    assert len(await every(c.versions.list(store, limit=7))) == 23
    for number in range(3):
        await c.store(f"extra {number}")
    names = [s.name for s in await every(c.stores.list(limit=2))]
    assert names[:3] == ["extra 2", "extra 1", "extra 0"]


async def times(c):
    before = datetime.now(UTC) - timedelta(seconds=1)
    store = await c.store("timed")
    assert store in [s.id for s in await every(c.stores.list(created_at_gte=before))]
    assert store not in [s.id for s in await every(c.stores.list(created_at_lte=before))]
    naive = datetime.utcnow() - timedelta(seconds=1)
    assert store not in [s.id for s in await every(c.stores.list(created_at_lte=naive))]
    memory = await c.create(store, "/a")
    assert [v.memory_id for v in await every(c.versions.list(store, created_at_gte=before))] == [memory.id]
    await done(c.stores.archive(store))
    assert store not in [s.id for s in await every(c.stores.list(created_at_gte=before))]
    archived = await every(c.stores.list(created_at_gte=before, include_archived=True))
    assert store in [s.id for s in archived]


async def contents(c):
    store = await c.store()
    for number, text in enumerate(CONTENTS):
        memory = await c.create(store, f"/{number} +%25?#é", text, view="full")
        assert memory.content == text and memory.content_sha256 == sha(text)
        assert (await done(c.memories.retrieve(memory.id, memory_store_id=store))).content == text
    assert [m.content for m in await every(c.memories.list(store, view="full"))] == CONTENTS


async def conflicts(c):
    store = await c.store()
    memory = await c.create(store, "/a/b", "one")
    for path in ("/a/b", "/a", "/a/b/c"):
        c.sent.clear()
        error = await refused(anthropic.ConflictError, lambda p=path: c.create(store, p))
        assert len(c.sent) == 1, "a conflict that trying again can't solve was tried again"
        told = error.body["error"]
        assert told["type"] == "memory_path_conflict_error"
        assert (told["conflicting_path"], told["conflicting_memory_id"]) == ("/a/b", memory.id)
        assert error.request_id == error.body["request_id"] and error.request_id.startswith("req_")
    for call in (
        lambda: c.memories.update(memory.id, memory_store_id=store, content="x", precondition=is_at("0" * 64)),
        lambda: c.memories.delete(memory.id, memory_store_id=store, expected_content_sha256="0" * 64),
    ):
        c.sent.clear()
        error = await refused(anthropic.ConflictError, call)
        assert len(c.sent) == 1
        assert error.body["error"]["type"] == "memory_precondition_failed_error"
    again = await done(c.memories.update(memory.id, memory_store_id=store, content="one", precondition=is_at("0" * 64)))
    assert again.memory_version_id == memory.memory_version_id


async def errors(c):
    store = await c.store()
    memory = await c.create(store, "/a")
    stranger, reader = Caller(c.kind, "lsk_wrong"), Caller(c.kind, KEYS["reader"])
    limited = Caller(c.kind, KEYS["limited"], max_retries=0)
    version = memory.memory_version_id
    cases = [
        (400, anthropic.BadRequestError, "invalid_request_error", lambda: c.create(store, "no slash")),
        (400, anthropic.BadRequestError, "invalid_request_error", lambda: c.create(store, "/b", "x" * 102_401)),
        (400, anthropic.BadRequestError, "invalid_request_error", lambda: c.stores.create(name="")),
        (400, anthropic.BadRequestError, "invalid_request_error", lambda: c.memories.list(store, limit=0)),
        (
            400,
            anthropic.BadRequestError,
            "invalid_request_error",
            lambda: c.versions.redact(version, memory_store_id=store),
        ),
        (401, anthropic.AuthenticationError, "authentication_error", lambda: stranger.stores.list()),
        (403, anthropic.PermissionDeniedError, "permission_error", lambda: reader.create(store, "/b")),
        (404, anthropic.NotFoundError, "not_found_error", lambda: c.stores.retrieve(UNKNOWN)),
        (404, anthropic.NotFoundError, "not_found_error", lambda: c.stores.retrieve("made up")),
        (
            404,
            anthropic.NotFoundError,
            "not_found_error",
            lambda: c.memories.retrieve("a/b", memory_store_id=store),
        ),
        (413, anthropic.APIStatusError, "request_too_large", lambda: c.create(store, "/b", "x" * 1_100_000)),
    ]
    for status, kind, name, call in cases:
        error = await refused(kind, call)
        assert (error.status_code, error.body["error"]["type"]) == (status, name), (status, name, error)
        assert error.request_id == error.body["request_id"]
    for _ in range(3):
        try:
            await done(limited.stores.list())
        except anthropic.RateLimitError as error:
            assert error.body["error"]["type"] == "rate_limit_error"
            assert int(error.response.headers["retry-after"]) > 0
            return
    raise AssertionError("never limited")


async def an_archived_store(c):
    store = await c.store()
    memory = await c.create(store, "/a")
    await done(c.memories.update(memory.id, memory_store_id=store, content="two"))
    await done(c.stores.archive(store))
    for call in (
        lambda: c.create(store, "/b"),
        lambda: c.memories.update(memory.id, memory_store_id=store, content="x"),
        lambda: c.stores.update(store, name="x"),
    ):
        await refused(anthropic.BadRequestError, call)
    await done(c.versions.redact(memory.memory_version_id, memory_store_id=store))
    await done(c.memories.delete(memory.id, memory_store_id=store))
    assert len(await every(c.versions.list(store))) == 3
    await done(c.stores.delete(store))
    await refused(anthropic.NotFoundError, lambda: c.versions.list(store))


async def dialects(c):
    store = await c.store()
    for path in ("/notes.md", "/notes/x", "/z"):
        await c.create(store, path)
    sent = c.sent[-1].headers
    if NEWEST:
        assert sent["authorization"].startswith("Bearer ") and "x-api-key" not in sent
        assert sent["anthropic-beta"] == "agent-memory-2026-07-22"
        await refused(anthropic.BadRequestError, lambda: c.memories.list(store, path_prefix="/no"))
        await refused(anthropic.BadRequestError, lambda: c.memories.list(store, depth=2))
        both = ["managed-agents-2026-04-01"]
        await refused(anthropic.BadRequestError, lambda: c.memories.list(store, betas=both))
        other = await done(c.stores.create(name="elsewhere", workspace_id="blue"))
        await refused(anthropic.NotFoundError, lambda: c.stores.retrieve(other.id))
        assert (await done(c.stores.retrieve(other.id, workspace_id="blue"))).id == other.id
    else:
        assert sent["x-api-key"] == KEYS["admin"] and "authorization" not in sent
        assert sent["anthropic-beta"] == "managed-agents-2026-04-01"
        raw = await every(c.memories.list(store, path_prefix="/no"))
        assert [m.path for m in raw] == ["/notes.md", "/notes/x"]
        newest = await every(c.memories.list(store, order_by="created_at", order="desc", limit=1))
        assert [m.path for m in newest] == ["/z", "/notes/x", "/notes.md"]
        two = await every(c.memories.list(store, depth=2))
        assert [e.path for e in two] == ["/notes.md", "/notes/x", "/z"]


async def raw_answers(c):
    store = await c.store()
    answer = await done(c.stores.with_raw_response.retrieve(store))
    assert answer.headers["request-id"].startswith("req_")
    assert (await done(answer.parse())).id == store


async def what_is_down(c):
    down = Caller(c.kind, KEYS["faulty"], KEYS["faulty_url"])
    error = await refused(anthropic.InternalServerError, lambda: down.create(KEYS["faulty_store"], "/a"))
    assert (error.status_code, error.body["error"]["type"]) == (503, "api_error")
    assert len(down.sent) == 3, "a failure worth another try is tried again twice"
    assert error.response.headers["retry-after"]


async def the_packages_own_worker(c):
    """The newest package keeps a store in step with a folder: another real client of these endpoints."""
    if c.kind == "sync" or not NEWEST:
        return
    from anthropic.lib.tools._memories import SessionMemoryStores

    store = await c.store("folder")
    remote = await c.create(store, "/dir/b.md", "two")
    for path in ("/a.md", "/gone.md", *(f"/many/{n:02d}.md" for n in range(25))):
        await c.create(store, path, path)
    attached = SimpleNamespace(
        type="memory_store", memory_store_id=store, access="read_write", mount_path=None, name="folder"
    )
    with tempfile.TemporaryDirectory() as workdir:
        worker = SessionMemoryStores(c.client, workdir=workdir)
        await worker.download(SimpleNamespace(resources=[attached]))
        (root,) = worker.roots
        assert (root / "many/24.md").read_text() == "/many/24.md"
        (root / "a.md").write_text("changed here")
        (root / "new").mkdir()
        (root / "new/c.md").write_text("made here")
        (root / "gone.md").unlink()
        await c.memories.update(remote.id, memory_store_id=store, content="changed there")
        await worker.finish()
        assert (root / "dir/b.md").read_text() == "changed there"
        stored = {m.path: m.content for m in await every(c.memories.list(store, view="full"))}
        assert (stored["/a.md"], stored["/new/c.md"]) == ("changed here", "made here")
        assert "/gone.md" not in stored and len(stored) == 28
        await worker.dispose()


SCENARIOS = (
    every_method,
    pagination,
    times,
    contents,
    conflicts,
    errors,
    an_archived_store,
    dialects,
    raw_answers,
    what_is_down,
    the_packages_own_worker,
)


def run(kind, scenario):
    try:
        asyncio.run(scenario(Caller(kind)))
    except Exception:
        return traceback.format_exc()
    return None


if __name__ == "__main__":
    for kind in ("sync", "async"):
        for scenario in SCENARIOS:
            print(json.dumps({"name": f"{kind} {scenario.__name__}", "wrong": run(kind, scenario)}), flush=True)
