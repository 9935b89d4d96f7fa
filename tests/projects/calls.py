"""How many AWS calls each operation makes: `python -m tests.projects.calls` writes `docs/aws_calls.md` anew."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.emulator.faults import recorded
from tests.projects.scenes import LONG, Stage, nothing_beside, warm
from tests.projects.world import ROOT, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clients.events import Answer, Client
    from tests.emulator.faults import Calls
    from tests.projects.world import World

TABLE = Path(__file__).parents[2] / "docs" / "aws_calls.md"
HEAD = """# AWS calls of each operation

Written by `python -m tests.projects.calls`; a test fails when a number changes. *In a row* is the longest chain of
calls that wait for each other: it is what a caller waits for. The key is known to the function, as it is for all but
one request a minute, which reads it with one call more, and whether the table is open with another. The numbers do not
depend on how much is stored; what has long summaries, long meta or more than one page costs what it returns. Memory
stores have [a table of their own](memory_stores.md#what-an-operation-asks-of-aws), and so have
memories: [adding](memories.md#what-an-add-asks-of-aws), [files](memories.md#what-files-ask-of-aws),
[the rest](memories.md#what-these-ask-of-aws).

## Project memory

| operation | in a row | in all | calls |
| --- | --- | --- | --- |
"""

TASK, TASKS, DIGEST = f"{ROOT}/tasks/t1", f"{ROOT}/tasks", f"{ROOT}/project.md"


class Operation(NamedTuple):
    """One operation: its name, and a function that prepares it in a stage and returns the request to measure."""

    name: str
    prepare: Callable[[Stage], Callable[[Client], Answer]]


def _turn(number: int = 1, summary: str = "short") -> Callable[[Client], Answer]:
    return lambda client: client.put(turn_path(turn=number), json_body={"summary_md": summary})


def _existing(
    request: Callable[[Client], Answer], summary: str = "short"
) -> Callable[[Stage], Callable[[Client], Answer]]:
    """Return a preparation by a turn with an artifact, and another task."""

    def prepare(stage: Stage) -> Callable[[Client], Answer]:
        stage.client.put(turn_path("other"), json_body={"summary_md": "short"})
        stage.turn(1, summary_md=summary)
        stage.artifact()
        return request

    return prepare


def _unchanged_digest(stage: Stage) -> Callable[[Client], Answer]:
    stage.turn(1, summary_md="short")
    etag = stage.client.get(DIGEST).etag
    return lambda client: client.get(DIGEST, headers={"If-None-Match": etag})


def _second_page(stage: Stage) -> Callable[[Client], Answer]:
    for task in ("t1", "t2", "t3"):
        stage.client.put(turn_path(task), json_body={})
    cursor = stage.client.get(TASKS, query={"limit": 1}).json["next_cursor"]
    return lambda client: client.get(TASKS, query={"limit": 1, "cursor": cursor})


def _upload(stage: Stage) -> Callable[[Client], Answer]:
    stage.turn(1, summary_md="short")
    body = {"upload_id": stage.begin_upload(b"bytes")}
    return lambda client: client.post(f"{artifact_path(name='a')}/complete", json_body=body)


def operations() -> Iterator[Operation]:
    """Yield every operation in the order of the table."""
    file = artifact_path(name="a")
    yield Operation("get turn", _existing(lambda client: client.get(turn_path())))
    yield Operation("get turn, summary above 32 KiB", _existing(lambda client: client.get(turn_path()), LONG))
    yield Operation("put turn", _existing(_turn(2)))
    yield Operation("put turn, first of its task", lambda _: _turn())
    yield Operation("put turn, replacing one", _existing(_turn()))
    yield Operation("put turn, taking the newest summary away", _existing(_turn(1, "")))
    yield Operation("put turn, summary above 32 KiB", _existing(_turn(2, LONG)))
    yield Operation(
        "patch turn", _existing(lambda client: client.patch(turn_path(), json_body={"meta": {"model": "m"}}))
    )
    yield Operation("get artifact", _existing(lambda client: client.get(file)))
    yield Operation("head artifact", _existing(lambda client: client.head(file)))
    yield Operation("put artifact", _existing(lambda client: client.put(artifact_path(name="b"), body=b"bytes")))
    yield Operation("put artifact, replacing one", _existing(lambda client: client.put(file, body=b"bytes")))
    yield Operation("put artifact, first of its task", lambda _: lambda client: client.put(file, body=b"bytes"))
    start = {"size": 5}
    yield Operation("start upload", _existing(lambda client: client.post(f"{file}/upload", json_body=start)))
    yield Operation("complete upload", _upload)
    yield Operation("list tasks", _existing(lambda client: client.get(TASKS)))
    yield Operation("list tasks, next page", _second_page)
    yield Operation("get task", _existing(lambda client: client.get(TASK)))
    yield Operation("delete task", _existing(lambda client: client.delete(TASK)))
    yield Operation("digest", _existing(lambda client: client.get(DIGEST)))
    yield Operation("digest, one summary above 32 KiB", _existing(lambda client: client.get(DIGEST), LONG))
    yield Operation("digest, not modified", _unchanged_digest)


def measured(operation: Operation, world: World, client: Client) -> Calls:
    """Return the calls of an operation in a project of its own."""
    stage = Stage(world, Stage.of(client, world, operation.name.replace(" ", "-").replace(",", "")).client, "t1")
    request = operation.prepare(stage)
    warm(stage.client)
    with recorded() as calls:
        answer = request(stage.client)
    assert answer.status in {200, 204, 304}, answer
    return calls


def table() -> str:
    """Return the whole document."""
    with nothing_beside(), project_world() as world:
        client = world.client()
        return HEAD + "".join(_row(operation, measured(operation, world, client)) for operation in operations())


def _row(operation: Operation, calls: Calls) -> str:
    names = ", ".join(f"{n}x {name}" if n > 1 else name for name, n in sorted(Counter(calls.names).items()))
    return f"| {operation.name} | {calls.sequential} | {calls.total} | {names} |\n"


def loaded(world: World, tasks: int) -> None:
    """Put so many tasks of one turn each into the empty table, past the API: as copies of one written through it."""
    client = world.client(project="big", principal="writer")
    client.put(turn_path("task-000000", 1), json_body={"summary_md": "short", "meta": {"model": "m"}})
    seed = [item for item in world.cloud.items() if item["pk"]["S"].startswith(("P#acme#big", "T#acme#big"))]
    texts = []
    for item in seed:
        if "n" in item:
            texts.append(json.dumps({**item, "n": {"N": str(tasks)}}))
            continue
        text, at = json.dumps(item), item["updated_at"]["N"]
        # Older by a millisecond each, so that the seed stays the newest.
        texts += [text.replace("task-000000", f"task-{n:06d}").replace(at, str(int(at) - n)) for n in range(tasks)]
    others = [json.dumps(item) for item in world.cloud.items() if item not in seed]
    rows = world.cloud.table.rows
    for key in list(rows.items):
        rows.remove(key)
    rows.load([*others, *texts])


if __name__ == "__main__":
    TABLE.write_text(table())
