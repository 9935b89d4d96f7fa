"""Nothing that users say, name or hold ends in a log, whatever becomes of it; ids of tenants and keys do."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from shared.tenancy import background
from tests.emulator.faults import Fault, faults, intercepted, no_backoff
from tests.logs.stack import SERVICES
from tests.memories.documents.desk import file, image
from tests.projects.world import ROOT as PROJECTS
from tests.projects.world import artifact_path, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.clients.events import Client
    from tests.emulator.faults import Call
    from tests.logs.stack import Functions

TEXT, NAME, USER, TASK, PATH, FILE = "quagga", "wombat", "zorro", "zanzibar", "axolotl", "okapi"
QUERY, HEADER, KEY, SESSION, IDEMPOTENT, MODEL = "gerenuk", "fossa", "saola", "kinkajou", "pangolin", "tapir"
WORDS = (TEXT, NAME, USER, TASK, PATH, FILE, QUERY, HEADER, KEY, SESSION, IDEMPOTENT, MODEL)
LONG = f"{TEXT} " * 6_000
MEMORIES, FILES, STORES = "/v1/memories", "/v1/files", "/v1/memory_stores"


def of_projects(at: Functions) -> None:
    client = at.client("ProjectsFunction")
    turn, artifact = turn_path(TASK), artifact_path(TASK, 1, f"{FILE}.txt")
    client.put(turn, json_body={"summary_md": LONG, "meta": {"agent_id": NAME}})
    client.put(turn, json_body={"summary_md": 7, "meta": TEXT, NAME: TEXT})
    client.put(turn, body=TEXT.encode(), headers={"Content-Type": "application/json"})
    client.patch(turn, json_body={"meta": {NAME: TEXT}}, headers={"If-Match": f'"{HEADER}"'})
    client.put(artifact, body=TEXT.encode())
    client.post(f"{artifact}/upload", json_body={"size": 10, "content_type": NAME})
    client.post(f"{artifact}/complete", json_body={NAME: TEXT})
    for path in (turn, artifact, f"{PROJECTS}/tasks/{TASK}", f"{PROJECTS}/project.md", f"{PROJECTS}/{PATH}"):
        client.get(path, query={"cursor": QUERY, "limit": QUERY}, headers={"If-None-Match": HEADER})
    client.get(f"{PROJECTS}/tasks", query={"cursor": QUERY})
    client.delete(f"{PROJECTS}/tasks/{TASK}")


def of_stores(at: Functions) -> None:
    client = at.client("StoresFunction")
    made = client.post(STORES, json_body={"name": NAME, "description": TEXT, "metadata": {NAME: TEXT}})
    client.post(STORES, json_body={"name": 7, NAME: TEXT})
    client.get(STORES, query={"page": QUERY})
    store = f"{STORES}/{made.json['id'] if made.status == 200 else NAME}"
    for content in (LONG, TEXT):
        client.post(f"{store}/memories", json_body={"path": f"/{PATH}/{FILE}.md", "content": content})
    client.post(f"{store}/memories", json_body={"path": PATH, "content": [TEXT]})
    listed = client.get(f"{store}/memories", query={"path_prefix": f"/{PATH}/", "view": "full"})
    there = [m["id"] for m in listed.json.get("data", []) if "id" in m] if listed.status == 200 else []
    for memory in (*there, NAME):
        client.post(f"{store}/memories/{memory}", json_body={"content": f"{TEXT} again", "path": f"/{PATH}"})
        client.get(f"{store}/memories/{memory}")
        client.delete(f"{store}/memories/{memory}", query={"expected_content_sha256": QUERY})
    versions = client.get(f"{store}/memory_versions")
    for version in versions.json["data"] if versions.status == 200 else []:
        client.post(f"{store}/memory_versions/{version['id']}/redact")
    client.post(f"{store}/archive")
    client.delete(store)


def of_memories(at: Functions) -> None:
    client = at.client("MemoriesFunction")
    said = {"role": "user", "name": NAME, "timestamp": -1}
    parts = [
        {"type": "text", "text": f"I like {TEXT}."},
        file(f"{TEXT}.", f"{FILE}.txt"),
        file("!damaged", f"{FILE}-2.txt"),
        image(number=2),
        image(f"{TEXT} beside a lake"),
    ]
    named = {"content_type": "work", "session_id": SESSION, "metadata": {"idempotency_key": IDEMPOTENT, NAME: TEXT}}
    for messages in ([{**said, "content": parts}], [{**said, "content": LONG[:9_000]}], [{**said, "content": 7}]):
        client.post(f"{MEMORIES}/add", json_body={"user_id": USER, "messages": messages, **named})
        named = {}
    client.post(f"{MEMORIES}/add", json_body={"user_id": USER, "messages": TEXT, NAME: TEXT})
    at.work()
    for mode in ("facts", "raw", QUERY):
        body = {"user_id": USER, "query": QUERY, "output_mode": mode}
        client.post(f"{MEMORIES}/search", json_body=body)
        client.post(f"{MEMORIES}/search", json_body={**body, "filters": {NAME: SESSION}})
    listed = client.get(MEMORIES, query={"user_id": USER})
    there = [m["id"] for m in listed.json["data"]["data"]] if listed.status == 200 else []
    for memory in (*there[:2], NAME):
        client.patch(f"{MEMORIES}/{memory}", json_body={"text": f"{TEXT} now", "metadata": {NAME: TEXT}})
        client.get(f"{MEMORIES}/{memory}/history", query={"cursor": QUERY})
        client.delete(f"{MEMORIES}/{memory}")
    of_files(client)
    at.work()
    client.delete(MEMORIES, query={"user_id": USER})


def of_files(client: Client) -> None:
    announced = client.post(FILES, json_body={"user_id": USER, "filename": f"{FILE}.txt", "size": 7})
    told = announced.json["data"]["id"] if announced.status == 200 else NAME
    client.post(f"{FILES}/{told}/complete")
    client.post(FILES, json_body={"user_id": USER, "filename": TEXT, "size": TEXT})
    listed = client.get(FILES, query={"user_id": USER, "cursor": QUERY})
    listed = client.get(FILES, query={"user_id": USER}) if listed.status != 200 else listed
    for there in listed.json["data"]["data"] if listed.status == 200 else []:
        client.get(f"{FILES}/{there['id']}/content")
        client.delete(f"{FILES}/{there['id']}", query={"user_id": USER})


def of_the_platform(at: Functions) -> None:
    client = at.client("PlatformFunction")
    made = client.post("/v1/api_keys", json_body={"name": NAME, "role": "member"})
    client.post("/v1/api_keys", json_body={"name": 7, "role": NAME, NAME: TEXT})
    client.get("/v1/api_keys", query={"page": QUERY})
    client.put("/v1/projects/default", json_body={"retention_days": TEXT, NAME: TEXT})
    client.get("/v1/usage", query={"page": QUERY})
    client.get("/ready")
    if made.status in (200, 201):
        at.keys.append(made.json["key"] if "key" in made.json else made.json["secret"])
        client.delete(f"/v1/api_keys/{made.json['id']}")
    client.key = f"lsk_{KEY}"
    client.get("/v1/usage")


def everything(at: Functions) -> None:
    """Use every surface, well and badly, and let all that is behind them work."""
    for surface in (of_projects, of_stores, of_memories, of_the_platform):
        surface(at)
    at.sweep()
    at.work(2)
    background.finish()


def every(count: int, fault: Fault, *names: str) -> Callable[[], AbstractContextManager[Any]]:
    """Let every so manieth call meet a fault, of services or operations that begin so."""
    numbers = itertools.count(1)

    def rule(call: Call) -> Fault | None:
        return fault if call.name.startswith(names) and next(numbers) % count == 0 else None

    return lambda: faults(rule)


def bug(*operations: str) -> AbstractContextManager[Any]:
    """Have code break at some calls, with an error that holds all that it was called with."""

    def around(call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        if call.operation in operations:
            raise RuntimeError(f"no good: {' '.join(WORDS)}")
        return apply()

    return intercepted(around)


BUSY = ("GetObject", "PutObject", "DeleteObject", "TransactWriteItems", "BatchGetItem")
WAYS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "well": nullcontext,
    "with a table that is often down": every(4, Fault.SERVER_ERROR, "dynamodb"),
    "with calls that are lost": every(5, Fault.APPLIED_TIMEOUT, "dynamodb", "s3", "sqs.S"),
    "with a bucket that is down": every(1, Fault.SERVER_ERROR, "s3"),
    "with queues that are down": every(1, Fault.THROTTLED, "sqs.S", "sqs.C"),
    "with a bug at objects": lambda: bug(*BUSY[:3]),
    "with a bug at rows": lambda: bug(*BUSY[3:]),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_text_name_key_or_query_is_in_any_log(at: Functions, way: str) -> None:
    at.desk.seer.sees = f"A {MODEL} in the rain."
    at.desk.parser.afterwards = [lambda: at.desk.shelf.clock.move(ms=5)]
    with WAYS[way](), no_backoff():
        everything(at)
    log = at.log.getvalue()
    found = [word for word in (*WORDS, *at.keys) if word in log]
    assert not found, [line for line in log.splitlines() if any(word in line for word in found)][:3]
    if way == "well":
        check_done(at)


def check_done(at: Functions) -> None:
    """Make sure that what is looked through is what all functions have to say."""
    assert {line["service"] for line in at.lines()} == set(SERVICES.values())
    requests = [line for line in at.lines() if line["message"] == "request"]
    assert {line["operation"] for line in requests if line["status"] < 300} >= {
        *("put_turn", "put_artifact", "delete_task"),
        *("create_store", "create_memory", "update_memory", "delete_store"),
        *("add_memories", "search_memories", "forget_memory", "delete_file", "forget_user"),
        *("create_api_key", "revoke_api_key"),
    }
    assert max(line["status"] for line in requests) < 500
    assert {line.get("error") for line in at.lines() if line["service"] == "documents"} >= {None, "damaged"}


def test_an_error_that_ends_an_invocation_is_told_of_without_its_message(at: Functions) -> None:
    with faults(lambda call: Fault.THROTTLED if call.service == "dynamodb" else None):
        at.sweep()
    failed = [line for line in at.lines() if line["message"] == "invocation failed"]
    assert {(line["service"], line["error"], line["code"]) for line in failed} == {
        ("sweeper", "Unavailable", "ProvisionedThroughputExceededException")
    }
