"""What a search may ask: every field, its limits, and what goes together (seed, Search request body)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.memories.shelf import Reader, Shelf

BAD: list[tuple[dict[str, Any], str]] = [
    ({"user_id": None}, "user_id"),
    ({"user_id": "  "}, "user_id"),
    ({"user_id": 123}, "user_id"),
    ({"user_id": "u" * 256}, "user_id"),
    ({"user_id": "a\x00b"}, "user_id"),
    ({"query": None}, "query"),
    ({"query": ""}, "query"),
    ({"query": " \n\t"}, "query"),
    ({"query": "q" * 1025}, "query"),
    ({"query": ["q"]}, "query"),
    ({"mode": "slow"}, "mode"),
    ({"mode": 1}, "mode"),
    ({"output_mode": "Summary"}, "output_mode"),
    ({"output_mode": "full"}, "output_mode"),
    ({"return_raw_text": "true"}, "return_raw_text"),
    ({"return_raw_text": 1}, "return_raw_text"),
    ({"sources": []}, "sources"),
    ({"sources": ["web"]}, "sources"),
    ({"sources": ["dialogue", "dialogue"]}, "sources"),
    ({"sources": ["dialogue", "document", "dialogue"]}, "sources"),
    ({"sources": "document"}, "sources"),
    ({"document_ids": ["d"]}, "document_ids"),
    ({"document_ids": ["d"], "sources": ["dialogue", "document"]}, "document_ids"),
    ({"document_ids": [], "sources": ["document"]}, "document_ids"),
    ({"document_ids": ["d"] * 101, "sources": ["document"]}, "document_ids"),
    ({"document_ids": [1], "sources": ["document"]}, "document_ids"),
    ({"top_k": 0}, "top_k"),
    ({"top_k": 101}, "top_k"),
    ({"top_k": "5"}, "top_k"),
    ({"top_k": 5.0}, "top_k"),
    ({"top_k": True}, "top_k"),
    ({"k_dense": -1}, "k_dense"),
    ({"k_dense": 101}, "k_dense"),
    ({"k_sparse": 1.5}, "k_sparse"),
    ({"k_dense": 0, "k_sparse": 0}, "k_dense"),
    ({"min_semantic_similarity": -0.1}, "min_semantic_similarity"),
    ({"min_semantic_similarity": 1.01}, "min_semantic_similarity"),
    ({"min_semantic_similarity": "0.5"}, "min_semantic_similarity"),
    ({"min_semantic_similarity": True}, "min_semantic_similarity"),
    ({"window_context": "words"}, "window_context"),
    ({"window_context": ["words"]}, "window_context[0]"),
    ({"filters": []}, "filters"),
    ({"filters": "x"}, "filters"),
    ({"filters": {"user_id": {"eq": "x"}}}, "filters.user_id"),
    ({"filters": {"and": {"agent_id": {"eq": "x"}}}}, "filters.and"),
    ({"filters": {"and": [{"or": []}]}}, "filters.and[0].or"),
    ({"filters": {"or": [{}]}}, "filters.or[0]"),
    ({"filters": {"agent_id": "x"}}, "filters.agent_id"),
    ({"filters": {"agent_id": {}}}, "filters.agent_id.eq"),
    ({"filters": {"agent_id": {"ne": "x"}}}, "filters.agent_id.ne"),
    ({"filters": {"agent_id": {"eq": ""}}}, "filters.agent_id.eq"),
    ({"filters": {"agent_id": {"eq": "x" * 256}}}, "filters.agent_id.eq"),
    ({"filters": {"mem_type": {}}}, "filters.mem_type"),
    ({"filters": {"mem_type": {"eq": "core", "in": ["core"]}}}, "filters.mem_type"),
    ({"filters": {"mem_type": {"in": "core"}}}, "filters.mem_type.in"),
    ({"filters": {"mem_type": {"in": []}}}, "filters.mem_type.in"),
    ({"filters": {"mem_type": {"in": [" "]}}}, "filters.mem_type.in[0]"),
    ({"filters": {"created_at": {}}}, "filters.created_at"),
    ({"filters": {"created_at": {"gte": 1_790_000_000_000}}}, "filters.created_at.gte"),
    ({"filters": {"created_at": {"gte": "2026-11-01T00:00:00"}}}, "filters.created_at.gte"),
    ({"filters": {"created_at": {"gte": "2026-13-01"}}}, "filters.created_at.gte"),
    ({"filters": {"created_at": {"gte": "2026-11-01T25:00:00Z"}}}, "filters.created_at.gte"),
    ({"filters": {"created_at": {"after": "2026-11-01"}}}, "filters.created_at.after"),
    ({"filters": {"event_created_at": {"lt": "yesterday"}}}, "filters.event_created_at.lt"),
    ({"filters": {"and": [{"session_id": {"eq": "a"}}, {"session_id": {"eq": "b"}}]}}, "filters.and[1].session_id"),
    ({"filters": {"session_id": {"eq": "a"}, "and": [{"session_id": {"eq": "b"}}]}}, "filters.session_id"),
    ({"filters": {"and": [{"mem_type": {"eq": "a"}}, {"mem_type": {"eq": "a"}}]}}, "filters.and[1].mem_type"),
]


@pytest.fixture(scope="module")
def asker() -> Any:
    from tests.memories.shelf import shelf_world  # noqa: PLC0415

    with shelf_world() as shelf:
        yield shelf.client()


@pytest.mark.parametrize(("fields", "where"), BAD, ids=lambda value: str(value)[:60])
def test_a_broken_rule_is_422_and_names_its_field(asker: Reader, fields: dict[str, Any], where: str) -> None:
    body = {"user_id": "ann", "query": "q", **fields}
    answer = asker.post("/v1/memories/search", json_body=body)
    assert answer.status == 422, answer.content
    error = answer.json["error"]
    assert answer.json["success"] is False
    assert error["code"] == "invalid_request"
    assert where in {detail["field"] for detail in error["details"]}
    assert all(detail["message"] for detail in error["details"])


@pytest.mark.parametrize("top_k", [0, 101, None, "5", True])
def test_a_wrong_top_k_is_blamed_alone(asker: Reader, top_k: Any) -> None:
    answer = asker.post("/v1/memories/search", json_body={"user_id": "ann", "query": "q", "top_k": top_k})
    assert answer.status == 422
    assert [detail["field"] for detail in answer.json["error"]["details"]] == ["top_k"]


GOOD: list[dict[str, Any]] = [
    {},
    {"mode": "fast", "output_mode": "raw", "return_raw_text": True},
    {"top_k": 100, "k_dense": 100, "k_sparse": 100},
    {"top_k": 1, "k_dense": None, "k_sparse": None, "min_semantic_similarity": None},
    {"k_dense": 0},
    {"k_sparse": 0},
    {"min_semantic_similarity": 0},
    {"min_semantic_similarity": 1},
    {"sources": None, "document_ids": None, "filters": None},
    {"sources": ["document"], "document_ids": ["cedar-design"]},
    {"filters": {}},
    {"filters": {"and": None, "or": None}},
    {"filters": {"and": [], "or": []}},
    {"filters": {"created_at": {"gte": "2026-11-01", "lt": None}}},
    {"filters": {"created_at": {"gte": "2026-11-01T08:00:00+08:00", "lt": "2026-12-01T00:00:00.123456Z"}}},
    {"filters": {"and": [{"session_id": {"eq": "a"}}, {"session_id": {"eq": "a"}}]}},
    {"filters": {"mem_type": {"in": [" core ", "core"]}}},
    {"window_context": [{}, {"role": "user", "content": ["odd", {"text": "part"}, 5]}, {"content": 7}]},
    {"query": "q" * 1024},
    {"query": "\x00 q <|endoftext|> \u2028 \U0001f600"},
    {"user_id": "  a:b/c@d 用户 %&= "},
    {"something": {"nobody": "knows"}, "async_mode": True},
]


@pytest.mark.parametrize("fields", GOOD, ids=lambda value: str(value)[:60])
def test_what_the_rules_allow_is_answered(asker: Reader, fields: dict[str, Any]) -> None:
    body = {"user_id": "ann", "query": "q", **fields}
    answer = asker.post("/v1/memories/search", json_body=body)
    assert answer.status == 200, answer.content
    assert answer.json["data"]["data"] == []


def test_a_missing_field_a_body_that_is_no_object_and_one_of_another_type(asker: Reader) -> None:
    assert asker.post("/v1/memories/search", json_body={"query": "q"}).status == 422
    assert asker.post("/v1/memories/search", json_body=[1]).status == 422
    assert asker.post("/v1/memories/search", json_body={"user_id": "ann"}).status == 422
    text = {"Content-Type": "text/plain"}
    assert asker.post("/v1/memories/search", body=b"{}", headers=text).status == 415
    assert (
        asker.post("/v1/memories/search", body=b"\xff\xfe", headers={"Content-Type": "application/json"}).status == 422
    )
    assert asker.get("/v1/memories/search").status == 405


def test_searching_needs_a_key_that_reads(shelf: Shelf) -> None:
    ask = {"user_id": "ann", "query": "q"}
    reading, writing = shelf.client(permissions=("read",)), shelf.client(permissions=("write",))
    assert reading.post("/v1/memories/search", json_body=ask).status == 200
    assert writing.post("/v1/memories/search", json_body=ask).status == 403
    reading.key = None
    assert reading.post("/v1/memories/search", json_body=ask).status == 401
    reading.key = "lsk_unknown"
    assert reading.post("/v1/memories/search", json_body=ask).status == 401
