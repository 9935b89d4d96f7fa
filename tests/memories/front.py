"""The adding side of memories over an emulated stack: requests in, tasks and messages out; nobody works on them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from functions.memories import api
from shared.aws.items import decode_item
from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.aws.writes import Update
from shared.kernel.scope import Role, Scope
from shared.memories.files.sending import jobs_of
from shared.memories.records import file_key, task_key
from shared.tenancy import background
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import Client
from tests.emulator.cloud import emulated_cloud
from tests.projects.world import MovedClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.local.transactions import Conflicts
    from shared.aws.items import Item
    from tests.clients.events import Answer
    from tests.emulator.cloud import Cloud

ROOT = "/v1/memories"
ADD = f"{ROOT}/add"
SCOPE = Scope("acme", "default")
CODE: dict[str, Any] = {"content_type": "code", "session_id": "s", "metadata": {"source": "memorax-code"}}


def message(content: Any = "I like tea.", **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "timestamp": -1, **fields}


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    """Return the body of an add; without messages it has one."""
    return {"user_id": "ann", "messages": list(messages or [message()]), **fields}


def key(name: str = "k") -> dict[str, Any]:
    """Return the field that names a request."""
    return {"metadata": {"idempotency_key": name}}


@dataclass
class Front:
    """One stack whose memories are added to."""

    cloud: Cloud
    clock: Any = field(default_factory=MovedClock)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        search = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": "/nowhere", "DIRECT_BODY_BYTES": str(50 << 20)}
        return {**self.cloud.environment("MemoriesFunction"), **search, **self.settings}

    def set(self, **settings: str) -> Front:
        """Return the same stack, deployed with other settings."""
        return replace(self, settings={**self.settings, **settings})

    @property
    def table(self) -> Table:
        return Table(self.cloud.aws, self.cloud.table_name)

    @property
    def objects(self) -> Objects:
        return Objects(self.cloud.aws, self.cloud.bucket_name)

    def key(self, *, tenant: str = "acme", project: str | None = None, **wish: Any) -> str:
        keys = tenancy(Environment.of(self.environ), self.cloud.aws, self.clock).keys
        return keys.issue(KeyWish(name="test", role=Role.MEMBER, tenant=tenant, project=project, **wish)).secret

    def client(self, **key: Any) -> AddClient:
        return AddClient(api.build(self.environ, self.cloud.aws, self.clock), self.key(**key))

    def task(self, task_id: str) -> Item | None:
        return self.table.get(task_key(SCOPE, task_id))

    def end(self, task_id: str, status: str = "success", **fields: Any) -> None:
        """Let a task end as a worker would."""
        now = self.clock.now_ms()
        phase = "done" if status == "success" else "extracting"
        put = {"status": status, "phase": phase, "tries": 1, "updated_at": now, "completed_at": now, **fields}
        self.table.write(Update(task_key(SCOPE, task_id), put=put))

    def tasks(self) -> list[str]:
        """Return the ids of all tasks that are stored."""
        return sorted(i["task"]["S"] for i in self.cloud.items() if i["sk"]["S"] == "task")

    def messages(self, queue: str = "QUEUE_URL") -> list[dict[str, Any]]:
        """Take what is in the queue, with its attributes."""
        found: list[dict[str, Any]] = []
        url = self.environ[queue]
        while True:
            answer: Any = self.cloud.aws.sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
            )
            if not answer.get("Messages"):
                return found
            found += [{**json.loads(sent["Body"]), **sent["Attributes"]} for sent in answer["Messages"]]
            for sent in answer["Messages"]:
                self.cloud.aws.sqs.delete_message(QueueUrl=url, ReceiptHandle=sent["ReceiptHandle"])

    def reads(self) -> list[dict[str, Any]]:
        """Take what is in the queue of documents."""
        return self.messages("DOCUMENTS_QUEUE_URL")

    def jobs(self, task_id: str) -> list[Item]:
        """Return the jobs of a task's files and images."""
        return jobs_of(self.table, self.task(task_id) or {})

    def rows(self, prefix: str) -> list[Item]:
        """Return the rows whose sort key begins so: `u#` are files."""
        return [decode_item(i) for i in self.cloud.items() if i["sk"]["S"].startswith(prefix)]

    def file(self, file_id: str) -> Item | None:
        return self.table.get(file_key(SCOPE, file_id))

    def payload(self, task_id: str) -> dict[str, Any]:
        task = self.task(task_id)
        assert task is not None
        found: dict[str, Any] = json.loads(self.objects.get(task["object"]))
        return found


@dataclass
class AddClient(Client):
    """A client that knows the surface's paths."""

    def add(self, *messages: Any, headers: dict[str, str] | None = None, **fields: Any) -> Answer:
        return self.post(ADD, json_body=body(*messages, **fields), headers=headers)

    def accepted(self, *messages: Any, **fields: Any) -> str:
        """Add, and return the task's id."""
        answer = self.add(*messages, **fields)
        assert answer.status == 202, answer.content
        task_id: str = answer.json["data"]["task_id"]
        return task_id

    def status(self, task_id: str) -> Answer:
        return self.get(f"{ADD}/status/{task_id}")

    def refused(self, *messages: Any, **fields: Any) -> dict[str, str]:
        """Add what must be refused 422, and return what is said of each field."""
        answer = self.add(*messages, **fields)
        assert answer.status == 422, (answer.status, answer.content)
        return {found["field"]: found["message"] for found in answer.json["error"]["details"]}


@contextmanager
def front_world(*, conflicts: Conflicts | None = None, **world: Any) -> Iterator[Front]:
    with emulated_cloud(conflicts=conflicts) as cloud:
        yield Front(cloud, **world)


def warm(front: Front, client: AddClient) -> None:
    """Have the key known and the usage written, which are beside what is counted."""
    client.get(f"{ADD}/status/x")
    background.finish()
    front.messages()


def nothing_is_left(front: Front) -> bool:
    stored = [i for i in front.cloud.items() if i["pk"]["S"].startswith("W#") or i["sk"]["S"].startswith("u#")]
    return not stored and not front.cloud.object_keys() and not front.messages() and not front.reads()
