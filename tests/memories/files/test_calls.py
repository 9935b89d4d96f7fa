"""What each operation on files asks of AWS, how much of it one after the other, and that the guide says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.tenancy import background
from tests.emulator.faults import recorded
from tests.memories.files.cabinet import FILES, Filer, body, bring, filer, read
from tests.memories.shelf import USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.events import Answer
    from tests.memories.shelf import Shelf

BATCH, TRANSACT = "dynamodb.BatchGetItem", "dynamodb.TransactWriteItems"
GUIDE = Path(__file__).parents[3] / "docs/memories.md"


def start(_: Shelf, client: Filer) -> Callable[[], Answer]:
    return lambda: client.post(FILES, json_body=body())


def complete(shelf: Shelf, client: Filer) -> Callable[[], Answer]:
    told = client.announced()
    bring(shelf, told)
    return lambda: client.complete(told["id"])


def listing(shelf: Shelf, client: Filer) -> Callable[[], Answer]:
    for _ in range(3):
        client.uploaded(shelf)
    return lambda: client.get(FILES, query={"user_id": USER})


def of_one(method: str, suffix: str = "") -> Callable[[Shelf, Filer], Callable[[], Answer]]:
    def prepare(shelf: Shelf, client: Filer) -> Callable[[], Answer]:
        file_id = client.uploaded(shelf)
        read(shelf, file_id, "Cedars.", "Birches.")
        return lambda: client.send(method, f"{FILES}/{file_id}{suffix}")

    return prepare


OPERATIONS: dict[str, tuple[Callable[[Shelf, Filer], Callable[[], Answer]], int, list[str]]] = {
    "announce": (start, 2, ["dynamodb.GetItem", "dynamodb.PutItem"]),
    "complete": (
        complete,
        6,
        [BATCH, "s3.HeadObject", "s3.GetObject", "s3.CopyObject", TRANSACT, "s3.DeleteObject"],
    ),
    "list files": (listing, 2, ["dynamodb.GetItem", "dynamodb.Query", BATCH]),
    "get file": (of_one("GET"), 2, [BATCH, BATCH]),
    "get content": (of_one("GET", "/content"), 2, [BATCH, "s3.GetObject"]),
    "head content": (of_one("HEAD", "/content"), 1, [BATCH]),
    "delete file": (
        of_one("DELETE"),
        5,
        [BATCH, BATCH, "s3.PutObject", TRANSACT, "sqs.SendMessage"],
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_asks_what_the_guide_says_and_the_index_nothing(
    shelf: Shelf, client: Filer, operation: str
) -> None:
    prepare, in_a_row, names = OPERATIONS[operation]
    client.unfile(client.uploaded(shelf))
    request: Any = prepare(shelf, client)
    background.finish()  # usage is written beside requests: not in what is counted
    shelf.index.calls.clear()
    with recorded() as calls:
        answer = request()
    assert answer.status in {200, 202}, answer.content
    assert (sorted(calls.names), calls.sequential) == (sorted(names), in_a_row)
    assert shelf.index.calls == []
    shown = ", ".join(
        f"{names.count(name)}x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)
    )
    assert f"\n| {operation} | {in_a_row} | {shown} |\n" in GUIDE.read_text("utf-8")


def test_a_file_that_is_not_there_costs_the_same_whoever_asks(shelf: Shelf, client: Filer) -> None:
    file_id = client.uploaded(shelf)
    stranger = filer(shelf, tenant="other")
    stranger.files()
    background.finish()
    asked = []
    for known in (file_id, shelf.address().file_id("upload", "none")):
        with recorded() as calls:
            assert stranger.file(known).status == 404
        asked.append(calls.names)
    assert asked[0] == asked[1] == ["dynamodb.BatchGetItem"]
