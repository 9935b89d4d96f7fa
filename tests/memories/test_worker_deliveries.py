"""Messages that come twice, late, out of order or poisoned; and dependencies that are down."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from shared.extraction.port import ExtractionFailed
from shared.kernel.errors import Unavailable
from shared.memories.records import UserAddress
from shared.memories.tasks import message_of
from shared.wiring.working import Working
from tests.emulator.faults import Fault, faults
from tests.memories.fakes import Failing
from tests.memories.line import Line, line
from tests.memories.works import ANA, SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BEN = UserAddress(SCOPE, "ben")
TWO_MINUTES = 120


@pytest.fixture
def queue() -> Iterator[Line]:
    with line() as made:
        yield made


def poison(text: str, error: Callable[[], BaseException]) -> Callable[[Any], Any]:
    """Return what stands in front of an extractor and fails at every conversation that says `text`."""

    class Poisoned:
        def __init__(self, behind: Any) -> None:
            self.behind = behind

        def extract(self, conversation: Any) -> Any:
            if any(text in turn.text for turn in conversation.turns):
                raise error()
            return self.behind.extract(conversation)

    return Poisoned


def test_adds_of_one_user_are_worked_on_in_order_and_leave_the_queue(queue: Line) -> None:
    tasks = [queue.add(f"number: {n}.") for n in range(5)]
    queue.run()
    assert queue.world.facts() == ["number: 4."]
    assert {queue.world.row(task)["status"] for task in tasks} == {"success"}
    assert queue.is_empty()
    assert queue.letters() == []


def test_twenty_adds_of_one_fact_at_once_are_one_memory(queue: Line) -> None:
    tasks = [queue.add("I like tea.", mode="default") for _ in range(20)]
    queue.run()
    assert {queue.world.row(task)["status"] for task in tasks} == {"success"}
    assert queue.world.facts() == ["I like tea."]


def test_a_message_that_comes_twice_changes_nothing(queue: Line) -> None:
    task = queue.add("I have a cat.")
    first = queue.receive()
    queue.work(first)
    before = queue.world.cloud.items()
    queue.work(first)
    assert queue.world.cloud.items() == before
    assert queue.world.row(task)["tries"] == 1


def test_messages_in_the_wrong_order_end_as_they_were_worked_on(queue: Line) -> None:
    first, second = queue.world.task("city: Rome."), queue.world.task("city: Bonn.")
    queue.send(second, first)
    queue.run()
    assert queue.world.facts() == ["city: Rome."]
    assert [p["text"] for p in queue.world.all_past() if p["text"]] == ["city: Bonn."]


def test_one_bad_message_fails_alone_in_a_batch_of_many_users(queue: Line) -> None:
    users = [UserAddress(SCOPE, f"user {n}") for n in range(5)]
    queue.means["extractor"] = poison("bad", lambda: RuntimeError("boom"))(queue.world.extractor)
    tasks = [queue.add("bad" if n == 2 else "good.", address=user) for n, user in enumerate(users)]
    behind = queue.add("behind.", address=users[2])
    again = queue.work(queue.receive())
    assert len(again) == 2
    assert [queue.world.row(t)["status"] for t in tasks] == ["success", "success", "processing", "success", "success"]
    assert queue.world.row(behind)["tries"] == 0


def test_a_user_whose_message_is_to_come_again_waits_for_no_other_user_of_the_batch(queue: Line) -> None:
    got: list[Any] = []

    class Slow:
        def extract(self, conversation: Any) -> Any:
            if "bad" in conversation.turns[0].text:
                raise RuntimeError
            queue.world.clock.move(ms=5_000)
            got.extend(queue.receive())
            return queue.world.extractor.extract(conversation)

    queue.means["extractor"] = Slow()
    tasks = [queue.add("bad"), queue.add("behind."), queue.add("slow.", address=BEN)]
    again = queue.work(queue.receive())
    assert [json.loads(message["Body"])["task"] for message in got] == tasks[:2]
    assert again == {message["MessageId"] for message in got}


def test_a_poisoned_message_becomes_a_dead_letter_within_two_minutes_and_the_next_go_on(queue: Line) -> None:
    queue.means["extractor"] = poison("bad", lambda: RuntimeError("boom"))(queue.world.extractor)
    bad, good = queue.add("bad"), queue.add("good.")
    assert queue.run() < TWO_MINUTES
    failed = queue.world.row(bad)
    assert (failed["status"], failed["tries"]) == ("failed", 3)
    assert failed["error"]["code"] == "internal_error"
    assert "boom" not in json.dumps(failed["error"])
    assert queue.world.row(good)["status"] == "success"
    letters = [json.loads(letter) for letter in queue.letters()]
    assert letters == [{**message_of(failed), "reason": "internal_error"}]
    assert "letter" not in failed


def test_a_message_that_kills_its_worker_each_time_is_ended_within_two_minutes(queue: Line) -> None:
    class Dead(BaseException):
        pass

    queue.means["extractor"] = poison("bad", Dead)(queue.world.extractor)
    bad, good = queue.add("bad"), queue.add("good.")
    seconds = 0
    while not queue.is_empty():
        try:
            while messages := queue.receive():
                queue.work(messages)
        except Dead:
            pass
        queue.world.clock.move(ms=1000)
        seconds += 1
    assert seconds < TWO_MINUTES
    assert queue.world.row(bad)["status"] == "failed"
    assert queue.world.row(good)["status"] == "success"
    assert len(queue.letters()) == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"work":"add"}', '{"work":"dance","tenant":"a","project":"b"}']
)
def test_a_message_that_is_none_of_ours_becomes_a_dead_letter_at_once(queue: Line, text: str) -> None:
    queue.send_body(text or " ")
    queue.run()
    assert [json.loads(letter)["reason"] for letter in queue.letters()] == ["unreadable"]


def test_a_message_whose_task_is_gone_is_done(queue: Line) -> None:
    queue.send_body(
        {"work": "add", "tenant": "acme", "project": "default", "task": "0" * 8 + "-0000-4000-8000-" + "0" * 12}
    )
    assert queue.run() == 0
    assert queue.letters() == []


def test_what_a_model_answered_in_vain_is_kept_with_the_failed_task(queue: Line) -> None:
    failed = ExtractionFailed("The model's answer is no JSON.", reply="Sure! Here is")
    queue.means["extractor"] = poison("odd", lambda: failed)(queue.world.extractor)
    task = queue.world.row(queue.add("odd"))
    assert queue.run() == 0
    task = queue.world.row(task["task"])
    assert (task["status"], task["tries"], task["reply"]) == ("failed", 1, "Sure! Here is")
    assert task["error"]["code"] == "extraction_failed"
    assert "raw" in task["error"]["message"]
    assert len(queue.letters()) == 1


@pytest.mark.parametrize("what", ["index", "embedder", "extractor"])
def test_a_dependency_that_is_down_and_comes_back_loses_nothing(queue: Line, what: str) -> None:
    numbers = count()
    down = lambda _: Unavailable() if next(numbers) < 4 else None  # noqa: E731
    queue.means[what] = Failing(getattr(queue.world, what), down)
    task = queue.add("city: Oslo. pet: dog.")
    assert queue.run() < TWO_MINUTES
    assert queue.world.row(task)["status"] == "success"
    assert queue.world.facts() == ["city: Oslo.", "pet: dog."]
    assert queue.letters() == []


@pytest.mark.parametrize("what", ["index", "embedder", "extractor"])
def test_a_dependency_that_stays_down_ends_the_task_and_the_next_adds_go_on(queue: Line, what: str) -> None:
    queue.means[what] = Failing(getattr(queue.world, what), lambda _: Unavailable())
    task = queue.add("city: Oslo.")
    assert queue.run() < TWO_MINUTES
    row = queue.world.row(task)
    assert (row["status"], row["error"]["code"]) == ("failed", "dependency_unavailable")
    assert len(queue.letters()) == 1
    assert queue.world.texts() == []
    del queue.means[what]
    after = queue.add("city: Rome.")
    queue.run()
    assert queue.world.row(after)["status"] == "success"


def test_an_index_that_does_not_find_what_it_took_is_no_success(queue: Line) -> None:
    class Forgetful:
        def __init__(self, behind: Any) -> None:
            self.behind, self.forgets = behind, 2

        def __getattr__(self, name: str) -> Any:
            return getattr(self.behind, name)

        def put(self, passages: Any) -> None:
            self.forgets -= 1
            if self.forgets < 0:
                self.behind.put(passages)

    queue.means["index"] = Forgetful(queue.world.index)
    task = queue.add("city: Oslo.")
    queue.work(queue.receive())
    assert queue.world.row(task)["status"] == "processing"
    queue.run()
    assert queue.world.row(task)["status"] == "success"
    assert "city: Oslo." in queue.world.found("Oslo")


def test_a_function_whose_time_is_over_begins_nothing(queue: Line) -> None:
    task = queue.add("city: Oslo.")
    queue.remaining_ms = 1000
    assert len(queue.work(queue.receive())) == 1
    assert queue.world.row(task)["tries"] == 0
    queue.remaining_ms = 150_000
    assert queue.run() <= 1
    assert queue.world.row(task)["status"] == "success"


def test_a_dead_worker_frees_its_user_in_half_a_minute_though_the_queue_hides_for_longer(queue: Line) -> None:
    class Dead(BaseException):
        pass

    queue.means["extractor"] = poison("", Dead)(queue.world.extractor)
    task = queue.add("city: Oslo.")
    with pytest.raises(Dead):
        queue.work(queue.receive())
    queue.means.clear()
    assert 29 <= queue.run() <= 32
    assert queue.world.row(task)["status"] == "success"


def test_a_failed_task_can_be_driven_again(queue: Line) -> None:
    from shared.memories.settling import redrive  # noqa: PLC0415

    queue.means["extractor"] = poison("city", RuntimeError)(queue.world.extractor)
    task = queue.add("city: Oslo.", address=ANA)
    queue.run()
    queue.means.clear()
    assert redrive(queue.world.backing, SCOPE, task)
    queue.run()
    assert not redrive(queue.world.backing, SCOPE, task)
    row = queue.world.row(task)
    assert (row["status"], row["error"], row["memory"]["total"]) == ("success", None, 3)
    assert queue.world.facts() == ["city: Oslo."]
    assert queue.world.cloud.object_keys() == []
    assert not [i for i in queue.world.cloud.items() if i["sk"]["S"].startswith("x#")]


def test_dead_letters_that_can_t_be_sent_leave_the_message_for_a_later_delivery(queue: Line) -> None:
    queue.means["extractor"] = poison("bad", lambda: ExtractionFailed("No."))(queue.world.extractor)
    task = queue.add("bad")
    with faults(lambda call: Fault.SERVER_ERROR if call.operation == "SendMessage" else None):
        assert len(queue.work(queue.receive())) == 1
    assert queue.world.row(task)["status"] == "failed"
    queue.run()
    assert len(queue.letters()) == 1
    assert queue.is_empty()


def test_a_worker_that_can_t_even_be_built_says_so_and_leaves_the_messages(
    queue: Line, capsys: pytest.CaptureFixture[str]
) -> None:
    task = queue.add("city: Oslo.")
    with patch.object(Working, "deliveries", side_effect=RuntimeError("boom")):
        assert len(queue.work(queue.receive())) == 1
    assert '"WorkFaults":[1.0]' in capsys.readouterr().out
    queue.run()
    assert queue.world.row(task)["status"] == "success"
