"""Faults that users of memory services met, each with what is right: searching, listing, deleting, odd input."""

from __future__ import annotations

import json
import socket
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from shared.search.embedded.index import EmbeddedIndex
from shared.search.port import IndexMismatch
from tests.memories.shelf import ROOT, Reader, ids_of

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf

YEAR_2024 = 1_720_000_000_000


def test_an_id_that_was_given_out_can_be_read_for_as_long_as_the_memory_is_there(shelf: Shelf, reader: Reader) -> None:
    """An id from an answer was unknown a moment later: ids stay, whatever the memory comes to say."""
    memory_id = shelf.put("one")
    shelf.supersede(memory_id, "two")
    reader.change(memory_id, memory="three")
    for found in (reader.memory(memory_id).json["data"], *reader.listed(), *reader.hits("three", output_mode="raw")):
        assert (found["id"], found["memory"]) == (memory_id, "three")


@pytest.mark.parametrize("memory_type", ["core", "episodic", "semantic", "procedural"])
def test_every_memory_type_that_is_told_can_be_filtered_by(shelf: Shelf, reader: Reader, memory_type: str) -> None:
    """Filtering by a documented type returned nothing, whatever was stored."""
    wanted = {"mem_type": {"eq": memory_type}}
    assert reader.listed(filters=wanted) == []
    memory_id = shelf.put("cedar", memory_type=memory_type)
    assert ids_of(reader.listed(filters=wanted)) == [memory_id]
    assert ids_of(reader.hits("cedar", output_mode="raw", filters=wanted)) == [memory_id]


def test_a_superseded_fact_is_current_in_no_answer(shelf: Shelf, reader: Reader) -> None:
    """Two facts that contradict each other were both shown as true."""
    memory_id = shelf.put("I live in Paris.", kind="fact")
    shelf.supersede(memory_id, "I live in Rome.")
    assert reader.texts("where do I live", output_mode="facts") == ["I live in Rome."]
    assert reader.texts("Paris", output_mode="facts", min_semantic_similarity=0) == ["I live in Rome."]
    states = [e["memory"] for e in reader.history(memory_id).json["data"]["data"]]
    assert states == ["I live in Rome.", "I live in Paris."]


def test_of_two_one_deleted_is_one_in_search_and_in_the_list(shelf: Shelf, reader: Reader) -> None:
    """What was deleted was still found, and still counted."""
    kept, gone = shelf.put("cedar one"), shelf.put("cedar two", number=1)
    assert reader.forget(gone).status == 200
    assert ids_of(reader.hits("cedar", output_mode="raw")) == [kept]
    assert ids_of(reader.listed()) == [kept]
    assert ids_of(reader.hits("cedar two", output_mode="raw", min_semantic_similarity=0)) == [kept]


def test_what_an_index_keeps_is_not_what_is_told(shelf: Shelf, reader: Reader) -> None:
    """A delete said that it had succeeded while the exact text was still found."""
    memory_id = shelf.put("cedar one")
    shelf.index.broken = {"remove"}
    assert reader.forget(memory_id).status == 200
    assert shelf.indexed("cedar one")
    assert reader.hits("cedar one", output_mode="raw") == []


def test_deleting_all_of_a_user_while_they_add_cuts_at_the_delete(shelf: Shelf, reader: Reader) -> None:
    """A delete of everything raced with adds, and what was left was anybody's guess."""
    old = [shelf.row(f"cedar {n}", number=n) for n in range(3)]
    shelf.store(old[0], "cedar 0")
    reader.forget_all()
    # Made ready under the generation before: whatever comes of them later is not seen.
    shelf.store(old[1], "cedar 1")
    new = shelf.put("cedar new")
    shelf.work()
    shelf.store(old[2], "cedar 2")
    assert ids_of(reader.listed()) == [new]
    assert ids_of(reader.hits("cedar", output_mode="raw")) == [new]


def test_twenty_overlapping_deletes_all_end(shelf: Shelf) -> None:
    """Deletes of the same memories at the same time blocked each other for ever."""
    made = [shelf.put(f"cedar {n}", number=n) for n in range(4)]
    key = shelf.key()
    clients = [Reader(shelf.handler(), key) for _ in range(20)]
    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda n: clients[n].forget(made[n // 5]).status, range(20)))
    assert statuses.count(200) == 4
    assert set(statuses) == {200, 404}


def test_the_same_search_after_a_delete_answers_anew(shelf: Shelf, reader: Reader) -> None:
    """A remembered answer, and a body of null with a delete, broke what followed."""
    memory_id = shelf.put("cedar")
    assert len(reader.hits("cedar", output_mode="raw")) == 1
    json_null = {"Content-Type": "application/json"}
    assert reader.delete(f"{ROOT}/{memory_id}", body=b"null", headers=json_null).status == 200
    assert reader.hits("cedar", output_mode="raw") == []
    assert reader.delete(f"{ROOT}/{memory_id}", body=b"null", headers=json_null).status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{ROOT}/search"),
        ("GET", ROOT),
        ("DELETE", ROOT),
        ("GET", f"{ROOT}/x"),
        ("PATCH", f"{ROOT}/x"),
        ("DELETE", f"{ROOT}/x"),
        ("GET", f"{ROOT}/x/history"),
        ("GET", f"{ROOT}/erasures/x"),
    ],
)
def test_nothing_is_answered_without_a_key(shelf: Shelf, method: str, path: str) -> None:
    """Whoever named a user was shown that user's memories."""
    answer = Reader(shelf.handler()).send(method, path, query={"user_id": "ann"}, json_body={"user_id": "ann"})
    assert answer.status == 401
    assert answer.json["success"] is False


ALIKE = ["my-team-1", "my-team", "a&run=b", "a", "a%", "%", "a:b", "a,b", "A", "acme-corp", "acme", "/notes", "/notes2"]
ALIKE += ["a b/c?#", "ann\u200b", "用户", "用", "u' OR 1=1 --", "*", '"}', "e\u0301", "\u00e9"]


def test_users_whose_names_are_alike_or_odd_never_meet(shelf: Shelf, reader: Reader) -> None:
    """Names with separators, wildcards or common beginnings were taken for each other."""
    for name in ALIKE:
        shelf.put(f"cedar of {name}", address=shelf.address(name))
    for name in ALIKE:
        hits = reader.hits("cedar", name, output_mode="raw", min_semantic_similarity=0)
        assert [(hit["user_id"], hit["memory"]) for hit in hits] == [(name, f"cedar of {name}")]
        assert [hit["user_id"] for hit in reader.listed(name)] == [name]


def test_tenants_whose_names_begin_alike_never_meet(shelf: Shelf) -> None:
    """A scope was compared by its beginning, so that one tenant read another's."""
    scopes = [("acme", "default"), ("acme-corp", "default"), ("acme", "default2"), ("acme.default", "x")]
    for tenant, project in scopes:
        shelf.put(f"cedar of {tenant} {project}", address=shelf.address("ann", tenant, project))
    for tenant, project in scopes:
        client = shelf.client(tenant=tenant, project=project)
        assert client.texts("cedar", output_mode="raw") == [f"cedar of {tenant} {project}"]
        assert len(client.listed()) == 1


def test_a_value_of_a_filter_is_only_a_value(shelf: Shelf, reader: Reader) -> None:
    """Quotes, wildcards and braces in a filter changed what was asked of the store."""
    values = ["' OR 1=1 --", "*", '"}', "%", "a|b", "\\", "s", "会话"]
    made = {value: shelf.put("cedar", number=n, session_id=value) for n, value in enumerate(values)}
    for value, memory_id in made.items():
        filters = {"session_id": {"eq": value}}
        assert ids_of(reader.hits("cedar", output_mode="raw", filters=filters)) == [memory_id]
        assert ids_of(reader.listed(filters=filters)) == [memory_id]
    assert reader.hits("cedar", output_mode="raw", filters={"session_id": {"eq": "S"}}) == []


def test_a_list_is_no_text_and_a_text_no_list(reader: Reader) -> None:
    """One name where a list was wanted was read letter by letter."""
    for wrong in ({"mem_type": {"in": "core"}}, {"agent_id": {"eq": ["a"]}}, {"agent_id": "a"}):
        assert reader.search("q", filters=wrong).status == 422
        assert reader.get(ROOT, query={"user_id": "ann", "filters": json.dumps(wrong)}).status == 422


def test_operators_that_are_not_known_are_refused_and_not_ignored(reader: Reader) -> None:
    """An operator that a store did not know was left out, and everything was found."""
    for wrong in ({"created_at": {"ne": "2026-01-01"}}, {"agent_id": {"gt": "a"}}, {"NOT": []}, {"OR": []}):
        assert reader.search("q", filters=wrong).status == 422


def test_times_are_told_in_utc_and_an_event_is_found_by_its_own(shelf: Shelf, reader: Reader) -> None:
    """Times were shown in somebody's time zone, and a caller's own time was ignored by filters."""
    shelf.put("cedar", event_at=YEAR_2024)
    in_2024 = {"event_created_at": {"gte": "2024-01-01", "lt": "2025-01-01"}}
    (hit,) = reader.hits("cedar", output_mode="raw", filters=in_2024)
    assert hit["metadata"]["event_created_at"] == "2024-07-03T09:46:40.000Z"
    assert hit["created_at"].endswith("Z")
    assert reader.hits("cedar", output_mode="raw", filters={"created_at": {"lt": "2025-01-01"}}) == []


def test_what_is_old_is_found_among_many_new_ones(shelf: Shelf, reader: Reader) -> None:
    """A filter was applied to the first few hits, so that what it lets through was missed."""
    old = {shelf.put(f"cedar {n}", number=n, event_at=YEAR_2024) for n in range(5)}
    shelf.put_many(["cedar " * 3] * 150)
    found = reader.hits(
        "cedar", output_mode="raw", top_k=5, filters={"event_created_at": {"lt": "2025-01-01"}}, k_sparse=0
    )
    assert set(ids_of(found)) == old


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "", "ten", "101", "9" * 30])
def test_a_limit_that_is_none_is_refused(reader: Reader, limit: str) -> None:
    """Limits of nothing or less were taken, or broke the server."""
    assert reader.get(ROOT, query={"user_id": "ann", "limit": limit}).status == 422


def test_near_is_kept_far_is_dropped_and_scores_fall(shelf: Shelf, reader: Reader) -> None:
    """A threshold kept what was far, and every score was 1, or 0."""
    shelf.put("cedar callbacks are retried three times")
    shelf.put("lunch with the cedar people of the other town", number=1)
    ask = {"output_mode": "raw", "min_semantic_similarity": 0.9, "k_sparse": 0}
    assert reader.texts("cedar callbacks are retried three times", **ask) == ["cedar callbacks are retried three times"]
    hits = reader.hits("cedar callbacks", output_mode="raw", min_semantic_similarity=0)
    scores = [hit["score"] for hit in hits]
    assert len(set(scores)) == len(scores) == 2
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@pytest.mark.parametrize("user_id", ["", "%20"])
def test_an_empty_name_is_no_user(reader: Reader, user_id: str) -> None:
    """An empty name filtered nothing, and everybody's memories were shown or deleted."""
    assert reader.get(ROOT, query=f"user_id={user_id}").status == 422
    assert reader.delete(ROOT, query=f"user_id={user_id}").status == 422


def test_a_change_of_the_text_keeps_what_the_caller_said_of_it(shelf: Shelf, reader: Reader) -> None:
    """Changing a text lost the metadata beside it."""
    memory_id = shelf.put("one", metadata={"tags": ["x"], "cost": 0.1}, session_id="s", categories=["plan"])
    before = reader.memory(memory_id).json["data"]
    after = reader.change(memory_id, memory="two").json["data"]
    assert {**after, "memory": "one", "updated_at": before["updated_at"]} == before


def test_looking_for_or_changing_what_is_not_there_makes_nothing(shelf: Shelf, reader: Reader) -> None:
    """Reading an unknown name created it."""
    before = shelf.cloud.items()
    unknown = str(uuid.uuid4())
    assert reader.memory(unknown).status == reader.change(unknown, memory="x").status == 404
    assert reader.hits("q", "new") == reader.listed("new") == []
    assert [i for i in shelf.cloud.items() if i["pk"]["S"].startswith(("L#", "F#", "J#"))] == [
        i for i in before if i["pk"]["S"].startswith(("L#", "F#", "J#"))
    ]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我昨天在上海买了一只橘猫", "你还记得我买了什么猫吗?"),
        ("云工开物 300 元学生券", "云工开物优惠券"),
        ("私は京都で抹茶を飲むのが好きです", "京都で何を飲みますか"),
        ("서울에서 김치찌개를 먹었다", "김치찌개를 어디서 먹었나요"),
    ],
)
def test_words_of_languages_without_spaces_are_found(shelf: Shelf, reader: Reader, text: str, question: str) -> None:
    """Questions in such languages matched no word, or one word too many made them match nothing."""
    shelf.put(text)
    (hit,) = reader.hits(question, output_mode="raw", k_dense=0)
    assert hit["memory"] == text
    assert hit["score_details"]["sparse_score"] > 0


ODD = ["<|endoftext|>", "\U0001f600 \U0001f469\u200d\U0001f469", "密钥 sk-abc 是", "\\u4f60", "\u2028\u2029"]
ODD += ["Z\u0361a\u0337l", "\ufeffx", "'; DROP TABLE m; --"]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_odd_characters_come_back_as_they_are(shelf: Shelf, reader: Reader, odd: str) -> None:
    """Special tokens, emoji and escapes broke the server, or came back as something else."""
    memory_id = shelf.put(f"cedar {odd}", metadata={odd: odd}, session_id=odd)
    for told in (reader.memory(memory_id).json["data"], reader.hits(f"cedar {odd}", output_mode="raw")[0]):
        assert told["memory"] == f"cedar {odd}"
        assert told["metadata"][odd] == odd
        assert told["session_id"] == odd
    assert reader.change(memory_id, memory=f"maple {odd}").json["data"]["memory"] == f"maple {odd}"
    assert reader.texts("maple", output_mode="raw") == [f"maple {odd}"]


def test_a_null_character_is_left_out_and_half_a_character_refused(shelf: Shelf, reader: Reader) -> None:
    """Such characters broke the server."""
    memory_id = shelf.put("cedar")
    assert reader.change(memory_id, memory="ma\x00ple").json["data"]["memory"] == "maple"
    json_type = {"Content-Type": "application/json"}
    for body in (b'{"memory": "\\ud800"}', b"\xff\xfe", b"{", b'{"memory": NaN}', b"[" * 500):
        assert reader.patch(f"{ROOT}/{memory_id}", body=body, headers=json_type).status == 422
        assert reader.post(f"{ROOT}/search", body=body, headers=json_type).status == 422
    assert reader.memory(memory_id).json["data"]["memory"] == "maple"


@pytest.mark.parametrize("user_id", [123, None, True, ["ann"], {"id": "ann"}], ids=str)
def test_a_user_that_is_no_text_is_refused(reader: Reader, user_id: Any) -> None:
    """A number for a user broke the server."""
    assert reader.post(f"{ROOT}/search", json_body={"user_id": user_id, "query": "q"}).status == 422


def test_null_metadata_is_as_if_it_were_left_out(shelf: Shelf, reader: Reader) -> None:
    """A null broke the server."""
    memory_id = shelf.put("one", metadata={"a": 1})
    told = reader.change(memory_id, memory="two", metadata=None, categories=None, immutable=None)
    assert told.json["data"]["metadata"]["a"] == 1


def test_a_text_beyond_any_models_window_is_found_to_its_end(shelf: Shelf, reader: Reader) -> None:
    """A long text failed as a whole, or only its beginning was found."""
    text = "".join(f"Line {n} is about nothing much at all. " for n in range(1_500)) + "The treasure is under the oak."
    memory_id = shelf.put("short")
    assert len(text) > 50_000
    assert reader.change(memory_id, memory=text).status == 200
    assert reader.texts("treasure under the oak", output_mode="raw") == [text]


def test_many_requests_leave_no_threads_behind(shelf: Shelf, reader: Reader) -> None:
    """Each request left a thread behind, until none could be made any more."""
    memory_id = shelf.put("cedar")

    def ask(number: int) -> None:
        assert reader.change(memory_id, memory=f"cedar {number}").status == 200
        assert len(reader.hits("cedar", output_mode="raw")) == len(reader.listed()) == 1

    for number in range(20):  # the threads that calls share are made as they are needed, up to a number
        ask(number)
    before = threading.active_count()
    for number in range(60):
        ask(number)
    assert threading.active_count() <= before + 2


def test_nothing_that_a_text_names_is_asked(shelf: Shelf, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses in texts were fetched, also those inside of the network."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    text = "see http://169.254.169.254/latest/meta-data and ![x](https://example.org/x.png)"
    said = {"role": "user", "content": text, "timestamp": -1}
    assert reader.post(f"{ROOT}/add", json_body={"user_id": "ann", "messages": [said], "mode": "raw"}).status == 202
    shelf.work()
    assert reader.texts("see", output_mode="raw") == [text]
    assert reader.texts(text, output_mode="raw") == [text]


def test_an_index_of_another_model_is_refused_at_its_start(shelf: Shelf) -> None:
    """Vectors of another length were stored, and nothing was found from then on."""
    shelf.put("cedar")
    for name, dimension in (("other", 256), ("hash", 128)):
        with pytest.raises(IndexMismatch) as refused:
            EmbeddedIndex(shelf.folder, name, dimension).ensure()
        assert "reindex" in refused.value.message
