"""Messages are found by what was said around them: what is forgotten or changed must leave its neighbours too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulator.faults import intercepted
from tests.memories.shelf import ROOT, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulator.faults import Call
    from tests.memories.shelf import Shelf

SAID = ("Thanks a lot.", "I moved to Munich.", "I like green tea.")
LONG = "长" * 11_500


def told(shelf: Shelf, reader: Reader, said: Sequence[str] = SAID) -> list[str]:
    """Store messages, and return their ids in order."""
    messages = [{"role": "user", "content": text, "timestamp": 1_796_000_000_000 + n} for n, text in enumerate(said)]
    made = reader.post(f"{ROOT}/add", json_body={"user_id": "ann", "messages": messages, "mode": "raw"})
    assert made.status == 202, made.content
    assert shelf.work() == 1
    ids = {memory["memory"]: memory["id"] for memory in reader.listed()}
    return [ids[text] for text in said]


def found(reader: Reader, query: str) -> set[str]:
    return set(reader.texts(query, output_mode="raw", k_dense=0, k_sparse=10))


def everywhere(shelf: Shelf) -> str:
    return "".join(str(item) for item in shelf.cloud.items() if item["pk"]["S"].startswith("L#"))


def test_what_is_deleted_leaves_the_messages_beside_it_too(shelf: Shelf, reader: Reader) -> None:
    before, deleted, after = told(shelf, reader)
    assert found(reader, "Munich") == set(SAID)
    assert reader.forget(deleted).status == 200
    shelf.sweep()
    shelf.work()
    assert found(reader, "Munich") == set()
    assert "Munich" not in everywhere(shelf)
    assert found(reader, "green tea") == {SAID[2]}
    for memory_id in (before, after):
        assert [state["event"] for state in reader.history(memory_id).json["data"]["data"]] == ["ADD"]


def test_what_is_changed_is_found_beside_as_it_is_now(shelf: Shelf, reader: Reader) -> None:
    _, changed, _ = told(shelf, reader)
    assert reader.change(changed, memory="I moved to Lisbon.").status == 200
    shelf.sweep()
    shelf.work()
    assert found(reader, "Munich") == set()
    assert found(reader, "Lisbon") == {"I moved to Lisbon.", SAID[0], SAID[2]}


def test_the_work_can_be_done_twice_and_after_the_neighbours_are_gone(shelf: Shelf, reader: Reader) -> None:
    before, deleted, after = told(shelf, reader)
    assert reader.forget(deleted).status == 200
    assert reader.forget(after).status == 200
    shelf.sweep()
    assert shelf.work() == 2
    revision = shelf.memory_row(before, shelf.address("ann"))["revision"]
    shelf.sweep()
    assert shelf.work() == 0
    assert shelf.memory_row(before, shelf.address("ann"))["revision"] == revision
    assert found(reader, "Munich tea") == set()


def test_a_long_message_beside_that_goes_while_it_is_read_is_no_fault(shelf: Shelf, reader: Reader) -> None:
    long, between, deleted = told(shelf, reader, (LONG, "I moved to Munich.", "I like green tea."))
    assert reader.forget(deleted).status == 200
    shelf.sweep()
    there, other = shelf.memory_row(long, shelf.address("ann"))["object"], shelf.client()
    left = [lambda: other.change(long, memory=f"{LONG[:-1]}江")]

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        if call.operation == "GetObject" and there in request.url and left:
            assert left.pop()().status == 200
        return apply()

    with intercepted(around):
        assert shelf.work() >= 1  # each is done the first time
    assert not left
    row = shelf.memory_row(between, shelf.address("ann"))
    assert (row["previous"][-1], row["following"]) == ("江", "")
