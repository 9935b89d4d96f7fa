"""Lists of memories, single ones, and their histories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.writes import Put
from shared.memories.filters import condition_of
from shared.memories.listing import Listing, ListWish
from shared.memories.past import Decided, past_decision
from tests.memories.shelf import ROOT, USER, ids_of

if TYPE_CHECKING:
    from tests.memories.shelf import Reader, Shelf


def test_a_list_is_newest_first_and_of_one_user(shelf: Shelf, reader: Reader) -> None:
    made = [shelf.put(f"note {n}", number=n) for n in range(5)]
    shelf.put("of another", address=shelf.address("bob"))
    assert ids_of(reader.listed()) == made[::-1]
    assert ids_of(reader.listed(limit=2)) == made[::-1]
    assert reader.listed("carol") == []


def test_a_memory_is_a_hit_without_scores_with_its_kind(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I like tea.", kind="fact", metadata={"a": 1})
    (hit,) = reader.hits("tea", output_mode="facts")
    del hit["score"], hit["score_details"]
    shown = reader.memory(memory_id).json
    assert shown["success"] is True
    assert shown["data"] == {**hit, "kind": "fact"}
    assert reader.listed() == [shown["data"]]


def test_a_list_can_be_of_one_kind(shelf: Shelf, reader: Reader) -> None:
    made = {kind: shelf.put(f"a {kind}", kind=kind) for kind in ("summary", "fact", "raw", "chunk")}
    for kind, memory_id in made.items():
        assert ids_of(reader.listed(kind=kind)) == [memory_id]


def test_memories_of_one_moment_are_each_listed_once(shelf: Shelf, reader: Reader) -> None:
    made = {shelf.put(f"note {n}", number=n, at=1_790_000_000_500) for n in range(9)}
    listed = ids_of(reader.listed(limit=2))
    assert len(listed) == 9
    assert set(listed) == made


def test_pages_neither_skip_nor_repeat_while_others_write(shelf: Shelf, reader: Reader) -> None:
    made = [shelf.put(f"note {n}", number=n) for n in range(6)]
    query: dict[str, Any] = {"user_id": USER, "limit": 2}
    seen: list[str] = []
    for number in range(3):
        page = reader.get(ROOT, query=query).json["data"]
        seen += ids_of(page["data"])
        shelf.put("new", number=10 + number)
        if number == 0:
            assert reader.forget(made[3]).status == 200
        query["cursor"] = page["next_cursor"]
    assert seen == [made[n] for n in (5, 4, 2, 1, 0)]
    assert query["cursor"] is None


def test_a_cursor_is_good_for_its_own_list_only(shelf: Shelf, reader: Reader) -> None:
    for number in range(4):
        shelf.put(f"note {number}", number=number, agent_id="a")
        shelf.put(f"note {number}", number=number, address=shelf.address("bob"))
    first: dict[str, Any] = {"user_id": USER, "limit": 1}
    cursor = reader.get(ROOT, query=first).json["data"]["next_cursor"]
    others = [
        {"user_id": "bob"},
        {"user_id": USER, "kind": "raw"},
        {"user_id": USER, "filters": json.dumps({"agent_id": {"eq": "a"}})},
    ]
    for other in others:
        assert reader.get(ROOT, query={**other, "cursor": cursor}).status == 422
    for client in (shelf.client(tenant="other"), shelf.client(project="second")):
        assert client.get(ROOT, query={**first, "cursor": cursor}).status == 422
    for forged in ("x", "", cursor[:-2], "////"):
        assert reader.get(ROOT, query={**first, "cursor": forged}).status == 422


@pytest.mark.parametrize(
    "query",
    [
        "",
        "user_id=",
        "user_id=%20",
        f"user_id={'u' * 256}",
        "user_id=ann&limit=0",
        "user_id=ann&limit=-1",
        "user_id=ann&limit=101",
        "user_id=ann&limit=x",
        "user_id=ann&kind=facts",
        "user_id=ann&filters=x",
        "user_id=ann&filters=[]",
        'user_id=ann&filters={"x":1}',
        "user_id=ann&session_id=s-1",
        "user_id=ann&created_at=2026-11-01",
    ],
)
def test_a_broken_rule_of_a_list_is_422(reader: Reader, query: str) -> None:
    assert reader.get(ROOT, query=query).status == 422


def test_a_nul_in_a_users_name_is_told_as_what_it_is(reader: Reader) -> None:
    (told,) = reader.get(ROOT, query="user_id=an%00n").json["error"]["details"]
    assert (told["field"], told["message"]) == ("query.user_id", "String should have no NUL characters")


def test_a_filter_reads_on_past_what_it_does_not_let_through_and_tells_when_time_is_up(
    shelf: Shelf, reader: Reader
) -> None:
    old = shelf.put("the one", agent_id="rare")
    for number in range(45):
        shelf.put("x" * 30_000, number=number + 1, agent_id="common", indexed=False)
    rare = {"agent_id": {"eq": "rare"}}
    assert ids_of(reader.listed(filters=rare)) == [old]

    where = condition_of(rare)
    wish = ListWish(shelf.address(), 1, where=where, filters=rare)
    hurried = Listing(shelf.composed.backing, seconds=-1)
    pages, page = 0, hurried.page(wish)
    while not page["data"]:
        assert page["next_cursor"]
        page = hurried.page(ListWish(shelf.address(), 1, where=where, filters=rare, cursor=page["next_cursor"]))
        pages += 1
    assert 0 < pages < 5
    assert ids_of(page["data"]) == [old]


def test_a_page_of_long_memories_is_cut_by_its_size(shelf: Shelf, reader: Reader) -> None:
    text = "长" * 200_000
    made = [shelf.put(text, number=n, indexed=False) for n in range(8)]
    page = reader.get(ROOT, query={"user_id": USER})
    assert 0 < len(page.json["data"]["data"]) < 8
    assert len(page.content) < 4_400_000
    assert ids_of(reader.listed()) == made[::-1]


def test_an_unchanged_memory_is_not_sent_again(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I like tea.")
    first = reader.memory(memory_id)
    again = reader.memory(memory_id, headers={"If-None-Match": first.etag})
    assert (again.status, again.content, again.etag) == (304, b"", first.etag)
    assert reader.change(memory_id, memory="I like coffee.").status == 200
    assert reader.memory(memory_id, headers={"If-None-Match": first.etag}).json["data"]["memory"] == "I like coffee."


@pytest.mark.parametrize("memory_id", ["abc", "0" * 36, "00000000-0000-8000-8000-000000000000", "a%2Fb", "%00", "é"])
def test_an_id_that_is_nobodys_is_404_whatever_is_asked(reader: Reader, memory_id: str) -> None:
    assert reader.memory(memory_id).status == 404
    assert reader.history(memory_id).status == 404
    assert reader.forget(memory_id).status == 404
    assert reader.forget(memory_id, "scope=source").status == 404
    assert reader.change(memory_id, memory="x").status == 404
    assert reader.get(f"{ROOT}/erasures/{memory_id}").status == 404


def test_what_is_not_the_callers_is_404(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I like tea.")
    for client in (shelf.client(tenant="other"), shelf.client(project="second")):
        assert client.memory(memory_id).status == 404
        assert client.history(memory_id).status == 404
        assert client.change(memory_id, memory="x").status == 404
        assert client.forget(memory_id).status == 404
        assert client.forget(memory_id, "scope=source").status == 404
        assert client.listed() == []
    assert reader.memory(memory_id.upper()).status == 200


def test_a_history_has_each_state_with_its_event_reason_time_and_task(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I live in Berlin.", kind="fact", task="7c5b1e5e-0000-4000-8000-000000000001")
    shelf.supersede(memory_id, "I live in Madrid.", task="7c5b1e5e-0000-4000-8000-000000000002")
    row = shelf.memory_row(memory_id)
    none = Decided("NONE", "Known already.", shelf.clock.now_ms(), "7c5b1e5e-0000-4000-8000-000000000003")
    shelf.table.write(Put(past_decision(row, none)))
    data = reader.history(memory_id).json["data"]
    assert data["next_cursor"] is None
    told = [(e["event"], e["memory"], e["reason"], e["task_id"][-1]) for e in data["data"]]
    assert told == [
        ("NONE", None, "Known already.", "3"),
        ("UPDATE", "I live in Madrid.", "It says something newer.", "2"),
        ("ADD", "I live in Berlin.", "Written as it came.", "1"),
    ]
    times = [e["at"] for e in data["data"]]
    assert times == sorted(times, reverse=True)
    assert data["data"][0]["metadata"]["memory_type"] == "semantic"


def test_a_long_history_comes_in_pages(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("state 0")
    for number in range(1, 7):
        shelf.supersede(memory_id, f"state {number}" + " long" * 8_000 * (number % 2))
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = reader.history(memory_id, **query).json["data"]
        seen += [entry["memory"][:7] for entry in page["data"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == [f"state {n}" for n in range(6, -1, -1)]
    assert reader.history(shelf.put("other"), cursor=query["cursor"]).status == 422
    assert reader.history(memory_id, limit=0).status == reader.history(memory_id, limit=-1).status == 422


def test_a_page_of_long_states_has_all_that_it_was_asked_for(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("state 00")
    for number in range(1, 40):
        shelf.supersede(memory_id, f"state {number:02}" + " long" * 6_400)
    expected = [f"state {n:02}" for n in range(39, -1, -1)]
    page = reader.history(memory_id, limit=100).json["data"]
    assert [entry["memory"][:8] for entry in page["data"]] == expected
    assert page["next_cursor"] is None
    first = reader.history(memory_id, limit=39).json["data"]
    rest = reader.history(memory_id, limit=39, cursor=first["next_cursor"]).json["data"]
    assert [entry["memory"][:8] for entry in (*first["data"], *rest["data"])] == expected


def test_a_memory_that_a_decision_removed_keeps_its_history_and_nothing_else(shelf: Shelf, reader: Reader) -> None:
    from shared.memories.past import past_state, without_text  # noqa: PLC0415

    memory_id = shelf.put("My pin is 1234.", kind="fact")
    row = shelf.memory_row(memory_id)
    shelf.table.write(Put(without_text(past_state(shelf.composed.backing, row))))
    wish = Decided("DELETE", "The user asked to forget it.", shelf.clock.now_ms(), "t")
    shelf.table.write(Put(past_decision(row, wish)))
    shelf.cloud.aws.dynamodb.delete_item(
        TableName=shelf.table.name, Key={"pk": {"S": row["pk"]}, "sk": {"S": row["sk"]}}
    )
    assert reader.memory(memory_id).status == 404
    assert reader.hits("pin", output_mode="facts") == []
    history = reader.history(memory_id)
    assert [(e["event"], e["memory"]) for e in history.json["data"]["data"]] == [("DELETE", None), ("ADD", None)]
    assert len(reader.history(memory_id, limit=1).json["data"]["data"]) == 1
    assert reader.forget(memory_id).status == 200
    assert reader.history(memory_id).status == 404
    assert shelf.rows("h#") == []
