"""One request on a file with another one in between any two of its calls: whoever wins, nothing is half there."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from shared.kernel.clock import DAY_MS
from shared.retention.records import owner_of
from shared.tenancy import background
from tests.emulator.faults import intercepted
from tests.memories.files.cabinet import BYTES, FILES, Filer, bring, filer, objects_of, read, row_of
from tests.memories.shelf import USER, shelf_world

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.events import Answer
    from tests.emulator.faults import Call
    from tests.memories.shelf import Shelf

    Request = Callable[["Act"], Answer | None]


class Act:
    """One file, and two instances of the function that are asked about it at the same time."""

    def __init__(self, shelf: Shelf) -> None:
        key = shelf.key()
        self.shelf = shelf
        self.first, self.second = (Filer(shelf.handler(), key) for _ in range(2))
        told = self.first.announced()
        self.file_id: str = told["id"]
        bring(shelf, told)


def complete(act: Act) -> Answer:
    return act.second.complete(act.file_id)


def delete(act: Act) -> Answer:
    return act.second.delete(f"{FILES}/{act.file_id}")


def forget(act: Act) -> Answer:
    return act.second.delete("/v1/memories", query={"user_id": USER})


def forget_and_clear(act: Act) -> Answer:
    answer = forget(act)
    act.shelf.work()
    return answer


def make_document(act: Act) -> None:
    """Let a reading of the file count, as the pipeline does: only while the file is there."""
    row = row_of(act.shelf, act.file_id)
    if row is not None and row["status"] == "ready":
        read(act.shelf, act.file_id, "Cedars.")


def ready(act: Act) -> None:
    assert act.first.complete(act.file_id).status == 200


def pending(_: Act) -> None:
    return


CASES: list[tuple[Callable[[Act], None], str, Request]] = [
    (pending, "complete", complete),
    (pending, "complete", delete),
    (pending, "complete", forget),
    (pending, "complete", forget_and_clear),
    (pending, "delete", complete),
    (pending, "delete", delete),
    (pending, "delete", forget_and_clear),
    (ready, "delete", delete),
    (ready, "delete", make_document),
    (ready, "delete", forget),
    (ready, "delete", forget_and_clear),
]


@pytest.mark.parametrize(("prepare", "name", "other"), CASES)
def test_another_request_at_any_moment_leaves_all_or_nothing(
    prepare: Callable[[Act], None], name: str, other: Request
) -> None:
    with shelf_world() as shelf:
        for number in count(1):
            act = Act(shelf)
            prepare(act)
            answers: list[Any] = []
            calls = _Before(number, partial(_answered, other, act, answers))
            with intercepted(calls):
                answer = _request(act, name)
                background.finish()  # usage is written beside requests: by then the other request is over, too
            statuses = {answer.status, *(each.status for each in answers if each is not None)}
            assert statuses <= {200, 202, 404, 409}, (number, answer.content)
            _check(act)
            if not calls.reached:
                break
        assert number > 3
        _nothing_is_left(shelf)


class _Before:
    """Does something just before the n-th call of the request, once; what is written beside requests is none of it."""

    def __init__(self, number: int, action: Callable[[], Any]) -> None:
        self._number, self._action = number, action
        self._seen, self.reached = 0, False

    def __call__(self, call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        if not self.reached and not call.is_beside:
            self._seen += 1
            if self._seen == self._number:
                self.reached = True
                self._action()
        return apply()


def _answered(request: Request, act: Act, answers: list[Any]) -> None:
    answers.append(request(act))


def _request(act: Act, name: str) -> Answer:
    if name == "complete":
        return act.first.complete(act.file_id)
    return act.first.delete(f"{FILES}/{act.file_id}")


def _check(act: Act) -> None:
    """A file is ready with its bytes, or it is not there at all; so is what was made of it."""
    shown = act.first.file(act.file_id)
    if shown.status == 200 and shown.json["data"]["status"] == "ready":
        assert act.first.content_of(act.file_id).content == BYTES
        row = row_of(act.shelf, act.file_id) or {}
        head = act.shelf.objects.head(row["object"])
        assert head.metadata["owner"] == owner_of((row["pk"], row["sk"]))
    if shown.status == 404:
        document = act.shelf.table.get((act.shelf.address().pk, f"d#{act.shelf.address().document_id('trees.txt')}"))
        generations = act.shelf.table.get(act.shelf.address().generation_key) or {}
        current = generations.get(act.shelf.address().generation_name, 0)
        assert document is None or document["file"] != act.file_id or document["generation"] < current


def _nothing_is_left(shelf: Shelf) -> None:
    """When all is forgotten and the nights have passed, nothing is stored of any of it."""
    client = filer(shelf)
    client.forget_all()
    shelf.clock.move(ms=6 * 60_000)
    shelf.sweep()
    shelf.work()
    for _ in range(5):
        shelf.clock.move(ms=DAY_MS)
        assert shelf.sweep("reconcile")["errors"] == 0
        shelf.work()
    assert objects_of(shelf) == []
    assert [sk for _, sk in shelf.rows() if sk != "user"] == []
