"""Projects of any size, loaded past the API, and the requests that must not feel it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.operations import ROOT, Operation, put_turn, request, turn
from shared.aws.items import encode_item
from shared.kernel.clock import DAY_MS, SystemClock
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.projects.content import Content, pack
from shared.projects.records import Address, count, expiry_index, newest_index, summary_index
from shared.retention.records import due_bucket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.stage import Stage


def scale_operations() -> list[Operation]:
    """Return the requests whose cost must not depend on the project's size."""
    return [
        Operation("put turn, new task", lambda n: put_turn(f"new{n:04d}")),
        Operation("put turn, existing task", lambda n: put_turn("task-000042", 100 + n)),
        Operation("get turn", lambda _: request("GET", turn("task-000042", 1))),
        Operation("list tasks (50)", lambda _: request("GET", f"{ROOT}/tasks")),
        Operation("delete task", lambda n: request("DELETE", f"{ROOT}/tasks/new{n:04d}")),
    ]


def load_tasks(stage: Stage, project: str, tasks: int) -> None:
    """Put `tasks` tasks of one turn each into both stacks."""
    stage.load(list(_rows(Scope("bench", project), tasks)))


def _rows(scope: Scope, tasks: int) -> Iterator[dict[str, Any]]:
    packed = pack(Content({"agent_id": "a"}, "# Done\n"))
    now = SystemClock().now_ms() - tasks
    for n in range(tasks):
        address, gen, at = Address(scope, f"task-{n:06d}", 1), ulid(now), now + n
        until = at + 30 * DAY_MS
        row = {"gen": gen, "created_at": at, "updated_at": at}
        pk, sk = address.task_key
        told = {"latest_turn": 1, "turn_count": 1, "digest_turn": 1, "digest_bytes": 7, "owner": "apikey_x"}
        ends = {"retain_until": until, "retention_days": 30, "due": due_bucket(until, address.task_id)}
        places = {"l1": newest_index(at, address.task_id), "l2": expiry_index(until, address.task_id)}
        yield encode_item({"pk": pk, "sk": sk, "kind": "task", **row, **told, **ends, **places})
        pk, sk = address.turn_key
        turn_row = {"pk": pk, "sk": sk, "kind": "turn", "rev": ulid(now), "artifact_count": 0, **row}
        yield encode_item({**turn_row, "l2": summary_index(gen, 1), **packed.attributes})
    counter = count(scope, tasks)
    yield encode_item({"pk": counter.key[0], "sk": counter.key[1], "l1": counter.put["l1"], "n": tasks})
