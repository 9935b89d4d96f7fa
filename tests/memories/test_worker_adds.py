"""What an add becomes, when nothing goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.aws.writes import Update
from shared.extraction.port import Extraction, ExtractionFailed
from shared.memories.records import task_key
from shared.memories.rows import memory_id_of
from shared.tenancy.quotas import Reservation
from tests.emulator.faults import recorded
from tests.memories.fakes import Failing, SentenceExtractor
from tests.memories.works import ANA, SCOPE, answered, said, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.extraction.port import Conversation
    from tests.memories.works import Works


@pytest.fixture
def world() -> Iterator[Works]:
    with works() as made:
        yield made


def test_a_conversation_becomes_a_summary_its_facts_and_its_messages(world: Works) -> None:
    task = world.add(said("I live in Oslo. I have a cat."), answered("Nice."))
    assert task["status"] == "success"
    assert task["phase"] == "done"
    assert task["tries"] == 1
    assert world.texts("summary") == ["I live in Oslo. I have a cat. Nice."]
    assert world.facts() == ["I live in Oslo.", "I have a cat."]
    assert world.texts("raw") == ["I live in Oslo. I have a cat.", "Nice."]
    assert task["memory"] == {"total": 5}
    assert [e["event"] for e in task["events"]] == ["ADD"] * 5
    assert set(world.found("Oslo")) >= {"I live in Oslo."}


def test_nothing_but_the_task_and_the_memories_is_left(world: Works) -> None:
    world.add("I live in Oslo.")
    assert world.cloud.object_keys() == []
    names = sorted(item["sk"]["S"].split("#")[0] for item in world.cloud.items())
    assert names == ["f", "f", "lease", "m", "m", "m", "task"]
    assert world.rows(ANA)


def test_raw_adds_are_memories_as_they_came_found_in_every_mode(world: Works) -> None:
    task = world.add(said("Same words."), answered("Same words."), said(" padded\n"), mode="raw")
    assert world.texts() == ["Same words.", "Same words.", " padded\n"]
    assert {tuple(row["modes"]) for row in world.rows()} == {("summary", "facts", "raw")}
    assert {row["kind"] for row in world.rows()} == {"raw"}
    assert task["memory"] == {"total": 3}
    assert (world.extractor.calls, world.decider.asked) == (0, 0)


def test_a_raw_memory_has_the_id_of_its_message_and_its_neighbours(world: Works) -> None:
    task = world.add(said("Where are you?", sender_id="Ana"), answered("Here."), said("Good."), mode="raw")
    rows = world.rows()
    ids = [ANA.memory_id(task["task"], "raw", n) for n in range(3)]
    assert [memory_id_of(row) for row in rows] == ids
    assert [row["positions"] for row in rows] == [[0], [1], [2]]
    assert [(r["speaker"], r["previous"], r["following"]) for r in rows] == [
        ("Ana", "", "Here."),
        ("", "Ana: Where are you?", "Good."),
        ("", "Here.", ""),
    ]


def test_summaries_that_somebody_else_made_are_summaries(world: Works) -> None:
    world.add("They chose Rust.", "They chose S3.", mode="pre_summarized", content_type="code", session_id="s")
    assert world.texts("summary") == ["They chose Rust.", "They chose S3."]
    assert len(world.rows()) == 2
    assert {(r["content_type"], r["session_id"]) for r in world.rows()} == {("code", "s")}


def test_add_only_adds_what_is_known_and_forgets_nothing(world: Works) -> None:
    world.add("city: Oslo.")
    world.add("city: Oslo. city: Rome. Forget: city: Oslo.", add_only=True)
    assert world.facts() == ["city: Oslo.", "city: Oslo.", "city: Rome."]
    assert world.all_past() == []
    assert world.add("city: Oslo.")["status"] == "success"


@pytest.mark.parametrize(
    ("message_at", "request_at", "event_at"),
    [(1_700_000_000_000, 5, 1_700_000_000_000), (None, 5, 5), (None, None, None)],
)
def test_the_event_time_is_the_message_s_else_the_request_s(
    world: Works, message_at: int | None, request_at: int | None, event_at: int | None
) -> None:
    world.add(said("city: Oslo.", at=message_at), at=request_at)
    assert {row["event_at"] for row in world.rows()} == {event_at}


def test_where_a_memory_comes_from_is_kept_with_it(world: Works) -> None:
    origin = {"agent_id": "a", "app_id": "b", "session_id": "c", "metadata": {"x": 0.1}, "key_id": "k"}
    world.add("city: Oslo.", **origin)
    for row in world.rows():
        assert {name: row[name] for name in origin} == {**origin, "metadata": '{"x":0.1}'}


def test_a_text_too_long_for_a_row_is_an_object_and_is_found(world: Works) -> None:
    long = "the quick brown fox " * 2000 + "zebra"
    world.add(long, mode="raw")
    (row,) = world.rows()
    assert "text" not in row
    assert row["size"] == len(long)
    assert world.texts() == [long]
    assert world.found("zebra") == [long]


def test_what_is_written_in_order_is_listed_in_order(world: Works) -> None:
    texts = [f"message {n}" for n in range(40)]
    world.add(*texts, mode="raw")
    assert world.texts() == texts


def test_two_hundred_long_messages_are_written_in_few_transactions(world: Works) -> None:
    texts = [f"{n} " + "word " * 1000 for n in range(200)]
    with recorded() as calls:
        task = world.add(*texts, mode="raw")
    assert task["memory"] == {"total": 200}
    assert world.texts() == texts
    assert calls.names.count("dynamodb.TransactWriteItems") < 10


def test_a_conversation_that_teaches_nothing_is_a_success(world: Works) -> None:
    class Bored:
        def extract(self, _: object) -> Extraction:
            return Extraction(None)

    world.extractor = Bored()
    task = world.add("Hello!")
    assert (task["status"], task["memory"]) == ("success", {"total": 1})
    assert world.texts() == ["Hello!"]


def test_what_was_said_before_is_for_the_extractor_and_is_not_stored(world: Works) -> None:
    heard: list[Conversation] = []

    class Listening(SentenceExtractor):
        def extract(self, conversation: Conversation) -> Extraction:
            heard.append(conversation)
            return super().extract(conversation)

    world.extractor = Listening()
    world.add(
        said("Yes.", at=7),
        context=({"role": "user", "content": "Do we retry?"},),
        instructions="Keep decisions.",
        content_type="code",
        language="en",
    )
    (conversation,) = heard
    assert conversation.context == ("Do we retry?",)
    assert (conversation.instructions, conversation.code) == ("Keep decisions.", True)
    assert (conversation.language, conversation.at) == ("en", 7)
    assert not [text for text in world.texts() if "retry" in text]


def test_an_add_costs_no_more_calls_when_its_user_has_more_memories(world: Works) -> None:
    def calls() -> int:
        with recorded() as made:
            world.add("pet: cat.")
        return made.total

    first, second = calls(), calls()
    for n in range(10):
        world.add(f"number {n}: {n}.", mode="raw")
    assert calls() <= max(first, second)


def test_a_call_of_the_quota_is_open_until_the_task_ends(world: Works) -> None:
    reservation = Reservation(("Q#acme#202609", "default#key"), "memory_write")
    world.table.write(Update(reservation.key, add={"memory_write": 2, "memory_write_open": 2}))
    good, bad = world.task("city: Oslo."), world.task("city: Rome.")
    for task in (good, bad):
        world.table.write(Update(task_key(SCOPE, task), {"reservation": [*reservation.key, reservation.kind]}))
    world.deliver(good)
    assert counter(world, reservation) == (2, 1)
    world.extractor = Failing(world.extractor, lambda _: ExtractionFailed("No."))
    for _ in range(2):
        world.deliver(bad)
    assert counter(world, reservation) == (1, 0)


def counter(world: Works, reservation: Reservation) -> tuple[int, int]:
    row = world.table.get(reservation.key) or {}
    return row["memory_write"], row["memory_write_open"]
