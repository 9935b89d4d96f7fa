"""What a search answers: hits, their shape and their scores, how many, and from whom."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from tests.memories.shelf import USER, ids_of

if TYPE_CHECKING:
    from tests.memories.shelf import Reader, Shelf


def test_a_user_with_nothing_finds_nothing(reader: Reader) -> None:
    answer = reader.search("anything", "nobody")
    assert answer.status == 200
    assert answer.json["success"] is True
    data = answer.json["data"]
    assert uuid.UUID(data.pop("task_id"))
    assert data == {
        "status": "completed",
        "data": [],
        "balances": [],
        "buckets": None,
        "meta_info": {"mode": "fast", "pipeline_status": "fast_search", "recall_decision": None},
    }
    assert uuid.UUID(answer.json["meta"]["request_id"])


def test_a_hit_has_the_shape_of_the_document(shelf: Shelf, reader: Reader) -> None:
    memory_id = shelf.put(
        "Retry a failed callback at most 3 times.",
        kind="summary",
        agent_id="agent-a",
        app_id="demo-app",
        session_id="callback-session-001",
        metadata={"source": "memorax-code", "cost": 0.1, "tags": ["a", "b"]},
        content_type="code",
        memory_type="procedural",
        categories=["constraint"],
        event_at=1_790_000_000_000,
        at=1_790_000_000_123,
    )
    (hit,) = reader.hits("how often is a callback retried")
    details = hit.pop("score_details")
    assert details["rank_score"] == hit.pop("score") > 0
    assert details["rank_method"] == "channel_rrf"
    assert 0 < details["semantic_similarity"] <= 1
    assert details["sparse_score"] > 0
    assert hit == {
        "id": memory_id,
        "memory": "Retry a failed callback at most 3 times.",
        "user_id": USER,
        "agent_id": "agent-a",
        "app_id": "demo-app",
        "session_id": "callback-session-001",
        "project_id": "default",
        "api_key_uuid": "01934000-0000-0000-0000-000000000000",
        "content_type": "code",
        "created_at": "2026-09-21T14:13:20.123Z",
        "updated_at": "2026-09-21T14:13:20.123Z",
        "metadata": {
            "source": "memorax-code",
            "cost": 0.1,
            "tags": ["a", "b"],
            "memory_type": "procedural",
            "event_created_at": "2026-09-21T14:13:20.000Z",
        },
        "categories": ["constraint"],
        "immutable": False,
    }


def test_each_output_mode_searches_its_own_kind_and_raw_writes_are_in_all(shelf: Shelf, reader: Reader) -> None:
    made = {kind: shelf.put(f"The {kind} of the trip to Oslo.", kind=kind) for kind in ("summary", "fact", "raw")}
    verbatim = shelf.put("Verbatim words of the trip to Oslo.", modes=["summary", "facts", "raw"])
    for mode, kind in (("summary", "summary"), ("facts", "fact"), ("raw", "raw")):
        assert set(ids_of(reader.hits("trip to Oslo", output_mode=mode))) == {made[kind], verbatim}
    assert set(ids_of(reader.hits("trip to Oslo"))) == {made["summary"], verbatim}


def test_channels_find_as_many_as_the_documents_table_says(shelf: Shelf, reader: Reader) -> None:
    for number in range(30):
        shelf.put(f"Note {number} about cedar callbacks and word{number}", number=number)

    def found(**k: int) -> int:
        return len(reader.hits("cedar callbacks", output_mode="raw", **k))

    assert 5 <= found(top_k=5) <= 10
    assert 5 <= found(top_k=5, k_dense=3) <= 8
    assert 3 <= found(k_dense=3, k_sparse=2) <= 5
    assert found(top_k=5, k_sparse=0) == 5
    assert found(top_k=5, k_dense=0) == 5
    assert 10 <= found() <= 20
    assert found(top_k=100) == 30


def test_a_channel_alone_ranks_by_its_own_score_and_says_so(shelf: Shelf, reader: Reader) -> None:
    for number in range(4):
        shelf.put(f"cedar callbacks {'and more words ' * number}", number=number)
    for k, method in (({"k_sparse": 0}, "semantic_similarity"), ({"k_dense": 0}, "sparse_score")):
        hits = reader.hits("cedar callbacks", output_mode="raw", **k)
        scores = [hit["score"] for hit in hits]
        assert len(hits) == 4
        assert scores == sorted(scores, reverse=True)
        for hit in hits:
            assert hit["score_details"] == {"rank_method": method, "rank_score": hit["score"], method: hit["score"]}


def test_words_alone_ask_the_embedder_nothing(shelf: Shelf, reader: Reader) -> None:
    shelf.put("cedar callbacks")
    shelf.embedder.asked.clear()
    shelf.embedder.down = True
    assert reader.texts("cedar", output_mode="raw", k_dense=0) == ["cedar callbacks"]


def test_a_floor_of_similarity_keeps_what_is_far_out_of_the_dense_channel(shelf: Shelf, reader: Reader) -> None:
    shelf.put("cedar callbacks are retried three times")
    shelf.put("lunch with the cedar people", number=1)
    near = "cedar callbacks are retried three times"
    ask = {"output_mode": "raw", "k_sparse": 0}
    assert reader.texts(near, min_semantic_similarity=0.9, **ask) == [near]
    assert len(reader.texts(near, min_semantic_similarity=0, **ask)) == 2
    assert reader.texts("nothing of it", min_semantic_similarity=1, **ask) == []
    both = reader.hits(near, output_mode="raw", min_semantic_similarity=0.9)
    assert [("semantic_similarity" in hit["score_details"]) for hit in both] == [True, False]


def test_what_the_record_does_not_confirm_is_no_hit(shelf: Shelf, reader: Reader) -> None:
    gone, changed, kept = (shelf.put(f"cedar {n}", number=n) for n in range(3))
    row = shelf.memory_row(gone)
    shelf.cloud.aws.dynamodb.delete_item(
        TableName=shelf.table.name, Key={"pk": {"S": row["pk"]}, "sk": {"S": row["sk"]}}
    )
    shelf.supersede(changed, "maple")
    assert reader.texts("cedar", output_mode="raw") == ["cedar 2"]
    assert reader.texts("maple", output_mode="raw", k_dense=0) == ["maple"]
    assert ids_of(reader.hits("cedar 2", output_mode="raw", k_dense=0)) == [kept]


def test_a_handful_of_stale_entries_does_not_empty_an_answer(shelf: Shelf, reader: Reader) -> None:
    for number in range(12):
        memory_id = shelf.put("cedar callbacks exactly", number=number)
        if number < 5:
            shelf.supersede(memory_id, f"other words {number}")
    assert len(reader.hits("cedar callbacks exactly", output_mode="raw", top_k=5, k_sparse=0)) == 5


def test_what_changes_while_it_is_searched_for_is_found_as_it_is_now(shelf: Shelf, reader: Reader) -> None:
    other = shelf.client()
    for text in ("cedar then", "cedar " * 7_000):
        memory_id = shelf.put(text)
        shelf.index.afterwards.append(lambda: other.change(memory_id, memory="cedar now"))  # noqa: B023 - done at once
        assert reader.texts("cedar", output_mode="raw") == ["cedar now"]
        shelf.index.afterwards.append(lambda: other.forget(memory_id))  # noqa: B023 - done at once
        assert reader.texts("cedar", output_mode="raw") == []


def test_a_question_that_refers_is_asked_again_with_what_was_said(shelf: Shelf, reader: Reader) -> None:
    shelf.put("In Lisbon I always eat grilled sardines.")
    shelf.put("Something about that other matter", number=1)
    context = [{"role": "user", "content": "Next week I fly to Lisbon."}, {"role": "assistant", "content": "Lovely!"}]
    answer = reader.search("and there?", output_mode="raw", window_context=context)
    data = answer.json["data"]
    assert data["meta_info"]["pipeline_status"] == "query_rewrite_search"
    best = data["data"][0]
    assert best["memory"] == "In Lisbon I always eat grilled sardines."
    assert best["score_details"]["rank_method"] == "query_rrf"
    assert best["score_details"]["query_rrf"] == best["score"]
    assert shelf.index.calls.count("search") == 1
    plain = reader.search("what do I eat in Lisbon", output_mode="raw", window_context=context).json["data"]
    assert plain["meta_info"]["pipeline_status"] == "fast_search"


def test_a_question_that_says_itself_what_it_points_at_is_not_drawn_to_what_was_said_before(reader: Reader) -> None:
    context = [{"role": "user", "content": "Next week I fly to Lisbon."}]
    long = "One of our pods was restarted last night since its probe asked a service that was down for a while. " * 2
    data = reader.search(f"{long}Should we split it?", output_mode="raw", window_context=context).json["data"]
    assert data["meta_info"]["pipeline_status"] == "fast_search"


def test_a_chinese_question_that_refers_is_asked_again_too(shelf: Shelf, reader: Reader) -> None:
    shelf.put("杭州的龙井茶最好喝")
    context = [{"role": "user", "content": "我下个月去杭州。"}]
    data = reader.search("那里有什么好喝的呢", output_mode="raw", window_context=context).json["data"]
    assert data["meta_info"]["pipeline_status"] == "query_rewrite_search"
    assert data["data"][0]["memory"] == "杭州的龙井茶最好喝"


def test_sources_and_documents_narrow_a_search(shelf: Shelf, reader: Reader) -> None:
    said = shelf.put("cedar rules from a talk", modes=["summary", "facts", "raw"])
    document = "22222222-2222-4222-8222-222222222222"
    written = shelf.put("cedar rules from a page", kind="chunk", source="document", document_id=document)
    assert set(ids_of(reader.hits("cedar rules", output_mode="facts"))) == {said, written}
    assert ids_of(reader.hits("cedar rules", sources=["document"])) == [written]
    assert ids_of(reader.hits("cedar rules", sources=["dialogue"])) == [said]
    assert ids_of(reader.hits("cedar rules", sources=["document"], document_ids=[document, document])) == [written]
    assert ids_of(reader.hits("cedar rules", sources=["document"], document_ids=[document.upper()])) == [written]
    assert reader.hits("cedar rules", sources=["document"], document_ids=["other"]) == []
    both = reader.hits("cedar rules", output_mode="facts", sources=["dialogue", "document"])
    assert set(ids_of(both)) == {said, written}


def test_other_users_projects_and_tenants_find_nothing_of_it(shelf: Shelf, reader: Reader) -> None:
    shelf.put("cedar callbacks")
    assert reader.hits("cedar", "bob", output_mode="raw") == []
    assert reader.hits("cedar", "ann2", output_mode="raw") == []
    assert shelf.client(tenant="other").hits("cedar", output_mode="raw") == []
    assert shelf.client(project="second").hits("cedar", output_mode="raw") == []
    assert reader.texts("cedar", output_mode="raw") == ["cedar callbacks"]
