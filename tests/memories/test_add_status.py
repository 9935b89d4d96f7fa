"""What is told of an add with files and images while it is worked on, and after (seed, Asynchronous task status)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.aws.writes import Put, Update
from shared.memories.records import document_key, file_job_key
from shared.tenancy import background
from tests.emulator.faults import recorded
from tests.memories.attached import ANN, document_id, file, image
from tests.memories.front import SCOPE, key, message

if TYPE_CHECKING:
    from tests.memories.front import AddClient, Front

ENCRYPTED = {"code": "encrypted", "message": "This document asks for a password."}


def change(front: Front, task: str, n: int, **fields: Any) -> None:
    front.table.write(Update(file_job_key(SCOPE, task, n), put=fields))


def told(client: AddClient, task: str) -> Any:
    answer = client.status(task)
    assert answer.status == 200
    return answer.json


def made(front: Front, name: str, generation: int = 0) -> None:
    """Put the row of a document."""
    pk, sk = document_key(SCOPE, document_id(name))
    row = {"pk": pk, "sk": sk, "user": ANN.user, "generation": generation, "filename": name, "token": "t"}
    front.table.write(Put(row))


def test_a_task_with_files_says_so_and_lists_each(front: Front, client: AddClient) -> None:
    task = client.accepted(message([file(), file("b.txt", b"b")]))
    status = told(client, task)
    jobs = front.jobs(task)
    assert (status["kind"], status["document_type"], status["phase"]) == ("document_add", "txt", "queued")
    assert (status["parser_task_id"], status["parser_record_id"]) == (task, jobs[0]["token"])
    assert status["files"][1] == {
        "parser_id": document_id("b.txt"),
        "document_id": document_id("b.txt"),
        "file_id": jobs[1]["file"],
        "file_index": 1,
        "status": "processing",
        "revision": None,
        "chunks_done": 0,
        "chunks_total": None,
        "error": None,
    }
    assert "images" not in status
    assert "a.txt" not in client.status(task).content.decode()


def test_images_are_told_of_beside_files(client: AddClient) -> None:
    task = client.accepted(message([image(caption="secret words"), file("a.md"), file()]), content_type="work")
    status = told(client, task)
    assert [one["file_index"] for one in status["files"]] == [0, 1]
    assert [one["image_index"] for one in status["images"]] == [0]
    assert status["document_type"] == "mixed"
    assert "secret" not in str(status)
    only = told(client, client.accepted(message([image()]), content_type="work"))
    assert (only["kind"], len(only["images"])) == ("memory_add", 1)
    assert "files" not in only


def test_an_ordinary_task_is_told_of_as_ever(client: AddClient) -> None:
    assert not {"files", "images", "document_type", "parser_task_id"} & told(client, client.accepted()).keys()


def test_a_status_with_files_is_two_reads(client: AddClient) -> None:
    task = client.accepted(message([file(f"{n}.txt") for n in range(10)]))
    background.finish()  # usage is written beside requests
    with recorded() as calls:
        told(client, task)
    assert calls.names == ["dynamodb.GetItem", "dynamodb.BatchGetItem"]


def test_progress_is_told_while_a_file_is_read(front: Front, client: AddClient) -> None:
    task = client.accepted(message([file(), file("b.txt")]))
    later = front.clock.now_ms() + 5_000
    change(front, task, 0, status="indexing", tries=2, chunks_done=90, chunks_total=200, updated_at=later)
    status = told(client, task)
    assert (status["phase"], status["attempts"]) == ("reading", 1)
    assert status["updated_at"] > status["received_at"]
    first, second = status["files"]
    assert (first["status"], first["chunks_done"], first["chunks_total"]) == ("processing", 90, 200)
    assert (second["status"], second["chunks_done"]) == ("processing", 0)


def test_of_three_files_the_bad_one_says_why(front: Front, client: AddClient) -> None:
    task = client.accepted(message([file(f"{n}.txt") for n in range(3)]))
    for n in (0, 2):
        change(front, task, n, status="success", revision=n + 1, chunks_done=1, chunks_total=1)
    change(front, task, 1, status="failed", error=ENCRYPTED)
    front.end(task, memory={"total": 2}, events=[])
    status = told(client, task)
    assert (status["status"], status["phase"], status["error"]) == ("success", "done", None)
    assert [(one["status"], one["error"], one["revision"]) for one in status["files"]] == [
        ("success", None, 1),
        ("failed", ENCRYPTED, None),
        ("success", None, 3),
    ]


def test_what_was_not_done_when_its_task_failed_has_failed_with_it(front: Front, client: AddClient) -> None:
    task = client.accepted(message([file(), file("b.txt")]))
    change(front, task, 0, status="success", revision=1)
    gone = {"code": "erased", "message": "All memories of this user were deleted."}
    front.end(task, "failed", error=gone)
    first, second = told(client, task)["files"]
    assert (first["status"], second["status"], second["error"]) == ("success", "failed", gone)


def test_a_caller_who_waits_is_told_of_documents_by_name(front: Front, client: AddClient) -> None:
    asked = message([file(), file("b.txt"), file("c.txt"), file("d.txt")])
    task = client.accepted(asked, **key())
    for n, event in enumerate(("ADD", "UPDATE", "NONE")):
        change(front, task, n, status="success", revision=n + 1, event=event)
    change(front, task, 3, status="failed", error=ENCRYPTED)
    made(front, "a.txt")
    made(front, "b.txt", generation=-1)
    front.end(task, memory={"total": 2}, events=[])
    answer = client.add(asked, **key(), wait=20)
    assert (answer.status, answer.json["data"]["status"]) == (200, "completed")
    one, two = (document_id(name) for name in ("a.txt", "b.txt"))
    assert answer.json["data"]["data"] == [
        {"id": one, "event": "ADD", "data": {"memory": "a.txt", "document_id": one, "revision": 1}},
        {"id": two, "event": "UPDATE", "data": {"memory": "", "document_id": two, "revision": 2}},
    ]
    assert [(each["status"], each["error"]) for each in answer.json["data"]["files"]] == [
        *[("success", None)] * 3,
        ("failed", ENCRYPTED),
    ]
