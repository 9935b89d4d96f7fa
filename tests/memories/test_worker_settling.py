"""Tasks that nobody came to, that died without a word, or that are long over: the sweeper's care."""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from functions.platform import sweeper
from shared.aws.items import key_of
from shared.aws.writes import Put, Update
from shared.extraction.language_model.parts import PARTS
from shared.extraction.language_model.reply import FACTS
from shared.kernel.clock import DAY_MS
from shared.memories.erasing import Erasing
from shared.memories.leftovers import Leftovers
from shared.memories.records import UserAddress, task_key
from shared.memories.settling import Settling
from shared.retention.records import job, object_key
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.line import Line, line
from tests.memories.works import ANA, SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.aws.items import Item

MINUTE = 60_000
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 600_000)


@pytest.fixture
def queue() -> Iterator[Line]:
    with line() as made:
        yield made


def sweep(queue: Line) -> dict[str, Any]:
    """Run the sweeper's five-minute job."""
    environ = queue.world.cloud.environment("SweeperFunction")
    told: dict[str, Any] = sweeper.build(environ, queue.world.cloud.aws, queue.world.clock)({"job": "sweep"}, CONTEXT)
    assert told["errors"] == 0, told
    return told


def pass_time(queue: Line, *, minutes: int = 0, days: int = 0) -> None:
    queue.world.clock.move(ms=minutes * MINUTE + days * DAY_MS)


def status(queue: Line, task: str) -> str | None:
    found = queue.world.table.get(task_key(SCOPE, task))
    return found["status"] if found else None


def test_a_task_whose_message_was_never_sent_is_sent_after_five_minutes(queue: Line) -> None:
    task = queue.world.task("city: Oslo.")
    pass_time(queue, minutes=4)
    sweep(queue)
    assert queue.is_empty()
    pass_time(queue, minutes=2)
    sweep(queue)
    queue.run()
    assert status(queue, task) == "success"
    assert queue.world.facts() == ["city: Oslo."]


def test_a_task_that_waits_behind_others_is_sent_again_and_done_once(queue: Line) -> None:
    task = queue.add("city: Oslo.")
    pass_time(queue, minutes=6)
    sweep(queue)
    sweep(queue)
    queue.run()
    assert queue.world.row(task)["tries"] == 1
    assert queue.world.facts() == ["city: Oslo."]


def test_a_task_that_died_without_its_message_is_ended_by_the_next_one(queue: Line) -> None:
    task = queue.world.task("city: Oslo.")
    with kill_at(8), suppress(Killed):
        queue.world.deliver(task)
    assert status(queue, task) == "processing"
    pass_time(queue, minutes=6)
    sweep(queue)
    queue.run()
    assert status(queue, task) == "success"


@pytest.mark.parametrize("begun", [False, True], ids=["not begun", "begun"])
def test_no_task_is_processing_for_ever_though_no_worker_comes(queue: Line, *, begun: bool) -> None:
    task = queue.world.task("city: Oslo.")
    if begun:
        with kill_at(8), suppress(Killed):
            queue.world.deliver(task)
    hours = 0
    while status(queue, task) == "processing":
        pass_time(queue, minutes=60)
        sweep(queue)
        hours += 1
    row = queue.world.row(task)
    assert (row["status"], row["error"]["code"]) == ("failed", "not_processed")
    assert hours <= 26
    queue.run()
    assert queue.world.texts() == []


def test_every_death_of_a_worker_that_is_the_last_one_still_ends_the_task(queue: Line) -> None:
    tasks = []
    for step in range(1, 20):
        tasks.append(queue.world.task(f"number {step}: {step}.", address=UserAddress(SCOPE, str(step))))
        with kill_at(step), suppress(Killed):
            queue.world.deliver(tasks[-1])
    for _ in range(30):
        pass_time(queue, minutes=60)
        sweep(queue)
    assert {status(queue, task) for task in tasks} <= {"success", "failed", None}


def test_an_ended_task_is_gone_after_a_day_with_all_that_it_kept(queue: Line) -> None:
    task = queue.add("city: Oslo.")
    remembered = {"pk": ANA.pk, "sk": f"k#{ANA.user}#x", "task": task, "expires_at": 1}
    queue.world.table.write(Put(remembered))
    queue.world.table.write(Update(task_key(SCOPE, task), {"idempotency": [ANA.pk, remembered["sk"]]}))
    queue.run()
    pass_time(queue, days=1, minutes=10)
    sweep(queue)
    assert status(queue, task) is None
    assert names(queue) == {"f", "lease", "m", "open", "sweep"}
    assert queue.world.facts() == ["city: Oslo."]


def test_a_failed_task_keeps_its_payload_for_two_weeks_and_no_longer(queue: Line) -> None:
    task = failed(queue)
    pass_time(queue, days=13)
    sweep(queue)
    assert status(queue, task) == "failed"
    assert len(queue.world.cloud.object_keys()) == 1
    pass_time(queue, days=2)
    sweep(queue)
    assert status(queue, task) is None
    assert queue.world.cloud.object_keys() == []
    assert names(queue) <= {"lease", "open", "sweep"}


def test_what_a_failed_task_keeps_goes_with_all_of_its_user(queue: Line) -> None:
    failed(queue)
    told = Erasing(queue.world.backing).erase(ANA, "c")
    queue.run()
    receipt = Erasing(queue.world.backing).receipt(SCOPE, told["task_id"])
    assert receipt["status"] == "success"
    assert receipt["removed"]["objects"] == 1
    assert [key for key in queue.world.cloud.object_keys() if not key.startswith("keep/erasures")] == []


def test_a_task_of_which_the_sweeper_dies_is_settled_by_its_next_run(queue: Line) -> None:
    settling = Settling(queue.world.backing)
    for step in range(1, 8):
        task = failed(queue)
        pass_time(queue, days=15)
        with kill_at(step), suppress(Killed):
            settling.look(queue.world.row(task))
        row = queue.world.table.get(task_key(SCOPE, task))
        if row:
            settling.look(row)
        assert status(queue, task) is None
    assert queue.world.cloud.object_keys() == []
    assert names(queue) <= {"lease"}


def test_a_queue_that_is_down_leaves_the_task_for_the_next_run(queue: Line) -> None:
    task = queue.world.task("city: Oslo.")
    pass_time(queue, minutes=6)
    environ = queue.world.cloud.environment("SweeperFunction")
    handler = sweeper.build(environ, queue.world.cloud.aws, queue.world.clock)
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == "sqs" else None):
        assert handler({"job": "sweep"}, CONTEXT)["errors"] == 1
    pass_time(queue, minutes=5)
    sweep(queue)
    queue.run()
    assert status(queue, task) == "success"


def test_leftovers_of_a_change_are_handed_to_a_worker(queue: Line) -> None:
    queue.add("city: Oslo.")
    queue.run()
    (fact,) = queue.world.rows(ANA, "fact")
    memory = fact["sk"].removeprefix("m#")
    queue.world.objects.put("keep/20260101/acme/default/x", b"x", owner="nobody")
    work: Item = job("memory_leftovers", SCOPE, queue.world.clock.now_ms(), user_id="ana")
    work |= {"states": [[memory, 7], [memory, fact["revision"]]], "objects": ["keep/20260101/acme/default/x"]}
    queue.world.table.write(Put(work))
    pass_time(queue, minutes=5)
    sweep(queue)
    queue.run()
    assert queue.world.cloud.object_keys() == []
    assert queue.world.index.present(ANA.owner, {(memory, fact["revision"])})
    assert "J" not in {item["pk"]["S"][0] for item in queue.world.cloud.items()}


def test_the_most_that_one_add_can_leave_is_a_job_and_a_message(queue: Line) -> None:
    # Each fact of each part of what a model is asked, and each message, took the place of what was there.
    ends = 2 * (FACTS * PARTS + 200)
    leftovers = Leftovers(queue.world.backing, UserAddress(SCOPE, "\U0001f600" * 255))
    states = [(str(uuid.uuid4()), n + (1 << 40)) for n in range(ends)]
    objects = [object_key("keep", queue.world.clock.now_ms(), SCOPE) for _ in range(200)]
    work = leftovers.due(states, objects)
    queue.world.table.write(Put(work))
    told = queue.world.table.get(key_of(work))
    Settling(queue.world.backing).send_leftovers(told)
    (record,) = queue.receive()
    assert len(json.loads(record["Body"])["states"]) == ends


def failed(queue: Line) -> str:
    """Return a task that has failed."""

    class Broken:
        def extract(self, _: object) -> None:
            raise RuntimeError

    queue.means["extractor"] = Broken()
    task = queue.add("city: Oslo.")
    queue.run()
    queue.means.clear()
    queue.letters()
    assert status(queue, task) == "failed"
    return task


def names(queue: Line) -> set[str]:
    return {item["sk"]["S"].split("#")[0] for item in queue.world.cloud.items()}
