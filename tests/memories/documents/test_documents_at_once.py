"""Adds, readers and workers that meet at one document, and messages that come twice, late or never."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from functions.memories import documents, worker
from infra.local.queues import event_of, failed_of
from infra.local.transactions import Conflicts
from shared.kernel.errors import Unavailable
from shared.kernel.scope import Scope
from shared.memories.delivery import Deliveries
from shared.memories.files.intake import Intake
from shared.memories.files.reading import FOLDER
from shared.memories.files.readings import Readings, send_reading
from shared.memories.files.sending import chunks_message, read_message
from shared.memories.letters import Message
from shared.memories.outcome import State
from shared.memories.reindexing import Reindexing
from shared.memories.settling import redrive
from shared.search.embedded.index import EmbeddedIndex
from shared.search.embedded.rebuilding import EmbeddedRebuild
from shared.wiring.documents import Documents
from shared.wiring.memories import Memories
from tests.emulator.faults import Killed, kill_at, recorded
from tests.memories.documents.desk import desk_world, file, image, never, paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.memories.documents.desk import Desk

SCOPE = Scope("acme", "default")


def taken(take: Callable[..., Any], body: dict[str, Any]) -> Any:
    from shared.kernel.strict_json import compact  # noqa: PLC0415

    return take(Message(compact(body)), late=never, watch=lambda _: None)


def filing(desk: Desk, task: str) -> Any:
    """Deliver the message of a task's first file to another worker."""
    return taken(Deliveries(desk.means, desk.dead).take, chunks_message(desk.row(task), 0))


def reading(desk: Desk, task: str) -> Any:
    """Deliver the message of a task's first file to another reader."""
    intake = Intake(desk.shelf.composed.backing, desk.eyes, desk.dead)
    return taken(intake.take, read_message(desk.row(task), 0))


def test_a_reader_that_was_taken_for_dead_writes_nothing_more(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.parser.afterwards.append(lambda: reading(desk, task))
    outcome = desk.read_one()
    assert outcome
    assert outcome.state is State.LEAVE
    desk.show_hidden()
    desk.work()
    assert desk.status(task)["files"][0]["chunks_done"] == 250
    desk.check_nothing_is_left_over()


def test_a_worker_that_was_taken_for_dead_leaves_nothing_in_the_index(desk: Desk) -> None:
    task = desk.add(file(paragraphs(100)))
    desk.read_one()
    again = [partial(filing, desk, task)]
    put = desk.shelf.index.index.put

    def slow(passages: Any) -> None:
        while again:
            again.pop()()
        put(passages)

    with patch.object(desk.shelf.index.index, "put", slow):
        outcome = desk.work_one()
    assert outcome
    assert outcome.state is State.LEAVE
    desk.show_hidden()
    desk.work()
    assert desk.status(task)["memory"] == {"total": 100}
    desk.check_nothing_is_left_over()
    assert len(desk.rows("m#")) == 100


def test_a_worker_that_was_taken_for_dead_leaves_nothing_of_a_file_that_is_gone(desk: Desk) -> None:
    task = desk.add(file(paragraphs(100)))
    desk.read_one()
    put, once = desk.shelf.index.index.put, [True]

    def slow(passages: Any) -> None:
        if once:
            once.pop()
            desk.reader.delete(f"/v1/files/{desk.job(task)['file']}")
            filing(desk, task)
            desk.work()
        put(passages)

    with patch.object(desk.shelf.index.index, "put", slow):
        desk.work_one()
    desk.show_hidden()
    desk.work()
    assert desk.indexed(), "what was put late is there still"
    desk.check_nothing_is_left_over()
    assert desk.indexed() == set()


def test_the_same_file_in_two_adds_at_once_is_one_document(desk: Desk) -> None:
    tasks = [desk.add(file(paragraphs(50))) for _ in range(2)]
    desk.read_one()
    desk.read_one()
    desk.work()
    told = [desk.status(task) for task in tasks]
    assert [one["memory"]["total"] for one in told] in ([50, 0], [0, 50])
    assert [one["files"][0]["chunks_done"] for one in told] == [50, 50]
    desk.check_nothing_is_left_over()
    assert len(desk.rows("m#")) == 50


def test_of_two_contents_under_one_name_the_later_one_stays_whichever_is_done_first(desk: Desk) -> None:
    first = desk.add(file("Cedar of yesterday."))
    desk.shelf.clock.move(ms=5)
    second = desk.add(file("Cedar of today."))
    reading(desk, second)
    filing(desk, second)
    desk.work()
    assert [desk.status(task)["status"] for task in (first, second)] == ["success", "success"]
    assert desk.found("cedar") == ["Cedar of today."]
    desk.check_nothing_is_left_over()


def test_messages_that_come_again_change_nothing(desk: Desk) -> None:
    told = desk.added(file(paragraphs(50)))
    before = desk.shelf.cloud.items()
    assert reading(desk, told["task_id"]).state is State.DONE
    assert filing(desk, told["task_id"]).state is State.DONE
    assert desk.shelf.cloud.items() == before


def test_a_message_that_was_lost_at_any_stage_is_sent_again_by_the_sweeper(desk: Desk) -> None:
    for stage in range(3):
        task = desk.add(file(f"Cedar {stage}.", f"{stage}.txt"))
        for _ in range(stage):
            desk.step()
        desk.lose_messages()
        assert desk.status(task)["status"] == "processing"
        desk.shelf.clock.move(ms=6 * 60_000)
        desk.shelf.sweep()
        desk.work()
        assert desk.status(task)["status"] == "success"
    assert len(desk.found("cedar")) == 3


def test_a_file_that_nobody_reads_fails_with_its_task_after_a_day(desk: Desk) -> None:
    task = desk.add(file("Cedar."))
    for _ in range(30):
        desk.shelf.clock.move(ms=3_600_000)
        desk.shelf.sweep()
    told = desk.status(task)
    assert (told["status"], told["error"]["code"]) == ("failed", "not_processed")
    assert told["files"][0]["status"] == "failed"
    desk.work()
    assert desk.status(task)["status"] == "failed"
    assert desk.found("cedar") == []
    assert redrive(desk.shelf.composed.backing, SCOPE, task)
    desk.work()
    assert (desk.status(task)["status"], desk.found("cedar")) == ("success", ["Cedar."])
    desk.check_nothing_is_left_over()


def test_a_reader_that_dies_of_a_file_each_time_gives_it_up(desk: Desk) -> None:
    broken = partial(next, iter(()))
    task = desk.add(file("Cedar."))

    def fail() -> None:
        desk.parser.afterwards.append(fail)
        broken()

    desk.parser.afterwards.append(fail)
    desk.work()
    told = desk.status(task)
    assert (told["status"], told["error"]["code"]) == ("failed", "files_failed")
    assert told["files"][0]["error"]["code"] == "internal_error"
    assert len(desk.parser.read) == 3
    (letter,) = desk.letters()
    assert (letter["work"], letter["reason"]) == ("add", "files_failed")
    desk.parser.afterwards.clear()
    assert redrive(desk.shelf.composed.backing, SCOPE, task)
    desk.work()
    assert (desk.status(task)["status"], desk.found("cedar")) == ("success", ["Cedar."])
    desk.check_nothing_is_left_over()


def test_an_old_message_to_file_what_is_to_be_read_anew_has_the_worker_send_nothing_that_it_may_not(desk: Desk) -> None:
    task = desk.add(file("Cedar."))
    for _ in range(30):
        desk.shelf.clock.move(ms=3_600_000)
        desk.shelf.sweep()
    desk.lose_messages()
    assert redrive(desk.shelf.composed.backing, SCOPE, task)
    backing = replace(desk.shelf.composed.backing, documents_queue=None)  # as the worker has it
    deliveries = Deliveries(replace(desk.means, backing=backing), desk.dead)
    outcome = taken(deliveries.take, chunks_message(desk.row(task), 0))
    assert (outcome.state, outcome.fault) == (State.DONE, None)
    desk.work()
    assert (desk.parser.read, desk.status(task)["status"]) == (["txt"], "success")


def test_a_file_waits_for_a_model_that_is_down_and_is_given_up_in_the_end(desk: Desk) -> None:
    desk.seer.down = 4
    assert desk.added(image(), content_type="work")["status"] == "success"
    desk.seer.down = 100
    told = desk.added(image(number=2), content_type="work")
    assert told["images"][0]["error"]["code"] == "dependency_unavailable"
    assert desk.seer.down == 90


def test_a_search_index_that_is_down_is_waited_for(desk: Desk) -> None:
    task = desk.add(file(paragraphs(50)))
    desk.read_one()
    desk.shelf.index.broken = {"put"}
    for _ in range(4):
        desk.work_one()
        desk.show_hidden()
    assert desk.status(task)["files"][0]["status"] == "processing"
    desk.shelf.index.broken = set()
    desk.work()
    assert desk.status(task)["status"] == "success"
    desk.check_nothing_is_left_over()


def test_what_the_index_lost_before_the_switch_is_put_again(desk: Desk) -> None:
    desk.add(file(paragraphs(90)))
    desk.read_one()
    looks = iter([False, False, True])
    desk.work_one(lambda: next(looks))
    desk.shelf.index.index.remove(desk.shelf.address().owner, list(desk.indexed())[:30])
    desk.show_hidden()
    desk.work()
    assert len(desk.indexed()) == 90


def test_an_index_made_anew_has_documents_and_what_is_being_filed(desk: Desk) -> None:
    desk.added(file("Cedar of old.", "old.txt"), image("An otter."), content_type="work")
    desk.add(file(paragraphs(90)))
    desk.read_one()
    looks = iter([False, False, True])
    desk.work_one(lambda: next(looks))
    shelf = desk.shelf
    before, old = desk.indexed(), shelf.index.index
    old.close()
    rebuild = EmbeddedRebuild(shelf.folder, shelf.embedder.name, shelf.embedder.dimension)
    Reindexing(shelf.table, shelf.objects, shelf.embedder, rebuild=rebuild).run(lambda _: None)
    shelf.index.index = EmbeddedIndex(shelf.folder, shelf.embedder.name, shelf.embedder.dimension)
    assert desk.indexed() == before
    desk.show_hidden()
    desk.work()
    assert desk.found("cedar of old", k_dense=0)[0] == "Cedar of old."
    assert desk.found("number 0", k_dense=0)[0] == "The cedar rule number 0 holds."
    assert desk.reader.texts("otter") == ["An otter."]
    desk.check_nothing_is_left_over()


def test_a_message_that_is_none_of_the_readers_is_a_dead_letter(desk: Desk) -> None:
    for number, body in enumerate(['{"work":"add"}', "nonsense", '{"work":"read","tenant":"acme","project":"p"}']):
        desk.shelf.cloud.aws.sqs.send_message(
            QueueUrl=desk.documents_url,
            MessageBody=body,
            MessageGroupId=f"g{number}",
            MessageDeduplicationId=str(number),
        )
    desk.work()
    assert [letter["reason"] for letter in desk.letters()] == ["unreadable"] * 3


def test_a_search_of_documents_reads_once(desk: Desk) -> None:
    desk.added("Cedar tea.", file("Cedar.", "1.txt"), file("Cedar two.", "2.txt"))
    desk.hits("cedar")
    with recorded() as calls:
        assert len(desk.reader.hits("cedar", output_mode="raw")) == 3
    assert calls.names == ["dynamodb.BatchGetItem"]


def test_a_list_without_chunks_reads_no_documents(desk: Desk) -> None:
    desk.added("Cedar tea.")
    with recorded() as calls:
        assert desk.reader.listed(desk.user)
    assert sorted(calls.names) == ["dynamodb.GetItem", "dynamodb.Query"]


def test_the_functions_themselves_read_and_file_in_batches(desk: Desk) -> None:
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 150_000)
    task = desk.add(file(paragraphs(50)))
    stack = desk.shelf.cloud
    environ = {**desk.shelf.environ, **stack.environment("DocumentsFunction"), "VISION": "none"}
    with patch.object(Documents, "eyes", desk.eyes):
        handler = documents.build(environ, stack.aws, desk.shelf.clock)
        _run(desk, desk.documents_url, partial(handler, context=context))
    folder = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(desk.shelf.folder)}
    environ = {**stack.environment("WorkerFunction"), **folder}
    with patch.object(Memories, "means", desk.means):
        filer = worker.build(environ, stack.aws, desk.shelf.clock)
        for _ in range(2):
            _run(desk, desk.queue_url, partial(filer, context=context))
    assert desk.status(task)["memory"] == {"total": 50}


def test_a_batch_whose_model_is_down_is_let_go_until_later(desk: Desk) -> None:
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 150_000)
    desk.add(image(), content_type="work")
    desk.seer.down = 1
    environ = {**desk.shelf.environ, **desk.shelf.cloud.environment("DocumentsFunction")}
    with patch.object(Documents, "eyes", desk.eyes):
        handler = documents.build(environ, desk.shelf.cloud.aws, desk.shelf.clock)
        again = _run(desk, desk.documents_url, partial(handler, context=context))
    assert len(again) == 1


def _run(desk: Desk, url: str, handler: Callable[..., Any]) -> set[str]:
    """Give a function a batch of a queue's messages, and remove what it has done."""
    sqs: Any = desk.shelf.cloud.aws.sqs
    got = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"])
    messages = got.get("Messages", [])
    assert messages
    again = failed_of(handler(event_of(messages, "arn:aws:sqs:eu-central-1:123456789012:work.fifo"))) or set()
    for message in messages:
        if message["MessageId"] not in again:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return again


@pytest.mark.parametrize("status", ["queued", "parsed"])
def test_a_job_that_was_taken_back_is_left_alone(desk: Desk, status: str) -> None:
    task = desk.add(file("Cedar."))
    if status == "parsed":
        desk.read_one()
    job = desk.job(task)
    desk.shelf.cloud.aws.dynamodb.delete_item(
        TableName=desk.shelf.cloud.table_name, Key={"pk": {"S": job["pk"]}, "sk": {"S": job["sk"]}}
    )
    with suppress(Unavailable):
        assert reading(desk, task).state is State.DONE
        assert filing(desk, task).state is State.DONE


def test_a_long_document_lets_the_others_of_its_batch_go_first(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.read_one()
    put = desk.shelf.index.index.put

    def slow(passages: Any) -> None:
        put(passages)
        desk.shelf.clock.move(ms=3_000)

    with patch.object(desk.shelf.index.index, "put", slow):
        outcome = desk.work_one()
        assert outcome
        assert (outcome.state, outcome.fault) == (State.DONE, None)
        assert desk.job(task)["chunks_done"] == 80
        desk.work()
    assert desk.status(task)["memory"] == {"total": 250}


def test_what_a_long_reading_has_left_goes_piece_by_piece_however_slow_the_index_is(desk: Desk) -> None:
    address, backing = desk.shelf.address(desk.user), desk.shelf.composed.backing
    reading_of = {"token": address.memory_id("reading"), "document": address.document_id("long"), "chunks_total": 4_500}
    send_reading(backing, Readings(backing, address).left(reading_of))
    removed: list[int] = []

    def slow(_owner: str, states: Any) -> None:
        removed.append(len(states))
        desk.shelf.clock.move(ms=3_000)

    with patch.object(desk.shelf.index.index, "remove", slow):
        slices = [outcome for _ in range(9) if (outcome := desk.work_one())]
    assert removed == [1_000, 1_000, 1_000, 1_000, 500]
    assert len(slices) == 3
    assert desk.is_idle()


def test_a_read_file_is_counted_and_told_of_without_its_words(
    desk: Desk, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 150_000)
    desk.add(file("Secret cedar.", "secret.txt"))
    desk.add(file("!damaged", "secret.txt"))
    environ = {**desk.shelf.environ, **desk.shelf.cloud.environment("DocumentsFunction")}
    capsys.readouterr()
    with patch.object(Documents, "eyes", desk.eyes):
        handler = documents.build(environ, desk.shelf.cloud.aws, desk.shelf.clock)
        _run(desk, desk.documents_url, partial(handler, context=context))
    told = capsys.readouterr().out
    assert [told.count(f'"{name}":[1.0]') for name in ("FilesRead", "FilesFailed", "ReadFaults")] == [1, 1, 0]
    lines = [vars(record) for record in caplog.records if record.name == "documents"]
    assert [line["error"] for line in lines] == [None, "damaged"]
    assert "ecret" not in f"{lines}{told}"


def test_no_file_stays_on_the_readers_disk(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, young = tmp_path / f"{FOLDER}old", tmp_path / f"{FOLDER}young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "file.txt").write_text("Secret.")
    os.utime(old, (0, 0))
    desk.add(file("Cedar."))
    desk.add(file("!damaged", "2.txt"))
    with suppress(Killed), kill_at(6):  # in the midst of it
        desk.read_one()
    desk.work()
    assert list(tmp_path.iterdir()) == [young], "what a killed process left goes with the next file"


def test_many_files_of_one_add_are_read_and_filed_at_the_same_time() -> None:
    with desk_world(conflicts=Conflicts(0.002)) as desk:
        task = desk.add("Read these.", *[file(f"Cedar {n}.\n\nOtter {n}.", f"{n}.txt") for n in range(10)])

        def work(_: int) -> None:
            while desk.step():
                pass

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        desk.work()
        told = desk.status(task)
        assert (told["status"], [one["status"] for one in told["files"]]) == ("success", ["success"] * 10)
        assert desk.row(task)["waiting"] == 0
        assert told["memory"]["total"] == 20 + len([row for row in desk.rows("m#") if row["kind"] != "chunk"])
        assert len(desk.found("cedar otter", min_semantic_similarity=0)) == 20
        desk.check_nothing_is_left_over()
