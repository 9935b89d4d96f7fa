"""Holding messages and leases while work goes on, and no longer than a task may hold up its user."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.clock import SystemClock
from shared.memories.attempts import HUNG_MS, begin
from shared.memories.heartbeat import HELD_SECONDS, Heartbeat
from shared.memories.records import task_key
from tests.emulator.faults import Fault, faults
from tests.memories.fakes import Failing
from tests.memories.line import Line, line
from tests.memories.works import ANA, SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.memories.attempts import Attempt

BEAT_MS = 10_000


@pytest.fixture
def queue() -> Iterator[Line]:
    with line() as made:
        yield made


@pytest.fixture
def attempt(queue: Line) -> Attempt:
    task = queue.add("city: Oslo.")
    return begin(queue.world.table, queue.world.clock, queue.world.row(task))


def held(queue: Line, messages: list[Any]) -> Heartbeat:
    return Heartbeat(queue.world.queue, queue.world.clock, [m["ReceiptHandle"] for m in messages])


def seconds_until_seen(queue: Line) -> int:
    for second in range(1000):
        if queue.receive():
            return second
        queue.world.clock.move(ms=1000)
    raise AssertionError


def lease(queue: Line) -> dict[str, Any]:
    return queue.world.table.get(ANA.lease_key()) or {}


def test_messages_are_held_as_long_as_it_beats(queue: Line, attempt: Attempt) -> None:
    heart = held(queue, queue.receive())
    heart.watch(attempt)
    for _ in range(6):
        heart.beat()
        queue.world.clock.move(ms=BEAT_MS)
        assert queue.receive() == []
    assert seconds_until_seen(queue) <= HELD_SECONDS + 1


def test_a_lease_is_renewed_with_each_beat(queue: Line, attempt: Attempt) -> None:
    heart = held(queue, queue.receive())
    heart.watch(attempt)
    before = lease(queue)["until"]
    queue.world.clock.move(ms=BEAT_MS)
    heart.beat()
    assert lease(queue)["until"] > before


def test_an_attempt_that_gets_nowhere_is_not_held_beyond_its_share(queue: Line, attempt: Attempt) -> None:
    heart = held(queue, queue.receive())
    heart.watch(attempt)
    began = queue.world.clock.now
    while queue.world.clock.now < began + 10 * 60_000:
        heart.beat()
        if queue.receive():
            break
        queue.world.clock.move(ms=BEAT_MS)
    assert HUNG_MS <= queue.world.clock.now - began <= HUNG_MS + 2 * BEAT_MS


def test_a_message_that_hangs_its_worker_is_ended_within_two_minutes(queue: Line) -> None:
    class Hanging(BaseException):
        pass

    hangs = Failing(queue.world.extractor, lambda _: Hanging())
    task, began = queue.add("city: Oslo."), queue.world.clock.now
    while queue.world.row(task)["status"] == "processing":
        with held(queue, queue.receive()) as heart, suppress(Hanging):
            worker = queue.world.worker(extractor=hangs)
            worker.deliver(task_key(SCOPE, task), late=lambda: False, watch=heart.watch)
        while queue.world.row(task)["status"] == "processing" and not visible(queue):
            heart.beat()
            queue.world.clock.move(ms=BEAT_MS)
    assert queue.world.clock.now - began < 120_000


def visible(queue: Line) -> bool:
    """Tell whether the queue would give a message out."""
    answer: Any = queue.world.cloud.aws.sqs.get_queue_attributes(
        QueueUrl=queue.world.queue.url, AttributeNames=["ApproximateNumberOfMessages"]
    )
    return bool(int(answer["Attributes"]["ApproximateNumberOfMessages"]))


def test_a_worker_that_comes_back_after_an_hour_goes_on(queue: Line, attempt: Attempt) -> None:
    queue.world.clock.move(ms=3_600_000)
    queue.run()
    assert queue.world.row(attempt.task["task"])["status"] == "success"


def test_progress_gives_an_attempt_its_time_anew(queue: Line, attempt: Attempt) -> None:
    heart = held(queue, queue.receive())
    heart.watch(attempt)
    for _ in range(30):
        attempt.progress(phase="indexing")
        heart.beat()
        queue.world.clock.move(ms=BEAT_MS)
        assert queue.receive() == []


def test_what_is_let_go_comes_again_when_it_was_said_to(queue: Line) -> None:
    queue.add("city: Oslo.")
    messages = queue.receive()
    heart = held(queue, messages)
    heart.beat()
    heart.let_go(messages[0]["ReceiptHandle"], 4)
    heart.beat()
    assert 3 <= seconds_until_seen(queue) <= 5


def test_a_queue_or_table_that_is_down_for_a_beat_stops_nothing(queue: Line, attempt: Attempt) -> None:
    heart = held(queue, queue.receive())
    heart.watch(attempt)
    with faults(lambda _: Fault.SERVER_ERROR):
        heart.beat()
    heart.beat()
    assert lease(queue)["token"] == attempt.token


def test_receipts_of_another_receive_are_left_out(queue: Line) -> None:
    queue.add("city: Oslo.")
    heart = Heartbeat(queue.world.queue, queue.world.clock, ["not-a-receipt", queue.receive()[0]["ReceiptHandle"]])
    heart.beat()
    assert seconds_until_seen(queue) <= HELD_SECONDS + 1


def test_it_beats_while_it_is_entered_and_ends_with_it(queue: Line) -> None:
    queue.add("city: Oslo.")
    with held(queue, queue.receive()) as heart:
        thread = heart._thread
        assert thread
        assert thread.is_alive()
    assert not thread.is_alive()


def test_a_message_that_is_let_go_while_the_heart_beats_is_not_held_again() -> None:
    class Slow:
        def __init__(self) -> None:
            self.asked: list[int] = []
            self.beating, self.go_on = Event(), Event()

        def hold(self, _: Any, seconds: int) -> None:
            if seconds == HELD_SECONDS:
                self.beating.set()
                self.go_on.wait(60)
            self.asked.append(seconds)

    queue: Any = Slow()
    heart = Heartbeat(queue, SystemClock(), ["one", "two"])
    with ThreadPoolExecutor(2) as pool:
        beat = pool.submit(heart.beat)
        queue.beating.wait(60)
        letting_go = pool.submit(heart.let_go, "one", 0)
        wait([letting_go], 0.2)
        queue.go_on.set()
        beat.result()
        letting_go.result()
    assert queue.asked == [HELD_SECONDS, 0]
