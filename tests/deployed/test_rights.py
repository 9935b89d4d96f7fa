"""Every statement of every role is needed: without it something fails that works with it.

Only what ministack checks can be tried: rights over the table, the bucket and the queues. `ARGUED` says why the others
are there.
"""

from __future__ import annotations

import base64
import itertools
import json
import time
import uuid
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import requests

from shared.aws.table import Table
from shared.aws.writes import Put
from shared.kernel.scope import Scope
from shared.memories.files.readings import READING
from shared.retention.records import job
from tests.deployed.deploying import STACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.deployed.conftest import Deployed

    Probe = Callable[["Deployed"], None]

ARGUED = {
    "Key": "ministack encrypts nothing; on AWS every read and write of table, bucket and queue asks the key",
    "Logs": "ministack writes a function's log by itself; on AWS the function's role does",
    "Traces": "ministack takes no traces; Lambda sends them with the function's role",
    "Index": "the search node of the tests asks for no signature; a domain takes only requests that its policy lets in",
    "Embeddings": "no model is deployed here",
    "Extraction": "no model is deployed here",
    "Vision": "no model is deployed here",
    "AbsentIsNotForbidden": "ministack says 404 of an absent object to everybody; S3 only to who may list the bucket",
    "ErasureLogIsOnlyWritten": "a refusal; that it is one, the template's tests see",
    "ErasureLogIsNotRead": "a refusal; that it is one, the template's tests see",
    "ToRead": "ministack receives and deletes messages by itself, and the function only holds those it is slow with",
}
PATIENCE_SECONDS = 60
BRIEF_SECONDS = 8
_numbers = itertools.count()


class Refused(AssertionError):
    """Something did not work."""


def need(truth: object, told: object = "") -> None:
    if not truth:
        raise Refused(str(told))


# ---- Rights, taken and given back ------------------------------------------------------------------------


def policies(server: Deployed) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return the policy of each function's role, by its name in the template: the role, the policy, the document."""
    iam = server.aws.client("iam")
    found = {}
    for role in iam.list_roles()["Roles"]:
        name = role["RoleName"]
        if name.startswith(f"{STACK}-"):
            (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
            document = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
            found[name.split("-")[-2]] = (name, policy, document)
    return found


@contextmanager
def without(server: Deployed, role: str, sid: str) -> Iterator[None]:
    """Take a statement from a role for a while."""
    name, policy, document = policies(server)[role]
    kept = [statement for statement in document["Statement"] if statement["Sid"] != sid]
    assert len(kept) == len(document["Statement"]) - 1
    iam = server.aws.client("iam")

    def give(statements: list[Any]) -> None:
        told = json.dumps({**document, "Statement": statements})
        iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=told)

    give(kept)
    try:
        yield
    finally:
        give(document["Statement"])


# ---- What works with them --------------------------------------------------------------------------------


def new(word: str) -> str:
    return f"{word}-{next(_numbers)}-{time.monotonic_ns()}"


def call(server: Deployed, method: str, path: str, expected: int = 200, **options: Any) -> Any:
    answer = server.session.request(method, f"{server.base_url}{path}", timeout=60, **options)
    need(answer.status_code == expected, f"{method} {path}: {answer.status_code} {answer.text[:300]}")
    return answer.json() if "json" in answer.headers.get("content-type", "") else answer.content


def sandbox(server: Deployed, method: str, path: str, expected: int = 200, **options: Any) -> Any:
    return call(server, method, f"/sandbox/memory/v1{path}", expected, **options)


def a_turn(server: Deployed) -> None:
    sandbox(server, "PUT", f"/tasks/{new('t')}/turns/1", json={"summary_md": "x"})


def an_artifact(server: Deployed) -> str:
    path = f"/tasks/{new('t')}/turns/1/artifacts/a.bin"
    sandbox(server, "PUT", path, data=b"\x00" * 50_000)
    need(sandbox(server, "GET", path) == b"\x00" * 50_000)
    return path


def a_deleted_task(server: Deployed) -> None:
    task = new("t")
    sandbox(server, "PUT", f"/tasks/{task}/turns/1", json={"summary_md": "x"})
    answer = server.call("DELETE", f"/tasks/{task}")
    need(answer.ok, answer.text)


def a_store(server: Deployed) -> str:
    return str(call(server, "POST", "/v1/memory_stores", json={"name": new("s")})["id"])


def a_memory_of_a_store(server: Deployed) -> None:
    store = a_store(server)
    made = call(server, "POST", f"/v1/memory_stores/{store}/memories", json={"path": "/a.md", "content": "x" * 50_000})
    path = f"/v1/memory_stores/{store}/memories/{made['id']}"
    need(call(server, "GET", path, params={"view": "full"})["content"] == "x" * 50_000)


def a_key(server: Deployed) -> str:
    body = {"name": "n", "tenant_id": server.credentials["tenant_id"], "project_id": None, "role": "member"}
    return str(call(server, "POST", "/v1/api_keys", json=body)["id"])


def a_revoked_key(server: Deployed) -> None:
    call(server, "DELETE", f"/v1/api_keys/{a_key(server)}")


def readiness(server: Deployed) -> None:
    call(server, "GET", "/ready")


def accepted(server: Deployed, user: str, content: Any) -> str:
    body = {"user_id": user, "messages": [{"role": "user", "content": content, "timestamp": -1}]}
    return str(call(server, "POST", "/v1/memories/add", 202, json=body)["data"]["task_id"])


def an_add(server: Deployed) -> None:
    accepted(server, new("ana"), "I like tea.")


def a_file_of_an_add(server: Deployed, user: str | None = None, text: str = "Tea is green.") -> str:
    file = {"filename": "a.txt", "file_data": base64.b64encode(text.encode()).decode()}
    return accepted(server, user or new("ana"), [{"type": "file", "file": file}])


def learnt(server: Deployed, task: str) -> dict[str, Any]:
    """Wait for the end of an add; while a right is taken away, not for long."""
    end = time.monotonic() + server.patience
    while time.monotonic() < end:
        told: dict[str, Any] = call(server, "GET", f"/v1/memories/add/status/{task}")
        if told["status"] != "processing":
            return told
        time.sleep(0.3)
    raise Refused(told)


def a_learnt_add(server: Deployed) -> None:
    told = learnt(server, accepted(server, new("ana"), "I like tea."))
    need(told["status"] == "success", told)


def a_read_file(server: Deployed) -> None:
    told = learnt(server, a_file_of_an_add(server))
    need(told["status"] == "success", told)


def uploads(server: Deployed) -> set[str]:
    found = server.aws.client("s3").list_objects_v2(Bucket=server.outputs["BucketName"], Prefix="up/")
    return {entry["Key"] for entry in found.get("Contents", [])}


def a_forgotten_user_who_was_uploading(server: Deployed) -> None:
    wish = {"user_id": new("ana"), "filename": "a.pdf", "size": 10}
    upload = call(server, "POST", "/v1/files", json=wish)["data"]["upload"]
    before = uploads(server)
    put = requests.put(upload["url"], data=b"0123456789", headers=upload["headers"], timeout=60)
    need(put.ok, put.text)
    call(server, "DELETE", f"/v1/memories?user_id={wish['user_id']}", 202)
    end = time.monotonic() + server.patience
    while uploads(server) - before:
        need(time.monotonic() < end, "the upload is still there")
        time.sleep(0.3)


def dead_letters(server: Deployed) -> int:
    named = {"QueueUrl": server.outputs["DeadLetterQueueUrl"], "AttributeNames": ["ApproximateNumberOfMessages"]}
    told = server.aws.client("sqs").get_queue_attributes(**named)["Attributes"]
    return int(told["ApproximateNumberOfMessages"])


def an_unreadable_message(output: str) -> Probe:
    def probe(server: Deployed) -> None:
        before, name = dead_letters(server), new("m")
        queue = server.outputs[output]
        server.aws.client("sqs").send_message(
            QueueUrl=queue, MessageBody=f"{{{name}", MessageGroupId=name, MessageDeduplicationId=name
        )
        end = time.monotonic() + server.patience
        while dead_letters(server) == before:
            need(time.monotonic() < end, "no dead letter")
            time.sleep(0.3)

    return probe


def swept(server: Deployed, job: str = "sweep") -> dict[str, Any]:
    functions = server.aws.client("lambda")
    (name,) = [f["FunctionName"] for f in functions.list_functions()["Functions"] if "Sweeper" in f["FunctionName"]]
    answer = functions.invoke(FunctionName=name, Payload=json.dumps({"job": job}).encode())
    told: dict[str, Any] = json.loads(answer["Payload"].read())
    need("FunctionError" not in answer, told)
    need(told["errors"] == 0, told)
    return told


def a_sweep(server: Deployed) -> None:
    swept(server)


def a_sweep_of_what_was_replaced(server: Deployed) -> None:
    sandbox(server, "PUT", an_artifact(server), data=b"\x01" * 50_000)
    swept(server)


def a_sweep_of_what_a_reading_left(server: Deployed) -> None:
    """Have the sweeper send what the worker could not, when it took a file's new content for the old."""
    told = {"user_id": "ana", "token": str(uuid.uuid4()), "chunks": 1, "document": str(uuid.uuid4())}
    left = job(READING, Scope(server.credentials["tenant_id"], "default"), time.time_ns() // 10**6, **told)
    clients: Any = SimpleNamespace(dynamodb=server.aws.client("dynamodb"))
    Table(clients, server.outputs["TableName"]).write(Put(left))
    need(swept(server)["swept"])


def a_reconciliation(server: Deployed) -> None:
    swept(server, "reconcile")


PROBES: dict[tuple[str, str], Probe] = {
    ("ProjectsRole", "Records"): a_turn,
    ("ProjectsRole", "Objects"): an_artifact,
    ("ProjectsRole", "ErasureLog"): a_deleted_task,
    ("StoresRole", "Records"): a_store,
    ("StoresRole", "Objects"): a_memory_of_a_store,
    ("MemoriesRole", "Records"): an_add,
    ("MemoriesRole", "Objects"): an_add,
    ("MemoriesRole", "Work"): a_file_of_an_add,
    ("WorkerRole", "Records"): a_learnt_add,
    ("WorkerRole", "Objects"): a_learnt_add,
    ("WorkerRole", "Uploads"): a_forgotten_user_who_was_uploading,
    ("WorkerRole", "Work"): a_learnt_add,
    ("WorkerRole", "DeadLetters"): an_unreadable_message("QueueUrl"),
    ("DocumentsRole", "Records"): a_read_file,
    ("DocumentsRole", "Files"): a_read_file,
    ("DocumentsRole", "Pieces"): a_read_file,
    ("DocumentsRole", "Work"): a_read_file,
    ("PlatformRole", "Records"): a_key,
    ("PlatformRole", "ErasureLog"): a_revoked_key,
    ("PlatformRole", "BucketIsThere"): readiness,
    ("PlatformRole", "QueueIsThere"): readiness,
    ("SweeperRole", "Records"): a_sweep,
    ("SweeperRole", "Objects"): a_sweep_of_what_was_replaced,
    ("SweeperRole", "Days"): a_reconciliation,
    ("SweeperRole", "Work"): a_sweep_of_what_a_reading_left,
}


@pytest.mark.parametrize(("role", "sid"), PROBES)
def test_without_a_statement_something_fails_that_works_with_it(server: Deployed, role: str, sid: str) -> None:
    probe = PROBES[role, sid]
    server.patience = PATIENCE_SECONDS
    probe(server)
    server.patience = BRIEF_SECONDS
    with without(server, role, sid), pytest.raises(Refused):
        probe(server)


def test_every_statement_is_tried_or_argued_for(server: Deployed) -> None:
    found = {(role, s["Sid"]) for role, (_, _, document) in policies(server).items() for s in document["Statement"]}
    assert {named for named in found if named[1] not in ARGUED} == set(PROBES)
