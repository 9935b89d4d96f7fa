"""What each operation asks of AWS: how many calls, and how many of them one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.tenancy import background
from tests.emulator.faults import recorded
from tests.stores.world import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulator.faults import Calls
    from tests.stores.world import StoreClient

BATCH, TRANSACT, GET, QUERY = (
    f"dynamodb.{name}" for name in ("BatchGetItem", "TransactWriteItems", "GetItem", "Query")
)
PUT, READ, COPY, ERASE = (f"s3.{name}" for name in ("PutObject", "GetObject", "CopyObject", "DeleteObject"))


def asked(call: Callable[[], Any]) -> Calls:
    with recorded() as calls:
        assert call().status == 200
    return calls


@pytest.fixture
def warm(client: StoreClient) -> tuple[StoreClient, str, dict[str, Any]]:
    """Return a client whose key is known, a store, and a memory that is not alone in its directory."""
    store = client.store()
    memory = client.memory(store, "/a/b/c.md", "one")
    client.memory(store, "/a/b/d.md", "two")
    background._thread().submit(lambda: None).result()  # usage is written beside requests: not in what is counted
    return client, store, memory


Warm = tuple["StoreClient", str, "dict[str, Any]"]


def test_create_stores_the_bytes_while_it_looks_and_then_commits(warm: Warm) -> None:
    client, store, _ = warm
    calls = asked(lambda: client.create(store, "/a/b/new.md"))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, PUT, TRANSACT]), 2)
    deep = asked(lambda: client.create(store, "/" + "/".join("abcdefghijklmnopqrst"[::-1])))
    assert (sorted(deep.names), deep.sequential) == (sorted([BATCH, PUT, TRANSACT]), 2)


def test_update_stores_the_bytes_while_it_looks_and_then_commits(warm: Warm) -> None:
    client, store, memory = warm
    calls = asked(lambda: client.update(store, memory["id"], content="new"))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, PUT, TRANSACT]), 2)
    both = asked(lambda: client.update(store, memory["id"], content="newer", path="/x/y/z"))
    assert (sorted(both.names), both.sequential) == (sorted([BATCH, BATCH, PUT, TRANSACT]), 2)


def test_a_rename_alone_copies_the_bytes_first(warm: Warm) -> None:
    client, store, memory = warm
    calls = asked(lambda: client.update(store, memory["id"], path="/e"))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, BATCH, COPY, TRANSACT]), 3)
    again = asked(lambda: client.update(store, memory["id"], path="/f/g"))
    assert (again.names, again.sequential) == ([BATCH, COPY, TRANSACT], 3)
    emptying = asked(lambda: client.update(store, memory["id"], path="/h"))
    assert (sorted(emptying.names), emptying.sequential) == (sorted([BATCH, BATCH, COPY, TRANSACT]), 3)


def test_retrieve_reads_the_row_and_then_the_bytes(warm: Warm) -> None:
    client, store, memory = warm
    calls = asked(lambda: client.retrieve(store, memory["id"]))
    assert (calls.names, calls.sequential) == ([BATCH, READ], 2)
    assert asked(lambda: client.retrieve(store, memory["id"], query="view=basic")).names == [BATCH]


def test_delete_looks_and_commits_and_beside_that_looks_closer(warm: Warm) -> None:
    client, store, memory = warm
    calls = asked(lambda: client.remove(store, memory["id"]))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, BATCH, TRANSACT]), 2)
    alone = client.memory(store, "/alone")
    calls = asked(lambda: client.remove(store, alone["id"]))
    assert (calls.names, calls.sequential) == ([BATCH, TRANSACT], 2)


def test_a_delete_that_empties_directories_commits_again_with_what_it_saw_beside(warm: Warm) -> None:
    client, store, _ = warm
    lonely = client.memory(store, "/x/y/z")
    calls = asked(lambda: client.remove(store, lonely["id"]))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, BATCH, TRANSACT, TRANSACT]), 3)
    moved = client.memory(store, "/x/y/z")
    calls = asked(lambda: client.update(store, moved["id"], content="new", path="/w"))
    assert (sorted(calls.names), calls.sequential) == (sorted([BATCH, BATCH, PUT, TRANSACT, TRANSACT]), 3)


@pytest.mark.parametrize(
    ("query", "ranges"),
    [
        ("", 1),
        ("depth=1", 2),
        ("depth=3", 4),
        ("path_prefix=/a", 1),
        ("order=desc", 1),
        ("order_by=created_at", 1),
        ("order_by=updated_at", 1),
    ],
)
def test_a_basic_list_is_one_round(warm: Warm, query: str, ranges: int) -> None:
    client, store, _ = warm
    calls = asked(lambda: client.get(f"{ROOT}/{store}/memories", query=query))
    assert (sorted(calls.names), calls.sequential) == (sorted([GET, *[QUERY] * ranges]), 1)


def test_a_full_list_adds_one_round(warm: Warm) -> None:
    client, store, _ = warm
    calls = asked(lambda: client.get(f"{ROOT}/{store}/memories", query="view=full"))
    assert (sorted(calls.names), calls.sequential) == (sorted([GET, QUERY, READ, READ]), 2)


def test_lists_of_versions_are_one_round_and_one_more_with_contents(warm: Warm) -> None:
    client, store, memory = warm
    for query in ("", "operation=created", f"memory_id={memory['id']}", "session_id=s"):
        calls = asked(lambda: client.get(f"{ROOT}/{store}/memory_versions", query=query))  # noqa: B023 - called at once
        assert (sorted(calls.names), calls.sequential) == (sorted([GET, QUERY]), 1)
    calls = asked(lambda: client.get(f"{ROOT}/{store}/memory_versions", query="view=full"))
    assert (sorted(calls.names), calls.sequential) == (sorted([GET, QUERY, READ, READ]), 2)


def test_redaction_hides_and_then_erases_and_logs_at_once(warm: Warm) -> None:
    client, store, memory = warm
    client.update(store, memory["id"], content="new")
    version = f"{ROOT}/{store}/memory_versions/{memory['memory_version_id']}/redact"
    calls = asked(lambda: client.post(version))
    assert (calls.names[:3], sorted(calls.names[3:])) == ([BATCH, GET, TRANSACT], sorted([ERASE, PUT]))
    assert calls.sequential == 4


def test_stores_take_one_call_and_their_delete_two(warm: Warm) -> None:
    client, store, _ = warm
    assert asked(lambda: client.post(ROOT, json_body={"name": "n"})).names == ["dynamodb.PutItem"]
    assert asked(lambda: client.get(ROOT)).names == [QUERY]
    assert asked(lambda: client.get(f"{ROOT}/{store}")).names == [GET]
    assert asked(lambda: client.post(f"{ROOT}/{store}", json_body={"name": "m"})).names == [GET, "dynamodb.UpdateItem"]
    assert asked(lambda: client.post(f"{ROOT}/{store}/archive")).names == [GET, TRANSACT]
    assert asked(lambda: client.delete(f"{ROOT}/{store}")).names == [TRANSACT, PUT]
