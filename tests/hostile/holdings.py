"""What a tenant holds on every surface, built through the API alone, and names that nobody holds."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from infra.local.events import Request

if TYPE_CHECKING:
    from infra.local.events import Answer
    from tests.clients.whole import Whole

PROJECTS = "/sandbox/memory/v1"
STORES = "/v1/memory_stores"
MEMORIES = "/v1/memories"
FILES = "/v1/files"
SECRET = "quetzalcoatl"
"""Stands in every text that a tenant stores."""

LATE = 1_000_000
ULID, HEX, BASE64 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ", "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Names:
    """Everything by which something of a tenant can be named."""

    tenant: str
    project: str
    task: str
    artifact: str
    large: str
    upload: str
    store: str
    memory: str
    version: str
    path: str
    content_hash: str
    session: str
    user: str
    remembered: str
    addition: str
    erasure: str
    agent: str
    app: str
    chat: str
    category: str
    document: str
    idempotency: str
    group: str
    key: str
    principal: str
    correlation: str
    digest_etag: str
    turn_etag: str
    artifact_etag: str
    remembered_etag: str
    tasks_cursor: str
    turns_cursor: str
    stores_cursor: str
    paths_cursor: str
    versions_cursor: str
    remembered_cursor: str
    history_cursor: str
    keys_cursor: str
    usage_cursor: str
    file: str
    filename: str
    file_etag: str
    files_cursor: str

    @property
    def text(self) -> str:
        """What stands in all that this tenant stores, and in nobody else's."""
        return f"{SECRET} {self.agent.removeprefix('agent-')}"

    def items(self) -> list[tuple[str, str]]:
        """Return the names by what they name, the longest first: some hold others."""
        named = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return sorted(named, key=lambda item: -len(item[1]))


@dataclass(frozen=True)
class Party:
    """Somebody with a key, who may name a project; `send` is what they do."""

    stack: Whole
    secret: str | None
    project: str | None = None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        json_body: Any = None,
        body: bytes = b"",
    ) -> Request:
        sent = {**(headers or {})}
        if self.secret is not None:
            sent.setdefault("authorization", f"Bearer {self.secret}")
        if self.project is not None:
            sent.setdefault("x-sandbox-project-id", self.project)
        if json_body is not None:
            sent.setdefault("content-type", "application/json")
            body = json.dumps(json_body).encode()
        named = [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()]
        return Request(method, path, urlencode(query or {}), named, body)

    def call(self, method: str, path: str, *, status: int = 200, **how: Any) -> Answer:
        """Send a request that has to succeed."""
        answer = self.stack.send(self.request(method, path, **how))
        assert answer.status == status, (method, path, answer)
        return answer

    def ask(self, method: str, path: str, **how: Any) -> Any:
        """Send a request that has to succeed, and return the JSON of its answer."""
        return json.loads(self.call(method, path, **how).body)


def etag_of(answer: Answer) -> str:
    return dict(answer.headers)[b"etag"].decode()


def held_by(admin: Party, tenant: str, project: str, mark: str, *, documents: bool = False) -> Names:
    """Build what a tenant holds in a project, two of everything so that every list has a cursor.

    A document is read by a process of its own, which takes a while: without `documents` its id names none.
    """
    names = Names(**{field.name: "" for field in fields(Names)})
    names = replace(names, tenant=tenant, project=project, correlation=f"corr-{mark}")
    names = _project_memory(admin, names, mark)
    names = _memory_stores(admin, names, mark)
    names = _memories(admin, names, mark)
    names = _files(admin, names, mark)
    names = _document(admin, names) if documents else names
    names = _platform(admin, names, mark)
    missing = [name for name, value in names.items() if not value]
    assert not missing, missing
    return names


def _project_memory(admin: Party, names: Names, mark: str) -> Names:
    task, artifact = f"task-{mark}", f"log-{mark}.txt"
    turns = f"{PROJECTS}/tasks/{task}/turns"
    for other in (f"other-{mark}", task):
        for turn in (2, 1):
            body = {"meta": {"agent_id": mark}, "summary_md": f"# {SECRET} {mark}"}
            put = admin.call("PUT", f"{PROJECTS}/tasks/{other}/turns/{turn}", json_body=body)
    stored = admin.call("PUT", f"{turns}/1/artifacts/{artifact}", body=f"{SECRET} {mark}".encode())
    put = admin.call("GET", f"{turns}/1")
    upload = admin.ask("POST", f"{turns}/1/artifacts/{artifact}/upload", json_body={"size": 5})["upload_id"]
    return replace(
        names,
        task=task,
        artifact=artifact,
        large=f"large-{mark}.bin",
        upload=upload,
        digest_etag=etag_of(admin.call("GET", f"{PROJECTS}/project.md")),
        turn_etag=etag_of(put),
        artifact_etag=etag_of(stored),
        tasks_cursor=admin.ask("GET", f"{PROJECTS}/tasks", query={"limit": 1})["next_cursor"],
        turns_cursor=admin.ask("GET", f"{PROJECTS}/tasks/{task}", query={"limit": 1})["next_cursor"],
    )


def _memory_stores(admin: Party, names: Names, mark: str) -> Names:
    session = {"x-sandbox-session-id": f"session-{mark}"}
    made = [admin.ask("POST", STORES, json_body={"name": f"{SECRET} {mark}"})["id"] for _ in range(2)]
    below = f"{STORES}/{made[1]}"
    path = f"/deep-{mark}/note.md"
    for where in (f"/other-{mark}.md", path):
        body = {"path": where, "content": f"{SECRET} {mark}"}
        memory = admin.ask("POST", f"{below}/memories", json_body=body, headers=session)
    versions = admin.ask("GET", f"{below}/memory_versions", query={"limit": 1, "memory_id": memory["id"]})
    return replace(
        names,
        store=made[1],
        memory=memory["id"],
        version=versions["data"][0]["id"],
        path=path,
        content_hash=memory["content_sha256"],
        session=f"session-{mark}",
        stores_cursor=admin.ask("GET", STORES, query={"limit": 1})["next_page"],
        paths_cursor=admin.ask("GET", f"{below}/memories", query={"limit": 1})["next_page"],
        versions_cursor=admin.ask("GET", f"{below}/memory_versions", query={"limit": 1})["next_page"],
    )


def _memories(admin: Party, names: Names, mark: str) -> Names:
    user = f"user-{mark}"
    body = {
        "user_id": user,
        "mode": "raw",
        "messages": [{"role": "user", "content": f"{SECRET} {mark} {n}", "timestamp": -1} for n in range(3)],
        "agent_id": f"agent-{mark}",
        "app_id": f"app-{mark}",
        "session_id": f"chat-{mark}",
        "metadata": {"idempotency_key": f"idem-{mark}", "tags": [mark]},
    }
    chunk = {
        **{name: body[name] for name in ("user_id", "messages", "session_id")},
        "content_type": "code",
        "metadata": {"source": "memorax-code"},
        "chunk": {"group_id": f"group-{mark}", "index": 0, "count": 2},
    }
    addition = admin.ask("POST", f"{MEMORIES}/add", json_body=body, status=202)["data"]["task_id"]
    admin.call("POST", f"{MEMORIES}/add", json_body=chunk, status=202)
    admin.stack.work()
    admin.call("POST", f"{MEMORIES}/add", json_body={**body, "user_id": f"gone-{mark}"}, status=202)
    erasure = admin.ask("DELETE", MEMORIES, query={"user_id": f"gone-{mark}"}, status=202)["data"]["task_id"]
    admin.stack.work()
    page = admin.ask("GET", MEMORIES, query={"user_id": user, "limit": 1})["data"]
    remembered = page["data"][0]["id"]
    change = {"memory": f"{SECRET} {mark} changed", "categories": [f"kind-{mark}"]}
    changed = admin.call("PATCH", f"{MEMORIES}/{remembered}", json_body=change)
    history = admin.ask("GET", f"{MEMORIES}/{remembered}/history", query={"limit": 1})["data"]
    return replace(
        names,
        user=user,
        remembered=remembered,
        addition=addition,
        erasure=erasure,
        agent=f"agent-{mark}",
        app=f"app-{mark}",
        chat=f"chat-{mark}",
        category=f"kind-{mark}",
        document=f"{addition[:-12]}{'0' * 12}",
        idempotency=f"idem-{mark}",
        group=f"group-{mark}",
        remembered_etag=etag_of(changed),
        remembered_cursor=page["next_cursor"],
        history_cursor=history["next_cursor"],
    )


def _files(admin: Party, names: Names, mark: str) -> Names:
    made = [_uploaded(admin, names.user, f"{name}-{mark}.txt", f"{names.text} {name}".encode()) for name in "gf"]
    listed = admin.ask("GET", FILES, query={"user_id": names.user, "limit": 1})
    return replace(
        names,
        file=made[1],
        filename=f"f-{mark}.txt",
        file_etag=etag_of(admin.call("GET", f"{FILES}/{made[1]}/content")),
        files_cursor=listed["data"]["next_cursor"],
    )


def _document(admin: Party, names: Names) -> Names:
    part = {"type": "file", "file": {"file_id": names.file}}
    messages = [{"role": "user", "content": [{"type": "text", "text": names.text}, part], "timestamp": -1}]
    body = {"user_id": names.user, "content_type": "document", "messages": messages}
    task = admin.ask("POST", f"{MEMORIES}/add", json_body=body, status=202)["data"]["task_id"]
    while admin.stack.work():
        pass
    told = admin.ask("GET", f"{MEMORIES}/add/status/{task}")
    assert told["status"] == "success", told
    return replace(names, document=told["files"][0]["document_id"])


def _uploaded(admin: Party, user: str, filename: str, content: bytes) -> str:
    announced = {"user_id": user, "filename": filename, "size": len(content)}
    told = admin.ask("POST", FILES, json_body=announced)["data"]
    sent = admin.stack.send(put_of(told["upload"], content))
    assert sent.status == 200, sent
    admin.call("POST", f"{FILES}/{told['id']}/complete")
    return str(told["id"])


def put_of(upload: dict[str, Any], content: bytes) -> Request:
    """Return the PUT that an upload asks for."""
    url = urlsplit(upload["url"])
    headers = [(name.lower().encode(), value.encode()) for name, value in upload["headers"].items()]
    return Request("PUT", url.path, url.query, [(b"host", url.netloc.encode()), *headers], content)


def _platform(admin: Party, names: Names, mark: str) -> Names:
    for principal in (f"other-{mark}", f"who-{mark}"):
        wish = {"name": f"{SECRET} {mark}", "role": "member", "principal": principal, "project_id": names.project}
        key = admin.ask("POST", "/v1/api_keys", json_body={**wish, "quotas": {"memory_write": 5}})
    admin.call("PUT", f"/v1/projects/{names.project}", json_body={"retention_days": 90})
    admin.call("GET", "/v1/usage", headers={"x-sandbox-project-id": f"zz-{mark}"})
    return replace(
        names,
        key=key["id"],
        principal=f"who-{mark}",
        keys_cursor=admin.ask("GET", "/v1/api_keys", query={"limit": 1})["next_page"],
        usage_cursor=_usage_cursor(admin, mark),
    )


def _usage_cursor(admin: Party, mark: str) -> str:
    """Return the cursor of usage, once the meters have written what two projects were asked."""
    admin.stack.clock.move(ms=LATE)
    for project in (f"yy-{mark}", f"zz-{mark}"):
        admin.call("GET", "/v1/usage", headers={"x-sandbox-project-id": project})
    admin.stack.run("sweep")
    return str(admin.ask("GET", "/v1/usage", query={"limit": 1})["next_page"])


def nobodys(names: Names, seed: int) -> Names:
    """Return names of the same forms that nobody holds."""
    draw = random.Random(seed)
    return Names(**{name: _twin(name, value, draw) for name, value in names.items()})


def _twin(name: str, value: str, draw: random.Random) -> str:
    if name.endswith("cursor"):  # the position of the other, under a mark that is not this list's
        return "".join(draw.choice(BASE64) for _ in range(12)) + value[12:]
    if name.endswith("etag"):
        return "".join(draw.choice(HEX) if letter in HEX else letter for letter in value)
    if name in {"upload", "store", "memory", "version", "key"}:  # of the same moment, so that it is as plausible
        return value[:-10] + "".join(draw.choice(ULID) for _ in range(10))
    if name in {"remembered", "addition", "erasure", "document", "content_hash", "file"}:
        return value[:-10] + "".join(draw.choice(HEX) for _ in range(10))
    stem, dot, extension = value.partition(".")  # what a name ends with says what it is
    return "".join(draw.choice(LETTERS) if letter.isalnum() else letter for letter in stem) + dot + extension
