"""What an Add may say: every field, its limits, and which go together (seed and contract)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from shared.wiring.environment import EnvironmentInvalid
from tests.memories.front import ADD, CODE, body, front_world, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.front import AddClient, Front


@pytest.fixture(scope="module")
def front() -> Iterator[Front]:
    with front_world() as made:
        yield made


@pytest.fixture(scope="module")
def client(front: Front) -> AddClient:
    return front.client()


def test_an_add_is_accepted_with_a_task_and_the_requests_id(client: AddClient) -> None:
    answer = client.add()
    assert answer.status == 202
    told = answer.json
    assert told["success"] is True
    assert told["data"] == {"task_id": told["data"]["task_id"], "status": "accepted", "data": None, "balances": []}
    assert told["meta"]["request_id"] == answer.headers["request-id"]
    assert str(uuid.UUID(told["meta"]["request_id"])) == told["meta"]["request_id"]
    assert str(uuid.UUID(told["data"]["task_id"])) == told["data"]["task_id"]
    assert told["meta"].keys() == {"request_id", "timestamp"}


@pytest.mark.parametrize("user", ["u", " padded ", "a:b/c@d e", "用户", "x" * 255, "a&run=b", "%2F"])
def test_a_user_may_have_any_name_of_up_to_255_characters_which_is_trimmed(
    front: Front, client: AddClient, user: str
) -> None:
    assert front.payload(client.accepted(user_id=user))["user_id"] == user.strip()


@pytest.mark.parametrize("user", [None, 123, True, "", "   ", "x" * 256, ["u"], "a\x00b"])
def test_what_is_no_users_name_is_refused(client: AddClient, user: Any) -> None:
    assert "user_id" in client.refused(user_id=user)


@pytest.mark.parametrize(
    ("field", "value"), [("session_id", 5), ("session_id", "s" * 256), ("metadata", "x"), ("metadata", [])]
)
def test_what_is_no_value_at_all_is_not_told_that_it_is_needed(client: AddClient, field: str, value: Any) -> None:
    answer = client.post(ADD, json_body=body(**{**CODE, field: value}))
    assert answer.status == 422
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]


def test_everything_that_is_wrong_is_told_at_once_by_field(client: AddClient) -> None:
    answer = client.post(ADD, json_body={"messages": [{"role": "system", "content": 7}], "mode": "quick"})
    assert answer.status == 422
    error = answer.json["error"]
    assert answer.json["success"] is False
    assert error["code"] == "invalid_request"
    assert {d["field"] for d in error["details"]} == {
        "messages[0].role",
        "messages[0].content",
        "messages[0].timestamp",
        "user_id",
        "mode",
    }


def test_what_was_sent_is_told_back_as_it_was_or_not_at_all(client: AddClient) -> None:
    sent = body(user_id="  ", mode="quick", agent_id="x" * 256)
    told = {d["field"]: d for d in client.post(ADD, json_body=sent).json["error"]["details"]}
    assert told["mode"]["input"] == "quick"
    assert "input" not in told["user_id"]
    assert "input" not in told["agent_id"]


def test_unknown_keys_are_taken_and_left_alone(client: AddClient) -> None:
    client.accepted(message(name="Ann", id=5), trace="x", tools=[1])


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "messages"),
        ("hello", "messages"),
        (None, "messages"),
        (["hello"], "messages[0]"),
        ([message(role="tool")], "messages[0].role"),
        ([message(role=None)], "messages[0].role"),
        ([message("")], "messages[0].content"),
        ([message(" \n\t")], "messages[0].content"),
        ([message("\x00")], "messages[0].content"),
        ([message(None)], "messages[0].content"),
        ([message([])], "messages[0].content"),
        ([message({"text": "x"})], "messages[0].content"),
        ([message(["x"])], "messages[0].content[0]"),
        (
            [message([{"type": "image_url", "image_url": {"url": "https://e.org/x.png"}}])],
            "messages[0].content[0].type",
        ),
        ([message([{"text": "x"}])], "messages[0].content[0].type"),
        ([message([{"type": "text", "text": " "}])], "messages[0].content[0].text"),
        ([message([{"type": "text"}])], "messages[0].content[0].text"),
        ([message(), message(sender_id=5)], "messages[1].sender_id"),
    ],
)
def test_a_message_has_a_role_and_something_that_was_said(client: AddClient, messages: Any, field: str) -> None:
    answer = client.post(ADD, json_body={"user_id": "u", "messages": messages})
    assert answer.status == 422
    assert field in {d["field"] for d in answer.json["error"]["details"]}


def test_a_body_without_messages_is_refused(client: AddClient) -> None:
    answer = client.post(ADD, json_body={"user_id": "u"})
    assert [d["field"] for d in answer.json["error"]["details"]] == ["messages"]


@pytest.mark.parametrize("moment", [-1, 1_000_000_000_000, 1_796_000_000_000, 9_999_999_999_999])
def test_a_time_is_13_digits_or_minus_one(front: Front, client: AddClient, moment: int) -> None:
    payload = front.payload(client.accepted(message(timestamp=moment), timestamp=moment))
    assert payload["messages"][0]["at"] == payload["at"] == (None if moment == -1 else moment)


@pytest.mark.parametrize("moment", [0, -2, 1_796_000_000, 10_000_000_000_000, 1.0, "1796000000000", True, "-1"])
def test_another_time_is_refused_in_messages_and_in_the_request(client: AddClient, moment: Any) -> None:
    assert set(client.refused(message(timestamp=moment), timestamp=moment)) == {"messages[0].timestamp", "timestamp"}


def test_a_messages_time_has_to_be_there_and_the_requests_need_not(client: AddClient) -> None:
    assert set(client.refused({"role": "user", "content": "x"}, timestamp=None)) == {"messages[0].timestamp"}
    assert set(client.refused(message(timestamp=None))) == {"messages[0].timestamp"}


def test_parts_are_read_as_lines_and_input_text_is_text(front: Front, client: AddClient) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "input_text", "text": "two"}]
    (kept,) = front.payload(client.accepted(message(parts, sender_id="s1")))["messages"]
    assert kept["parts"] == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert kept["sender_id"] == "s1"


def test_nul_characters_are_left_out_wherever_they_are(front: Front, client: AddClient) -> None:
    payload = front.payload(
        client.accepted(
            message("a\x00b"), metadata={"k\x00": ["v\x00", {"x": "y\x00"}]}, window_context=[{"a": "\x00b"}]
        )
    )
    assert payload["messages"][0]["parts"] == [{"type": "text", "text": "ab"}]
    assert payload["metadata"] == {"k": ["v", {"x": "y"}]}
    assert payload["context"] == [{"a": "b"}]


def test_text_of_any_script_and_of_models_tokens_is_kept_as_it_is(front: Front, client: AddClient) -> None:
    text = "<|endoftext|> 🙂 我喜欢茶 e\u0301 \u2028 \\u00e9"
    payload = front.payload(client.accepted(message(text)))
    assert payload["messages"][0]["parts"] == [{"type": "text", "text": text}]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"async_mode": None}, "async_mode"),
        ({"async_mode": "true"}, "async_mode"),
        ({"async_mode": 1}, "async_mode"),
        ({"mode": "fast"}, "mode"),
        ({"mode": None}, "mode"),
        ({"content_type": "web"}, "content_type"),
        ({"content_type": ""}, "content_type"),
        ({"memory_output_language": "fr"}, "memory_output_language"),
        ({"memory_output_language": None}, "memory_output_language"),
        ({"agent_id": "x" * 256}, "agent_id"),
        ({"agent_id": 5}, "agent_id"),
        ({"app_id": "x" * 256}, "app_id"),
        ({"app_id": " " + "x" * 255}, "app_id"),
        ({"agent_id": "x" + " " * 255}, "agent_id"),
        ({"session_id": "x" + " " * 500_000}, "session_id"),
        ({"session_id": "x" * 256}, "session_id"),
        ({"session_id": {"a": 1}}, "session_id"),
        ({"metadata": "x"}, "metadata"),
        ({"metadata": [1]}, "metadata"),
        ({"add_only": "no"}, "add_only"),
        ({"add_only": 0}, "add_only"),
        ({"code_extraction_instructions": 5, **CODE}, "code_extraction_instructions"),
        ({"code_extraction_instructions": "x" * 12_001, **CODE}, "code_extraction_instructions"),
        ({"window_context": "x"}, "window_context"),
        ({"window_context": None}, "window_context"),
        ({"window_context": ["x"]}, "window_context[0]"),
        ({"wait": 21}, "wait"),
        ({"wait": -1}, "wait"),
        ({"wait": 1.5}, "wait"),
        ({"wait": True}, "wait"),
        ({"metadata": {"idempotency_key": 5}}, "metadata"),
        ({"metadata": {"idempotency_key": ""}}, "metadata"),
        ({"metadata": {"idempotency_key": "x" * 256}}, "metadata"),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_by_name(client: AddClient, fields: dict[str, Any], field: str) -> None:
    assert set(client.refused(**fields)) == {field}


def test_what_may_be_null_is_as_if_left_out(front: Front, client: AddClient) -> None:
    names = ("agent_id", "app_id", "session_id", "metadata", "timestamp", "add_only", "code_extraction_instructions")
    payload = front.payload(client.accepted(chunk=None, **dict.fromkeys(names)))
    plain = front.payload(client.accepted())
    assert payload == plain
    assert (plain["mode"], plain["content_type"], plain["language"]) == ("default", "auto", "zh")
    assert (plain["metadata"], plain["add_only"], plain["chunk"]) == ({}, False, None)


def test_what_was_said_of_the_request_is_kept_as_it_was_said(front: Front, client: AddClient) -> None:
    said = {"agent_id": " a ", "app_id": "b", "session_id": "c", "add_only": True, "memory_output_language": "en"}
    metadata = {"source": "x", "tags": ["t", 1], "cost": 0.1, "big": 12345678901234567890, "ok": True, "none": None}
    payload = front.payload(client.accepted(metadata=metadata, **said))
    assert payload["metadata"] == metadata
    assert (payload["agent_id"], payload["language"], payload["add_only"]) == (" a ", "en", True)


def test_a_blank_source_id_is_none(front: Front, client: AddClient) -> None:
    assert front.payload(client.accepted(agent_id="", session_id="  "))["session_id"] is None


def test_an_older_clients_dialogue_is_ordinary_conversation(front: Front, client: AddClient) -> None:
    assert front.payload(client.accepted(content_type="dialogue"))["content_type"] == "auto"


def test_the_deployment_decides_the_language_where_a_request_does_not(front: Front) -> None:
    client = front.set(MEMORY_LANGUAGE="source").client()
    assert front.payload(client.accepted())["language"] == "source"
    assert front.payload(client.accepted(memory_output_language="zh"))["language"] == "zh"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in CODE.items() if key != name}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (without("session_id"), "session_id"),
        ({**CODE, "session_id": " "}, "session_id"),
        (without("metadata"), "metadata"),
        ({**CODE, "metadata": {"source": "other"}}, "metadata"),
        ({"mode": "pre_summarized"}, "mode"),
        ({"mode": "pre_summarized", "content_type": "work", "session_id": "s"}, "mode"),
        ({"code_extraction_instructions": "keep"}, "code_extraction_instructions"),
        ({**CODE, "mode": "raw", "code_extraction_instructions": "keep"}, "code_extraction_instructions"),
        ({"chunk": {"group_id": "g", "index": 0, "count": 2}}, "chunk"),
        ({**CODE, "mode": "raw", "chunk": {"group_id": "g", "index": 0, "count": 2}}, "chunk"),
        ({"content_type": "document"}, "content_type"),
    ],
)
def test_fields_that_do_not_go_together_are_refused_with_the_rule(
    client: AddClient, fields: dict[str, Any], field: str
) -> None:
    told = client.refused(**fields)
    assert set(told) == {field}
    assert told[field].strip()


def test_code_has_its_session_source_and_instructions(front: Front, client: AddClient) -> None:
    chunk = {"group_id": " g ", "index": 1, "count": 2}
    payload = front.payload(client.accepted(chunk=chunk, code_extraction_instructions="keep decisions", **CODE))
    assert payload["chunk"] == {"group_id": "g", "index": 1, "count": 2}
    assert payload["instructions"] == "keep decisions"
    assert front.payload(client.accepted(code_extraction_instructions=" \n"))["instructions"] is None
    client.accepted(mode="pre_summarized", **CODE)


@pytest.mark.parametrize(
    ("chunk", "field"),
    [
        ([], "chunk"),
        ({"index": 0, "count": 2}, "chunk.group_id"),
        ({"group_id": " ", "index": 0, "count": 2}, "chunk.group_id"),
        ({"group_id": "x" * 513, "index": 0, "count": 2}, "chunk.group_id"),
        ({"group_id": "g", "index": 2, "count": 2}, "chunk.index"),
        ({"group_id": "g", "index": -1, "count": 2}, "chunk.index"),
        ({"group_id": "g", "index": True, "count": 2}, "chunk.index"),
        ({"group_id": "g", "index": 0.0, "count": 2}, "chunk.index"),
        ({"group_id": "g", "count": 2}, "chunk.index"),
        ({"group_id": "g", "index": 0, "count": 1}, "chunk.count"),
        ({"group_id": "g", "index": 0, "count": "2"}, "chunk.count"),
        ({"group_id": "g", "index": 0, "count": 10_001}, "chunk.count"),
        ({"group_id": "g", "index": 0}, "chunk.count"),
    ],
)
def test_a_chunk_says_strictly_which_part_of_how_many_it_is(client: AddClient, chunk: Any, field: str) -> None:
    assert set(client.refused(chunk=chunk, **CODE)) == {field}


def test_the_context_is_cut_to_its_last_entries_and_a_sole_long_one_is_kept(front: Front, client: AddClient) -> None:
    many = [{"role": "user", "content": str(n)} for n in range(60)]
    assert front.payload(client.accepted(window_context=many))["context"] == many[-50:]
    long = [{"role": "user", "content": "x" * 6_000}, {"role": "user", "content": "y" * 6_000}]
    assert front.payload(client.accepted(window_context=long))["context"] == long[1:]
    sole = [{"role": "user", "content": "z" * 20_000, "free": {"form": 1}}]
    assert front.payload(client.accepted(window_context=sole))["context"] == sole


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([message("x" * 12_001)], {}),
        ([message([{"type": "text", "text": "x" * 7_000}] * 2)], {}),
        ([message("x" * 128_001)], CODE),
        ([message("x" * 12_001)], {**CODE, "mode": "raw"}),
        ([message("x" * 12_001)], {**CODE, "mode": "pre_summarized"}),
        ([message("x" * 12_000)] * 43, {**CODE, "mode": "pre_summarized"}),
        ([message()] * 201, {}),
        ([message()], {"metadata": {"k": "x" * 20_000}}),
    ],
)
def test_what_is_too_much_is_answered_413_and_says_where(
    client: AddClient, messages: list[Any], fields: dict[str, Any]
) -> None:
    answer = client.add(*messages, **fields)
    assert answer.status == 413
    assert answer.json["error"]["code"] == "too_large"
    assert answer.json["error"]["details"][0]["field"]


def test_what_just_fits_is_taken(client: AddClient) -> None:
    client.accepted(message("x" * 12_000))
    client.accepted(message("x" * 128_000), **CODE)
    client.accepted(*[message("x" * 12_000)] * 42, mode="pre_summarized", **CODE)
    client.accepted(*[message()] * 200)


def test_limits_are_the_deployments(front: Front) -> None:
    client = front.set(MEMORY_LIMIT_MESSAGES="1", MEMORY_LIMIT_MESSAGE_CHARACTERS="5").client()
    assert client.add(message(), message()).status == 413
    assert client.add(message("123456")).status == 413
    assert client.add(message("12345")).status == 202


@pytest.mark.parametrize("value", ["0", "-1", "many", "٣"])
def test_a_limit_that_is_no_number_is_told_at_the_start(front: Front, value: str) -> None:
    with pytest.raises(EnvironmentInvalid, match="MEMORY_LIMIT_FILES"):
        front.set(MEMORY_LIMIT_FILES=value).client()


@pytest.mark.parametrize(
    ("raw", "kind", "status"),
    [
        (b"\xff\xfe", "application/json", 422),
        (b"{", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"null", "application/json", 422),
        (b'{"user_id": NaN}', "application/json", 422),
        (b"", "application/json", 422),
        (b"{}", "text/plain", 415),
        (b"a=b", "application/x-www-form-urlencoded", 415),
        (b"[" * 10_000, "application/json", 422),
    ],
)
def test_a_body_that_is_no_json_is_told_so(client: AddClient, raw: bytes, kind: str, status: int) -> None:
    answer = client.post(ADD, body=raw, headers={"Content-Type": kind})
    assert (answer.status, answer.json["success"]) == (status, False)


def test_a_body_over_the_limit_is_refused_before_it_is_read(front: Front) -> None:
    client = front.set(DIRECT_BODY_BYTES="1000").client()
    answer = client.post(ADD, body=b"{" * 1001, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.json["error"]["code"]) == (413, "too_large")


def test_a_refused_add_leaves_nothing(front: Front, client: AddClient) -> None:
    before = front.cloud.object_keys(), front.tasks()
    client.refused(user_id=5)
    assert client.add(message("x" * 12_001)).status == 413
    assert (front.cloud.object_keys(), front.tasks()) == before


def test_synchronous_adds_are_refused_in_production(front: Front) -> None:
    before = front.tasks()
    assert set(front.set(STAGE="prod").client().refused(async_mode=False)) == {"async_mode"}
    assert front.tasks() == before


def test_both_schemes_and_the_older_clients_body_are_taken(front: Front) -> None:
    handler = front.client().handler
    client = type(front.client())(handler, None, {"Authorization": f"Token {front.key()}"})
    older = body(
        message("one", timestamp=1_754_000_000_000),
        message("two", role="assistant", timestamp=1_754_000_000_001),
        user_id="app:ann/home@x 家",
        memory_output_language="en",
        mode="default",
        content_type="dialogue",
        session_id="s-1",
        async_mode=True,
        timestamp=1_754_000_000_000,
        metadata={"source": "client", "tags": ["a"], "n": 1, "f": 0.5, "b": True, "idempotency_key": "k1"},
    )
    assert client.post(ADD, json_body=older).status == 202
