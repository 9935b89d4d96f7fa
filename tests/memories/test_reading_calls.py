"""What each operation of the reading side asks of AWS and of the index, and how much of it one after the other."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from shared.tenancy import background
from tests.emulator.faults import recorded
from tests.memories.shelf import ROOT, USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulator.faults import Calls
    from tests.memories.shelf import Reader, Shelf

BATCH, TRANSACT, GET, QUERY, PUT, UPDATE, DELETE = (
    f"dynamodb.{name}"
    for name in ("BatchGetItem", "TransactWriteItems", "GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")
)
STORE, READ, COPY, ERASE = (f"s3.{name}" for name in ("PutObject", "GetObject", "CopyObject", "DeleteObject"))
SEND = "sqs.SendMessage"
LONG = "Cedar and birch. " * 2_000


def asked(shelf: Shelf, call: Callable[[], Any], status: int = 200) -> Calls:
    shelf.index.calls.clear()
    with recorded() as calls:
        answer = call()
    assert answer.status == status, answer.content
    return calls


@pytest.fixture
def warm(shelf: Shelf, reader: Reader) -> Reader:
    """Return a client whose key is known, with some memories."""
    for number in range(12):
        shelf.put(f"cedar {number}", number=number)
    reader.listed()
    background._thread().submit(lambda: None).result()  # usage is written beside requests: not in what is counted
    return reader


def test_a_search_asks_the_index_once_and_the_table_once(shelf: Shelf, warm: Reader) -> None:
    calls = asked(shelf, lambda: warm.search("cedar", output_mode="raw"))
    assert (calls.names, shelf.index.calls) == ([BATCH], ["search"])
    context = [{"content": "I was in Oslo with Ana."}]
    calls = asked(shelf, lambda: warm.search("cedar there?", output_mode="raw", window_context=context))
    assert (calls.names, shelf.index.calls) == ([BATCH], ["search"])
    calls = asked(shelf, lambda: warm.search("q", "nobody"))
    assert (calls.names, shelf.index.calls) == ([], ["search"])


def test_more_than_a_hundred_candidates_are_read_beside_each_other(shelf: Shelf, warm: Reader) -> None:
    shelf.put_many([f"cedar maple {n} word{n}" for n in range(55)])
    shelf.put_many([f"birch {n}" for n in range(60)])
    calls = asked(shelf, lambda: warm.search("cedar birch", output_mode="raw", top_k=100, min_semantic_similarity=0))
    assert set(calls.names) == {BATCH}
    assert calls.sequential == 1


def test_original_and_long_texts_cost_a_round_each(shelf: Shelf, warm: Reader) -> None:
    task = str(uuid.uuid4())
    shelf.put("Birch said once.", task=task)
    shelf.put("Birch in short.", kind="summary", task=task)
    calls = asked(shelf, lambda: warm.search("birch", return_raw_text=True))
    assert (calls.names, calls.sequential) == ([BATCH, BATCH], 2)
    shelf.put(LONG, modes=["facts"])
    calls = asked(shelf, lambda: warm.search("birch", output_mode="facts"))
    assert (calls.names, calls.sequential) == ([BATCH, READ], 2)


def test_a_quota_costs_two_writes(shelf: Shelf, warm: Reader) -> None:
    limited = shelf.client(quotas={"memory_search": 9})
    limited.listed()
    background._thread().submit(lambda: None).result()
    calls = asked(shelf, lambda: limited.search("cedar", output_mode="raw"))
    assert calls.names == [UPDATE, BATCH, UPDATE]


def test_reads_take_one_round(shelf: Shelf, warm: Reader) -> None:
    memory_id = shelf.put("one")
    assert asked(shelf, lambda: warm.memory(memory_id)).names == [BATCH]
    for query in ("", "&kind=raw", "&limit=2", '&filters={"agent_id":{"eq":"a"}}'):
        calls = asked(shelf, lambda: warm.get(ROOT, query=f"user_id={USER}{query}"))  # noqa: B023 - called at once
        assert (sorted(calls.names), calls.sequential) == ([GET, QUERY], 1)
    calls = asked(shelf, lambda: warm.history(memory_id))
    assert (calls.names, calls.sequential) == ([BATCH, QUERY], 2)
    assert shelf.index.calls == []


def test_a_change_prepares_at_once_commits_and_cleans_up(shelf: Shelf, warm: Reader) -> None:
    memory_id = shelf.put("one")
    calls = asked(shelf, lambda: warm.change(memory_id, memory="two"))
    assert calls.names == [BATCH, PUT, TRANSACT, DELETE]
    assert shelf.index.calls == ["put", "remove"]
    long = shelf.put(LONG)
    calls = asked(shelf, lambda: warm.change(long, memory=f"{LONG}!"))
    assert calls.names[:2] == [BATCH, READ]
    assert sorted(calls.names[2:5]) == sorted([PUT, COPY, STORE])
    assert calls.names[5:] == [TRANSACT, ERASE, DELETE]
    assert calls.sequential == 6
    assert asked(shelf, lambda: warm.change(memory_id, memory="two")).names == [BATCH]


def test_forgetting_looks_logs_and_commits(shelf: Shelf, warm: Reader) -> None:
    warm.forget(shelf.put("zero"))
    background._thread().submit(lambda: None).result()
    memory_id = shelf.put("one")
    calls = asked(shelf, lambda: warm.forget(memory_id))
    assert calls.names == [BATCH, QUERY, STORE, TRANSACT, DELETE]
    assert shelf.index.calls == ["remove"]
    calls = asked(shelf, lambda: warm.delete(ROOT, query=f"user_id={USER}"), 202)
    assert calls.names == [GET, STORE, TRANSACT, SEND]
    assert shelf.index.calls == []
