"""One request is followed from the API to whatever works on it later, by the query that operations name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.emulator.faults import Fault, faults
from tests.memories.documents.desk import file
from tests.projects.world import turn_path
from tests.template.stack import ROOT

if TYPE_CHECKING:
    from tests.logs.stack import Functions

ID = "follow-me-7"
NAMED = {"x-correlation-id": ID}
ADD = "/v1/memories/add"


def query() -> str:
    guide = (ROOT / "docs/operations.md").read_text("utf-8").partition("### Following one request")[2]
    return guide.partition("```\n")[2].partition("```")[0]


def asked(at: Functions, value: str) -> list[dict[str, Any]]:
    """Return what the query gives of all log groups: its fields of the lines that its filter lets through."""
    fields = re.findall(r"[@\w.]+", re.findall(r"^fields (.+)$", query(), re.MULTILINE)[0])
    conditions = re.findall(r"(\w+) = \"PUT-THE-ID-HERE\"", query())
    assert conditions
    found = [line for line in at.lines() if value in [line.get(name) for name in conditions]]
    return [{name: at_path(line, name) for name in fields if not name.startswith("@")} for line in found]


def at_path(line: dict[str, Any], path: str) -> Any:
    """Return what Logs Insights finds under a name: a dot leads into what is nested."""
    value: Any = line
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def add(at: Functions, *parts: Any) -> None:
    content = [{"type": "text", "text": "I keep bees."}, *parts]
    body = {"user_id": "ann", "messages": [{"role": "user", "content": content, "timestamp": -1}]}
    answer = at.client("MemoriesFunction").post(ADD, json_body=body, headers=NAMED)
    assert answer.status == 202, answer.content


def told(at: Functions, value: str = ID) -> list[tuple[str, str | None]]:
    """Return who says something of a request, and of what work."""
    return [(line["service"], line["work"] or line["operation"]) for line in asked(at, value)]


def test_an_add_with_a_file_is_followed_to_the_reader_and_the_worker(at: Functions) -> None:
    add(at, file("Cedar."))
    at.work()
    assert told(at) == [
        ("memories", "add_memories"),
        ("documents", "read"),
        ("worker", "chunks"),
        ("worker", "add"),
    ]
    assert {line["outcome"] for line in asked(at, ID)} == {None, "done"}
    assert [line["status"] for line in asked(at, ID)] == [202, "parsed", "success", "success"]


def test_every_field_of_the_query_is_one_that_lines_have(at: Functions) -> None:
    with faults(lambda call: Fault.SERVER_ERROR if call.service == "s3" else None):
        add_refused(at)
    add(at, file("Cedar."), file("!damaged", "other.txt"))
    with faults(lambda call: Fault.SERVER_ERROR if call.service == "s3" else None):
        at.deliver("WorkerFunction")
        at.deliver("DocumentsFunction")
    at.work()
    lines = asked(at, ID)
    assert not [name for name in lines[0] if all(line[name] is None for line in lines)]


def add_refused(at: Functions) -> None:
    body = {"user_id": "ann", "messages": [{"role": "user", "content": "x" * 10_000, "timestamp": -1}]}
    assert at.client("MemoriesFunction").post(ADD, json_body=body, headers=NAMED).status == 503


def test_what_a_dependency_put_off_is_followed_to_why(at: Functions) -> None:
    add(at)
    reads = iter(range(100))  # whether the table is open can be read
    with faults(lambda call: Fault.THROTTLED if call.operation == "GetItem" and next(reads) > 0 else None):
        at.deliver("WorkerFunction")
    (_, late) = asked(at, ID)
    assert (late["work"], late["outcome"]) == ("add", "later")
    assert (late["code"], late["fault.error"]) == ("ProvisionedThroughputExceededException", "Unavailable")


def test_forgetting_a_user_or_a_file_is_followed_to_the_worker(at: Functions) -> None:
    client = at.client("MemoriesFunction")
    add(at, file("Cedar."))
    at.work()
    (there,) = client.get("/v1/files", query={"user_id": "ann"}).json["data"]["data"]
    client.delete(f"/v1/files/{there['id']}", headers={"x-correlation-id": "without-the-file"})
    client.delete("/v1/memories", query={"user_id": "ann"}, headers={"x-correlation-id": "without-ann"})
    at.work()
    assert told(at, "without-the-file")[1:] == [("worker", "unfile")]
    assert told(at, "without-ann")[1:] == [("worker", "erase")]


def test_a_request_is_found_by_the_id_of_its_answer_too(at: Functions) -> None:
    answer = at.client("ProjectsFunction").put(turn_path(), json_body={})
    assert told(at, answer.headers["request-id"]) == [("projects", "put_turn")]


def test_every_function_writes_to_the_group_that_the_query_is_asked_over() -> None:
    text = (ROOT / "template.yaml").read_text("utf-8")
    groups = re.findall(r"LogGroupName: !Sub (\S+)", text)
    assert groups
    assert {group.rpartition("/")[0] for group in groups} == {"/lodestore/${AWS::StackName}"}
    assert "`/lodestore/{stack}/" in (ROOT / "docs/operations.md").read_text("utf-8")
