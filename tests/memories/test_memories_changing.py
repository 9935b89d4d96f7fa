"""A caller's own changes to a memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.transactions import Conflicts
from shared.memories.leftovers import LEFTOVERS
from tests.emulator.faults import Fault, Killed, faults, kill_at
from tests.memories.shelf import ROOT, USER, Reader, shelf_world

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf

LONG = "Maple and birch. " * 2_000


def jobs(shelf: Shelf) -> list[dict[str, Any]]:
    return [item for item in shelf.cloud.items() if item.get("kind", {}).get("S") == LEFTOVERS]


def test_a_new_text_is_found_when_it_is_answered_and_the_old_one_is_history(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I live in Berlin.", kind="fact", metadata={"a": 0.5, "b": [1]}, session_id="s")
    before = reader.memory(memory_id)
    answer = reader.change(memory_id, memory="I live in Madrid.")
    assert answer.status == 200
    after = reader.memory(memory_id)
    assert answer.json["data"] == after.json["data"]
    assert answer.etag == after.etag != before.etag
    told, old = after.json["data"], before.json["data"]
    assert told["updated_at"] > old["updated_at"]
    assert {**told, "updated_at": old["updated_at"], "memory": old["memory"]} == old
    assert reader.texts("where do I live", output_mode="facts") == ["I live in Madrid."]
    assert reader.texts("Berlin", output_mode="facts", k_dense=0) == []
    assert not shelf.indexed("I live in Berlin.")
    assert jobs(shelf) == []
    history = reader.history(memory_id).json["data"]["data"]
    assert [(e["event"], e["memory"], e["task_id"] is None) for e in history] == [
        ("UPDATE", "I live in Madrid.", True),
        ("ADD", "I live in Berlin.", False),
    ]


def test_metadata_categories_and_the_flag_change_without_the_text(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I like tea.", metadata={"a": 1}, memory_type="core")
    read = reader.memory(memory_id).json["data"]["metadata"]
    changed = reader.change(memory_id, metadata={**read, "b": 0.1}, categories=[" drink ", "drink"], immutable=True)
    told = changed.json["data"]
    assert told["metadata"] == {"a": 1, "b": 0.1, "memory_type": "core", "event_created_at": None}
    assert (told["memory"], told["categories"], told["immutable"]) == ("I like tea.", ["drink"], True)
    assert reader.texts("tea", output_mode="raw", filters={"mem_type": {"eq": "drink"}}) == ["I like tea."]
    assert reader.change(memory_id, metadata={}).json["data"]["metadata"] == {
        "memory_type": "core",
        "event_created_at": None,
    }


def test_what_is_so_already_writes_nothing(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I like tea.", metadata={"a": 1})
    etag = reader.memory(memory_id).etag
    answer = reader.change(memory_id, memory="I like tea.", metadata={"a": 1}, categories=[], immutable=False)
    assert (answer.status, answer.etag) == (200, etag)
    assert len(reader.history(memory_id).json["data"]["data"]) == 1


def test_an_immutable_memory_keeps_its_text_until_it_is_set_free(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I like tea.", immutable=True)
    refused = reader.change(memory_id, memory="I like coffee.")
    assert refused.status == 409
    assert refused.json["error"]["code"] == "immutable"
    assert reader.change(memory_id, memory="I like coffee.", immutable=False).status == 409
    assert reader.change(memory_id, categories=["x"]).status == 200
    assert reader.change(memory_id, immutable=False).status == 200
    assert reader.change(memory_id, memory="I like coffee.").status == 200
    assert reader.forget(memory_id).status == 200


def test_a_change_holds_to_its_precondition(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("one")
    etag = reader.memory(memory_id).etag
    changed = reader.change(memory_id, {"If-Match": etag}, memory="two")
    assert changed.status == 200
    refused = reader.change(memory_id, {"If-Match": etag}, memory="three")
    assert refused.status == 412
    assert refused.json["error"]["code"] == "precondition_failed"
    assert reader.change(memory_id, {"If-Match": f'"x", {changed.etag}'}, memory="three").status == 200
    assert reader.change(memory_id, {"If-Match": "*"}, memory="four").status == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "x"},
        {"memory": None},
        {"memory": " "},
        {"memory": 1},
        {"metadata": []},
        {"categories": "x"},
        {"categories": [""]},
        {"categories": ["\x00"]},
        {"categories": ["x" * 65]},
        {"categories": ["x"] * 51},
        {"immutable": "yes"},
    ],
    ids=str,
)
def test_a_broken_rule_of_a_change_is_422_and_changes_nothing(shelf: Shelf, reader: Reader, body: Any) -> None:
    memory_id = shelf.put("one")
    etag = reader.memory(memory_id).etag
    assert reader.change(memory_id, **body).status == 422
    assert reader.memory(memory_id).etag == etag


def test_too_much_text_or_metadata_is_413(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("one")
    assert reader.change(memory_id, memory="x" * 128_001).status == 413
    assert reader.change(memory_id, metadata={"x": "y" * 17_000}).status == 413


def test_long_texts_move_to_objects_and_back_and_each_state_keeps_its_own(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("short")
    for text in (LONG, LONG + "!", "short again"):
        assert reader.change(memory_id, memory=text).json["data"]["memory"] == text
        assert reader.memory(memory_id).json["data"]["memory"] == text
    states = [e["memory"] for e in reader.history(memory_id).json["data"]["data"]]
    assert states == ["short again", LONG + "!", LONG, "short"]
    owners = {
        item["object"]["S"]: (item["pk"]["S"], item["sk"]["S"]) for item in shelf.cloud.items() if "object" in item
    }
    keys = [key for key in shelf.cloud.object_keys() if not key.startswith("keep/erasures/")]
    assert sorted(keys) == sorted(owners)
    for key, (pk, sk) in owners.items():
        assert shelf.objects.head(key).metadata["owner"] == f"{pk}|{sk}"


def test_a_fact_cannot_be_changed_into_another_and_its_old_words_are_free(shelf: Shelf, reader: Reader) -> None:
    one = shelf.put("I like tea.", kind="fact")
    other = shelf.put("I like coffee.", kind="fact")
    refused = reader.change(other, memory="i like TEA")
    assert refused.status == 409
    assert refused.json["error"]["code"] == "duplicate"
    assert reader.texts("coffee", output_mode="facts", k_dense=0) == ["I like coffee."]
    assert reader.change(one, memory="I like water.").status == 200
    assert reader.change(other, memory="I like tea.").status == 200
    fingerprints = {sk for _, sk in shelf.rows("f#")}
    assert len(fingerprints) == 2


def test_parallel_changes_lose_nothing() -> None:
    with shelf_world(conflicts=Conflicts(0.002)) as shelf:
        memory_id = shelf.put("state 0")
        key = shelf.key()
        clients = [Reader(shelf.handler(), key) for _ in range(6)]

        def change(number: int) -> int:
            return clients[number].change(memory_id, memory=f"state {number + 1}").status

        with ThreadPoolExecutor(6) as pool:
            statuses = list(pool.map(change, range(6)))
        assert statuses == [200] * 6
        reader = shelf.client()
        states = [e["memory"] for e in reader.history(memory_id).json["data"]["data"]]
        assert sorted(states) == [f"state {n}" for n in range(7)]
        found = reader.texts("state", output_mode="raw")
        assert found == states[:1]


def test_of_parallel_changes_with_one_precondition_one_wins() -> None:
    with shelf_world() as shelf:
        memory_id = shelf.put("state 0")
        key = shelf.key()
        clients = [Reader(shelf.handler(), key) for _ in range(5)]
        etag = clients[0].memory(memory_id).etag

        def change(number: int) -> int:
            return clients[number].change(memory_id, {"If-Match": etag}, memory=f"state {number + 1}").status

        with ThreadPoolExecutor(5) as pool:
            assert sorted(pool.map(change, range(5))) == [200, 412, 412, 412, 412]


def test_a_change_and_what_is_learnt_at_once_are_both_kept() -> None:
    with shelf_world(conflicts=Conflicts(0.002)) as shelf:
        reader = shelf.client()

        def learn(said: str) -> None:
            message = {"role": "user", "content": said, "timestamp": -1}
            assert reader.post(f"{ROOT}/add", json_body={"user_id": USER, "messages": [message]}).status == 202

        learn("city: Berlin.")
        shelf.work()
        (fact,) = reader.listed(kind="fact")
        changing = shelf.client()
        said = [fact["memory"]]
        for number in range(5):
            learned, changed = f"city: learnt {number}.", f"city: changed {number}."
            learn(learned)
            with ThreadPoolExecutor(2) as pool:
                worked = pool.submit(shelf.work)
                answer = pool.submit(changing.change, fact["id"], memory=changed)
            assert (worked.result(), answer.result().status) == (1, 200)
            said += [learned, changed]
            (now,) = reader.listed(kind="fact")
            states = [entry["memory"] for entry in reader.history(fact["id"], limit=100).json["data"]["data"]]
            assert now["id"] == fact["id"]
            assert now["memory"] == states[0] in (learned, changed)
            assert sorted(states) == sorted(said)
            assert reader.texts("city", output_mode="facts") == [now["memory"]]
        over = [text for text in states[1:] if "changed" in text]  # the others are what was said, too
        assert not any(shelf.indexed(text) for text in over)


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("text", ["I live in Madrid.", LONG], ids=["short", "long"])
def test_a_death_at_any_call_leaves_the_old_or_the_new_and_can_be_tried_again(
    shelf: Shelf, text: str, *, applied: bool
) -> None:
    key = shelf.key()
    for number in count(1):
        doomed, fresh = (Reader(shelf.handler(), key) for _ in range(2))
        old = f"{'I live in Berlin.' if len(text) < 100 else LONG + 'before'} {number}"
        memory_id = shelf.put(old, kind="fact", number=number)
        finished = False
        with kill_at(number, applied=applied), suppress(Killed):
            finished = doomed.change(memory_id, memory=f"{text} {number}").status == 200
        told = fresh.memory(memory_id).json["data"]["memory"]
        assert told in (old, f"{text} {number}")
        assert told in fresh.texts(told[:60], output_mode="facts", top_k=50)
        assert fresh.change(memory_id, memory=f"{text} {number}").status == 200
        states = [e["memory"] for e in fresh.history(memory_id).json["data"]["data"]]
        assert states == [f"{text} {number}", old]
        if finished:
            break
    assert number > 4
    left = [(s["L"][0]["S"], int(s["L"][1]["N"])) for job in jobs(shelf) for s in job["states"]["L"]]
    assert left
    assert all(shelf.memory_row(name)["revision"] != revision for name, revision in left)
    shelf.clock.move(ms=16 * 60_000)
    assert shelf.sweep()["errors"] == 0
    shelf.work()
    assert jobs(shelf) == []
    assert shelf.index.index.present(shelf.address().owner, left) == set()


@pytest.mark.parametrize("broken", ["embedder", "put", "dynamodb", "s3"])
def test_a_dependency_that_is_down_is_503_and_changes_nothing(shelf: Shelf, reader: Reader, broken: str) -> None:
    memory_id = shelf.put(LONG)
    before = reader.memory(memory_id).json["data"]
    shelf.embedder.down = broken == "embedder"
    shelf.index.broken = {broken}
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == broken else None):
        answer = reader.change(memory_id, memory=f"{LONG}!")
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0
    shelf.embedder.down = False
    shelf.index.broken = set()
    assert reader.memory(memory_id).json["data"] == before
    assert reader.texts("maple", output_mode="raw") == [LONG]


def test_what_the_index_does_not_let_go_is_left_to_a_job(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put("I live in Berlin.")
    row = shelf.memory_row(memory_id)
    shelf.index.broken = {"remove"}
    assert reader.change(memory_id, memory="I live in Madrid.").status == 200
    (job,) = jobs(shelf)
    assert job["states"] == {"L": [{"L": [{"S": memory_id}, {"N": str(row["revision"])}]}]}
    assert "expires_at" not in job
    assert reader.texts("Berlin", output_mode="raw", k_dense=0) == []


def test_changing_needs_a_key_that_writes(shelf: Shelf) -> None:
    memory_id = shelf.put("one")
    assert shelf.client(permissions=("read",)).change(memory_id, memory="two").status == 403
    assert shelf.client(permissions=("write",)).change(memory_id, memory="two").status == 200
    assert shelf.client(permissions=("write",)).memory(memory_id).status == 403
