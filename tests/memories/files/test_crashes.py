"""Deaths and faults in the middle of an upload: never half a file, and nothing is left that nobody removes."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from shared.kernel.clock import DAY_MS
from shared.memories.files.uploads import Lapsing
from tests.clients.logs import log_of
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.files.cabinet import BYTES, FILES, Filer, body, bring, filer, objects_of, row_of
from tests.memories.test_forgetting import left_of

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from tests.memories.shelf import Shelf


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_death_in_an_announcement_leaves_nothing_that_stays(shelf: Shelf, *, applied: bool) -> None:
    key = shelf.key()
    for number in count(1):
        client = Filer(shelf.handler(), key)
        with kill_at(number, applied=applied) as calls, suppress(Killed):
            client.announced()
        if calls.total < number:
            break
    assert number > 2
    shelf.clock.move(ms=DAY_MS + 60_000)
    assert shelf.sweep()["errors"] == 0
    assert left_of(shelf) == []


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_death_in_a_completion_is_mended_by_the_next_one(shelf: Shelf, *, applied: bool) -> None:
    key = shelf.key()
    for number in count(1):
        doomed, fresh = (Filer(shelf.handler(), key) for _ in range(2))
        told = fresh.announced()
        bring(shelf, told)
        finished = False
        with kill_at(number, applied=applied), suppress(Killed):
            finished = doomed.complete(told["id"]).status == 200
        assert fresh.file(told["id"]).json["data"]["status"] in {"pending", "ready"}
        assert fresh.complete(told["id"]).status == 200
        assert fresh.content_of(told["id"]).content == BYTES
        if finished:
            break
    assert number > 6
    for _ in range(6):
        shelf.clock.move(ms=DAY_MS)
        shelf.sweep("reconcile")
    owned = sorted((row_of(shelf, file["id"]) or {})["object"] for file in fresh.files())
    assert [key for key in objects_of(shelf) if key.startswith("keep/")] == owned


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_sweeper_that_dies_in_it_is_followed_by_the_next(shelf: Shelf, client: Filer, *, applied: bool) -> None:
    for number in count(1):
        told = client.announced()
        bring(shelf, told)
        row = row_of(shelf, told["id"])
        assert row is not None
        with kill_at(number, applied=applied) as calls, suppress(Killed):
            Lapsing(shelf.composed.backing).look(row)
        assert Lapsing(shelf.composed.backing).look(row)
        assert left_of(shelf) == []
        if calls.total < number:
            break
    assert number > 2


def test_a_sweeper_leaves_alone_what_was_completed_meanwhile(shelf: Shelf, client: Filer) -> None:
    told = client.announced()
    bring(shelf, told)
    row = row_of(shelf, told["id"])
    assert row is not None
    assert client.complete(told["id"]).status == 200
    assert Lapsing(shelf.composed.backing).look(row)
    assert client.content_of(told["id"]).content == BYTES


@pytest.mark.parametrize("service", ["dynamodb", "s3"])
@pytest.mark.parametrize("fault", [Fault.CONNECT_TIMEOUT, Fault.THROTTLED, Fault.SERVER_ERROR])
def test_a_store_that_is_down_is_503_and_the_file_can_be_completed_later(
    shelf: Shelf, client: Filer, service: str, fault: Fault
) -> None:
    told = client.announced()
    bring(shelf, told)
    with faults(lambda call: fault if call.service == service else None):
        answers = [client.complete(told["id"])]
        answers += [client.post(FILES, json_body=body()), client.file(told["id"])] if service == "dynamodb" else []
    for answer in answers:
        assert answer.status == 503
        assert int(answer.headers["retry-after"]) > 0
        assert answer.json["success"] is False
    assert client.complete(told["id"]).status == 200
    with faults(lambda call: fault if call.service == service else None):
        assert client.content_of(told["id"]).status == 503


@pytest.mark.parametrize("fault", [Fault.APPLIED_TIMEOUT, Fault.APPLIED_SERVER_ERROR])
@pytest.mark.parametrize("operation", ["TransactWriteItems", "CopyObject", "DeleteObject"])
def test_a_completion_whose_answer_was_lost_is_a_ready_file(
    shelf: Shelf, client: Filer, operation: str, fault: Fault
) -> None:
    told = client.announced()
    bring(shelf, told)
    lost = iter([fault])
    with faults(lambda call: next(lost, None) if call.operation == operation else None):
        answer = client.complete(told["id"])
    assert answer.status == 200, answer.content
    assert client.content_of(told["id"]).content == BYTES
    assert len(objects_of(shelf)) == 1


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with log_of("memories") as written:
        yield written


def test_nothing_of_names_users_or_bytes_is_in_the_log(
    shelf: Shelf, client: Filer, log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = {"user_id": "zorro", "filename": "zanzibar.txt"}
    file_id = client.uploaded(shelf, b"quagga " * 3, **secret)
    client.files("zorro")
    client.content_of(file_id)
    client.post(FILES, json_body={**secret, "size": "quagga"})
    client.get(f"{FILES}/zanzibar", query={"user_id": "zorro"})
    with faults(lambda call: Fault.SERVER_ERROR if call.service == "s3" else None):
        client.content_of(file_id)
        client.delete(f"{FILES}/{file_id}")
    client.unfile(file_id)
    shown = capsys.readouterr()
    lines = log.getvalue() + shown.out + shown.err
    assert lines.count('"route"') >= 8
    for word in ("zorro", "zanzibar", "quagga"):
        assert word not in lines


def test_what_is_stored_is_counted_and_taken_back(shelf: Shelf) -> None:
    noted: list[dict[str, int]] = []
    backing = shelf.composed.backing
    object.__setattr__(backing, "note", lambda _scope, **counts: noted.append(counts))
    client = filer(shelf)

    def stored() -> int:
        return sum(counts.get("bytes", 0) for counts in noted)

    file_id, other = client.uploaded(shelf), client.uploaded(shelf)
    client.announced()
    client.complete(file_id)
    assert stored() == 2 * len(BYTES)
    client.unfile(file_id)
    assert stored() == len(BYTES)
    client.forget_all()
    shelf.work()
    assert client.file(other).status == 404
    assert stored() == 0
