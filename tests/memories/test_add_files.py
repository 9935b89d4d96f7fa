"""What an Add with files and images leaves behind: bytes, files, jobs, messages; each once, or nothing."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from infra.local.transactions import Conflicts
from shared.aws.table import Table
from shared.aws.writes import Delete, Put, Update
from shared.memories.records import UserAddress, file_job_key, file_key
from shared.tenancy import background
from tests.emulator.faults import Fault, Killed, faults, kill_at, recorded
from tests.memories.attached import ANN, PIXEL, asking, document_id, file, image, named_file, named_image
from tests.memories.front import SCOPE, body, front_world, key, message, nothing_is_left, warm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.emulator.faults import Call
    from tests.memories.front import AddClient, Front

SEEN = {"VISION": "bedrock:amazon.nova-lite-v1:0"}
HELLO = ANN.file_id("a.txt", hashlib.sha256(b"Hello").hexdigest())
SOME = "22222222-2222-4222-8222-222222222222"


def forget_ann(front: Front) -> None:
    front.table.write(Update(ANN.generation_key, add={ANN.generation_name: 1}))


def uploaded(front: Front, name: str = "up.pdf", **fields: Any) -> str:
    """Put the row of an upload, and return its id."""
    file_id = ANN.file_id("upload", name)
    pk, sk = file_key(SCOPE, file_id)
    row: dict[str, Any] = {
        "pk": pk,
        "sk": sk,
        "user": ANN.user,
        "user_id": "ann",
        "generation": 0,
        "filename": name,
        "extension": name.rpartition(".")[2],
        "media_type": "application/pdf",
        "size": 5,
        "sha256": "ab" * 32,
        "status": "ready",
        "object": "keep/20261130/acme/default/X",
        "created_at": 1,
    }
    front.table.write(Put({**row, **fields}))
    return file_id


@contextmanager
def meanwhile(happens: Callable[[], object]) -> Iterator[None]:
    """Let something happen once, between the look that an add takes and its transaction."""
    real, left = Table.transact, [happens]

    def transact(table: Table, *writes: Any) -> None:
        if left:
            left.pop()()
        real(table, *writes)

    with patch.object(Table, "transact", transact):
        yield


def test_a_file_is_kept_and_waits_to_be_read(front: Front, client: AddClient) -> None:
    task_id = client.accepted(message([{"type": "text", "text": "Read this."}, file()]), memory_output_language="en")
    task, (job,), (row,) = front.task(task_id), front.jobs(task_id), front.rows("u#")
    assert task
    assert (task["files"], task["waiting"], task["phase"]) == (1, 1, "queued")
    assert row["sk"] == f"u#{HELLO}"
    told = {name: row[name] for name in ("filename", "extension", "media_type", "size", "status", "user_id")}
    assert told == {
        "filename": "a.txt",
        "extension": "txt",
        "media_type": "text/plain",
        "size": 5,
        "status": "ready",
        "user_id": "ann",
    }
    assert row["sha256"] == job["digest"] == hashlib.sha256(b"Hello").hexdigest()
    assert front.objects.get(row["object"]) == b"Hello"
    assert front.objects.head(row["object"]).metadata["owner"] == f"{row['pk']}|{row['sk']}"
    assert row["object"].startswith("keep/")
    assert (job["status"], job["file"], job["document"]) == ("queued", HELLO, document_id("a.txt"))
    assert (job["positions"], job["language"], job["tries"], job["of"]) == ([0], "en", 0, "file")
    assert front.messages() == []
    (sent,) = front.reads()
    assert (sent["work"], sent["task"], sent["n"], sent["user"]) == ("read", task_id, 0, ANN.user)
    assert sent["MessageGroupId"] == f"{task_id}#0"


def test_the_payload_names_files_in_their_places_and_has_no_bytes(front: Front, client: AddClient) -> None:
    parts = [file(), {"type": "text", "text": "between"}, image(caption="A cat", detail="low")]
    task = client.accepted(message(parts), content_type="work")
    kept = front.payload(task)["messages"][0]["parts"]
    jobs = front.jobs(task)
    assert kept == [
        {"type": "file", "n": 0, "file_id": HELLO, "filename": "a.txt"},
        {"type": "text", "text": "between"},
        {"type": "image", "n": 1, "file_id": jobs[1]["file"], "caption": "A cat", "detail": "low"},
    ]


def test_an_image_with_a_caption_waits_for_nothing(front: Front, client: AddClient) -> None:
    task = client.accepted(message([image(caption="A cat")]), content_type="work")
    (job,), (row,) = front.jobs(task), front.rows("u#")
    assert (job["status"], job["caption"], job["detail"]) == ("parsed", "A cat", "auto")
    assert (row["filename"], row["media_type"], row["pixels"], row["frames"]) == (None, "image/png", 1, 1)
    assert front.objects.get(row["object"]) == PIXEL
    assert front.reads() == []
    assert [sent["work"] for sent in front.messages()] == ["add"]


def test_an_image_without_a_caption_waits_to_be_described(front: Front) -> None:
    client = front.set(**SEEN).client()
    task = client.accepted(message([image(caption=None), image()]), content_type="work")
    assert [job["status"] for job in front.jobs(task)] == ["queued", "parsed"]
    assert (front.task(task) or {})["waiting"] == 1
    assert [sent["n"] for sent in front.reads()] == [0]
    assert front.messages() == []


def test_one_picture_with_two_captions_is_two_images(front: Front, client: AddClient) -> None:
    task = client.accepted(message([image(caption="a"), image(caption="b"), image(caption="a")]), content_type="work")
    first, second, third = (job["document"] for job in front.jobs(task))
    assert first == third != second
    assert len(front.rows("u#")) == len(front.cloud.object_keys()) - 1 == 2


def test_an_add_with_files_takes_as_many_rounds_as_one_without(front: Front) -> None:
    client = front.client(quotas={"memory_write": 10})
    client.accepted(message([file("warm.txt")]))  # its bytes are counted, beside what is counted here
    warm(front, client)
    asked = [message([file("a.txt", b"a"), file("b.txt", b"b"), image()])]
    for again in (False, True):
        with recorded() as calls:
            assert client.add(*asked, content_type="work", **key(f"{again}")).status == 202
        assert calls.sequential == 3


def test_an_add_reads_and_writes_the_table_once_however_many_files_it_has(front: Front, client: AddClient) -> None:
    files = [message([file(f"{n}.txt", b"%d" % n) for n in range(10)])]
    images = [message([image(caption=f"{n}") for n in range(m, m + 4)]) for m in (0, 4)]
    for again in (False, True):
        with recorded() as calls:
            client.accepted(*files, *images, content_type="work")
        assert calls.names.count("dynamodb.BatchGetItem") == calls.names.count("dynamodb.TransactWriteItems") == 1
        assert calls.names.count("sqs.SendMessage") == 10
        assert calls.names.count("s3.PutObject") == 19
        assert calls.names.count("s3.DeleteObjects") == again


def test_an_add_without_files_asks_for_nothing_of_theirs(front: Front, client: AddClient) -> None:
    task = client.accepted()
    assert not {"files", "waiting"} & (front.task(task) or {}).keys()
    background.finish()  # usage is written beside requests
    with recorded() as calls:
        client.status(task)
    assert calls.names == ["dynamodb.GetItem"]


def test_the_same_bytes_under_the_same_name_are_kept_once(front: Front, client: AddClient) -> None:
    first, second = client.accepted(message([file()])), client.accepted(message([file()]))
    (row,) = front.rows("u#")
    assert len(front.cloud.object_keys()) == 3
    assert {job["file"] for task in (first, second) for job in front.jobs(task)} == {HELLO}
    assert front.objects.get(row["object"]) == b"Hello"
    client.accepted(message([file("b.txt")]), message([file(content=b"Other")]))
    assert len(front.rows("u#")) == 3
    client.accepted(message([file()]), user_id="bob")
    assert len(front.rows("u#")) == 4


def test_the_same_bytes_sent_by_many_at_once_are_kept_once() -> None:
    with front_world(conflicts=Conflicts()) as front:
        clients = [front.client() for _ in range(6)]
        with ThreadPoolExecutor(len(clients)) as pool:
            tasks = list(
                pool.map(lambda client: client.accepted(message([file(), image()]), content_type="work"), clients)
            )
        rows = front.rows("u#")
        assert len(rows) == 2
        assert {row["object"] for row in rows} == {name for name in front.cloud.object_keys() if "keep/" in name}
        assert all(len(front.jobs(task)) == 2 for task in tasks)
        assert len(front.reads()) == 6


def test_many_adds_with_files_of_one_user_at_once_are_all_taken() -> None:
    with front_world(conflicts=Conflicts()) as front:
        clients = [front.client() for _ in range(12)]

        def add(n: int) -> str:
            return clients[n].accepted(message([file(f"{n}.txt", b"%d" % n)]))

        with ThreadPoolExecutor(len(clients)) as pool:
            tasks = list(pool.map(add, range(len(clients))))
        assert front.tasks() == sorted(tasks)
        assert len(front.rows("u#")) == len(front.reads()) == len(clients)


def test_a_file_that_is_deleted_before_the_transaction_is_made_anew(front: Front, client: AddClient) -> None:
    client.accepted(message([file()]))
    (old,) = front.rows("u#")
    with meanwhile(lambda: front.table.write(Delete(file_key(SCOPE, HELLO)))):
        client.accepted(message([file()]))
    (new,) = front.rows("u#")
    assert new["object"] != old["object"]
    assert front.objects.get(new["object"]) == b"Hello"


def test_a_file_that_is_made_before_the_transaction_is_used(front: Front, client: AddClient) -> None:
    other = front.client()
    with meanwhile(lambda: other.accepted(message([file()]))):
        client.accepted(message([file()]))
    (row,) = front.rows("u#")
    assert front.objects.get(row["object"]) == b"Hello"
    assert len(front.cloud.object_keys()) == 3
    assert row["kept"]


def test_what_is_added_while_its_user_is_forgotten_is_of_the_new_generation(front: Front, client: AddClient) -> None:
    with meanwhile(lambda: forget_ann(front)):
        task = client.accepted(message([file()]))
    (row,), (job,) = front.rows("u#"), front.jobs(task)
    assert ((front.task(task) or {})["generation"], row["generation"], job["generation"]) == (1, 1, 1)


def test_a_forgotten_file_is_replaced_and_its_bytes_are_left_to_be_removed(front: Front, client: AddClient) -> None:
    client.accepted(message([file()]))
    (old,) = front.rows("u#")
    forget_ann(front)
    client.accepted(message([file()]))
    (new,), (left,) = front.rows("u#"), front.rows("job")
    assert (new["generation"], left["kind"], left["objects"]) == (1, "memory_leftovers", [old["object"]])
    assert new["object"] != old["object"]


@pytest.mark.parametrize("part", [named_file, named_image])
def test_a_file_that_is_not_there_is_unknown_whoever_has_it(front: Front, part: Any) -> None:
    client = front.client(quotas={"memory_write": 1})
    theirs = uploaded(front, user="0" * 32)
    gone = uploaded(front, "gone.pdf", generation=-1)
    others = UserAddress(SCOPE, "bob").file_id("upload", "x")
    answers = [client.add(message([part(name)]), content_type="work") for name in (SOME, theirs, gone, others)]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.json["error"]["message"] for answer in answers}) == 1
    assert "messages[0].content[0]" in answers[0].json["error"]["message"]
    assert not front.tasks()
    assert not front.cloud.object_keys()
    client.accepted()


def test_an_upload_is_named_by_its_id(front: Front, client: AddClient) -> None:
    document, picture = uploaded(front), uploaded(front, "p.png", media_type="image/png", pixels=9, frames=1)
    task = client.accepted(message([named_file(document.upper()), named_image(picture)]), content_type="work")
    first, second = front.jobs(task)
    assert (first["file"], first["filename"], first["document"]) == (document, "up.pdf", document_id("up.pdf"))
    assert (first["digest"], first["size"], first["extension"]) == ("ab" * 32, 5, "pdf")
    assert (second["file"], second["document"], second["status"]) == (picture, ANN.document_id(picture), "parsed")
    assert front.cloud.object_keys() == [(front.task(task) or {})["object"]]
    assert [sent["n"] for sent in front.reads()] == [0]


@pytest.mark.parametrize(
    ("part", "fields", "status", "code"),
    [
        (named_file, {"status": "pending", "sha256": None, "expires_at": 1 << 60}, 409, "file_pending"),
        (named_file, {"extension": "webp"}, 422, "invalid_request"),
        (named_file, {"extension": None, "filename": None}, 422, "invalid_request"),
        (named_file, {"extension": "png"}, 422, "invalid_request"),
        (named_file, {"size": (20 << 20) + 1}, 413, "too_large"),
        (named_image, {}, 422, "invalid_request"),
        (named_image, {"media_type": "image/png", "pixels": None, "frames": None}, 422, "invalid_request"),
        (named_image, {"media_type": "image/png", "pixels": 20_000_001, "frames": 1}, 413, "too_large"),
        (named_image, {"media_type": "image/png", "pixels": 1, "frames": 17}, 413, "too_large"),
        (named_image, {"media_type": "image/png", "pixels": 1, "frames": 1, "size": (8 << 20) + 1}, 413, "too_large"),
    ],
)
def test_a_named_file_is_held_to_the_rules(
    front: Front, part: Any, fields: dict[str, Any], status: int, code: str
) -> None:
    client = front.set(VISION="none").client(quotas={"memory_write": 1})
    name = uploaded(front, **fields)
    answer = client.add(message([part(name), file()]), content_type="work")
    assert (answer.status, answer.json["error"]["code"]) == (status, code), answer.content
    assert "content[0]" in str(answer.json["error"])
    assert not front.tasks()
    assert not front.cloud.object_keys()
    assert len(front.rows("u#")) == 1
    client.accepted()


def test_a_named_file_may_not_have_the_name_of_another(front: Front, client: AddClient) -> None:
    name = uploaded(front, "a.txt")
    assert set(client.refused(message([named_file(name), file()]))) == {"messages[0].content"}


def test_a_named_file_that_is_deleted_before_the_transaction_is_unknown(front: Front) -> None:
    client = front.client(quotas={"memory_write": 1})
    name = uploaded(front)
    with meanwhile(lambda: front.table.write(Delete(file_key(SCOPE, name)))):
        assert client.add(message([named_file(name), file()])).status == 404
    assert nothing_is_left(front)
    client.accepted()


def test_a_repeated_request_with_files_is_the_same(front: Front, client: AddClient) -> None:
    asked = {**asking(file(), image()), **key()}
    tasks = {client.post("/v1/memories/add", json_body=body() | asked).json["data"]["task_id"] for _ in range(3)}
    assert len(tasks) == len(front.tasks()) == 1
    assert len(front.cloud.object_keys()) == 3
    assert len(front.reads()) == 1
    for other in (
        asking(file(content=b"Other"), image()),
        asking(file("b.txt"), image()),
        asking(file(), image(caption="x")),
    ):
        answer = client.post("/v1/memories/add", json_body=body() | other | key())
        assert (answer.status, answer.json["error"]["code"]) == (409, "idempotency_conflict")
    assert len(front.cloud.object_keys()) == 3


def test_a_repetition_is_answered_though_its_file_was_deleted(front: Front, client: AddClient) -> None:
    name = uploaded(front)
    task = client.accepted(message([named_file(name)]), **key())
    front.table.write(Delete(file_key(SCOPE, name)))
    assert client.accepted(message([named_file(name)]), **key()) == task


def test_a_repetition_has_files_read_that_nobody_began(front: Front, client: AddClient) -> None:
    task = client.accepted(message([file(), file("b.txt")]), **key())
    front.reads()
    front.table.write(Update(file_job_key(SCOPE, task, 0), put={"status": "parsed"}))
    with recorded() as calls:
        assert client.accepted(message([file(), file("b.txt")]), **key()) == task
    assert calls.names.count("sqs.SendMessage") == 2
    assert [(sent["work"], sent["n"], sent["MessageGroupId"]) for sent in front.messages()] == [
        ("chunks", 0, f"{task}#0")
    ]


@pytest.mark.parametrize("operation", ["PutObject", "BatchGetItem", "TransactWriteItems", "SendMessage"])
def test_a_service_that_is_down_is_answered_503_and_nothing_of_files_is_kept(operation: str) -> None:
    with front_world() as front:
        client = front.client(quotas={"memory_write": 1})
        warm(front, client)
        left = iter(range(3 if operation == "TransactWriteItems" else 100))

        def down(call: Call) -> Fault | None:
            return Fault.SERVER_ERROR if call.operation == operation and next(left, None) is not None else None

        with faults(down):
            answer = client.add(message([file(), file("b.txt"), image()]), content_type="work", **key())
        assert (answer.status, answer.json["error"]["code"]) == (503, "unavailable")
        assert nothing_is_left(front)
        assert client.add(message([file()]), **key()).status == 202, "the call was not given back"


def test_an_answer_that_was_lost_after_the_commit_is_found_to_be_ours_with_its_files(
    front: Front, client: AddClient
) -> None:
    lost = iter([Fault.APPLIED_TIMEOUT])
    with faults(lambda call: next(lost, None) if call.operation == "TransactWriteItems" else None):
        task = client.accepted(message([file()]))
    (row,) = front.rows("u#")
    assert front.tasks() == [task]
    assert front.objects.get(row["object"]) == b"Hello"


def test_a_file_that_another_add_uses_stays_when_its_first_one_is_taken_back(front: Front, client: AddClient) -> None:
    other = front.client()
    told: list[str] = []

    def down(call: Call) -> Fault | None:
        if call.operation != "SendMessage" or len(told) > 1:
            return None
        if not told:
            told.append("begun")
            told[:] = [other.accepted(message([file()]))]
        return Fault.SERVER_ERROR

    def only_mine(call: Call) -> Fault | None:
        return None if told == ["begun"] else down(call)

    with faults(only_mine):
        assert client.add(message([file()])).status == 503
    (row,) = front.rows("u#")
    assert front.tasks() == told
    assert front.objects.get(row["object"]) == b"Hello"


def test_an_add_of_which_a_file_is_being_read_is_not_taken_back(front: Front, client: AddClient) -> None:
    def down(call: Call) -> Fault | None:
        if call.operation != "SendMessage":
            return None
        (task,) = front.tasks()
        front.table.write(Update(file_job_key(SCOPE, task, 0), put={"tries": 1, "status": "parsing"}))
        return Fault.SERVER_ERROR

    with faults(down):
        assert client.add(message([file()])).status == 503
    (task,) = front.tasks()
    assert len(front.jobs(task)) == len(front.rows("u#")) == 1
    assert len(front.cloud.object_keys()) == 2


@pytest.mark.parametrize("applied", [False, True])
def test_a_function_that_dies_at_any_call_leaves_what_a_repetition_completes_with_its_files(*, applied: bool) -> None:
    for number in range(1, 8):
        with front_world() as front:
            client = front.client(quotas={"memory_write": 2})
            warm(front, client)
            with kill_at(number, applied=applied) as calls, suppress(Killed):
                client.add(message([file(), file("b.txt")]), **key())
            assert calls.total <= 8
            background.finish()
            task = client.accepted(message([file(), file("b.txt")]), **key())
            assert front.tasks() == [task], (number, calls.names)
            assert sorted(sent["n"] for sent in front.reads()) == [0, 1], (number, calls.names)
            assert [front.objects.get(row["object"]) for row in front.rows("u#")] == [b"Hello"] * 2
            assert {job["file"] for job in front.jobs(task)} == {row["sk"][2:] for row in front.rows("u#")}


def test_bytes_that_are_kept_are_counted_once(front: Front) -> None:
    noted: list[int] = []
    with patch("shared.tenancy.usage.UsageMeter.note", lambda *_, **told: noted.append(told.get("bytes", 0))):
        client = front.client()
        client.accepted(message([file(), file("b.txt", b"abc")]))
        client.accepted(message([file()]))
    assert sum(noted) == 8
