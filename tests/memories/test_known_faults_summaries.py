"""Faults that users met of what a search shows when nothing is asked for: over HTTP, with the learning that ships."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.memories.beliefs import front_with_index
from tests.memories.front import ADD, ROOT, body, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Client

MODES = ("summary", "facts", "raw")
CODE = {"content_type": "code", "session_id": "s", "metadata": {"source": "memorax-code"}}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with front_with_index() as front:
        yield front.client()


def tell(client: Client, user: str, *texts: str, **fields: Any) -> None:
    said = body(*map(message, texts), user_id=user, async_mode=False, **fields)
    answer = client.post(ADD, json_body=said)
    assert answer.status == 200, answer.content


def hits(client: Client, user: str, query: str, **wish: Any) -> list[dict[str, Any]]:
    answer = client.post(f"{ROOT}/search", json_body={"user_id": user, "query": query, **wish})
    assert answer.status == 200, answer.content
    found: list[dict[str, Any]] = answer.json["data"]["data"]
    return found


def texts(client: Client, user: str, query: str, **wish: Any) -> list[str]:
    return [hit["memory"] for hit in hits(client, user, query, **wish)]


def test_where_somebody_lived_before_is_no_answer_to_where_they_live(client: Client) -> None:
    """The stale city came first, as the summary of the conversation that it was told in."""
    tell(client, "mover", "I live in Paris.")
    tell(client, "mover", "I have a dog called Rex.")
    tell(client, "mover", "I moved to Rome.")
    for wish in ({}, {"output_mode": "facts"}):
        found = texts(client, "mover", "Where does the user live?", min_semantic_similarity=0, **wish)
        assert any("Rome" in text for text in found)
        assert not any("Paris" in text for text in found)


def test_what_was_told_six_times_is_one_hit(client: Client) -> None:
    """Six equal hits took the places of all others."""
    for _ in range(6):
        tell(client, "fan", "I like tea.")
    for wish in ({}, {"output_mode": "facts"}):
        assert texts(client, "fan", "tea", **wish) == ["I like tea."]
    assert texts(client, "fan", "tea", output_mode="raw") == ["I like tea."] * 6  # verbatim is what was said, each time


def test_what_was_to_be_forgotten_is_found_in_no_mode(client: Client) -> None:
    """What was to be forgotten was still in the summary, in the message, and in the wish itself."""
    tell(client, "listener", "I like jazz music. I have a cat called Tom.", "My sister lives in Oslo.")
    tell(client, "listener", "Please forget that I like jazz music. I work at Acme.")
    for mode in MODES:
        found = texts(client, "listener", "jazz music", output_mode=mode, min_semantic_similarity=0)
        assert found
        assert not any("jazz" in text for text in found)
        assert any("Tom" in text for text in found)
    listed = client.get(ROOT, query={"user_id": "listener", "limit": "100"})
    assert "jazz" not in str(listed.json["data"]["data"])


def test_the_same_in_chinese(client: Client) -> None:
    tell(client, "zh", "我住在北京。我有一只猫。")
    tell(client, "zh", "我搬到上海了。")
    assert not any("北京" in text for text in texts(client, "zh", "用户住在哪里", min_semantic_similarity=0))
    tell(client, "zh", "请忘记我有一只猫。")
    for mode in MODES:
        found = texts(client, "zh", "猫", output_mode=mode, min_semantic_similarity=0)
        assert not any("猫" in text for text in found)


def test_with_add_only_all_of_it_is_kept(client: Client) -> None:
    for text in ("I live in Paris.", "I live in Paris.", "I moved to Rome."):
        tell(client, "keeper", text, add_only=True)
    found = texts(client, "keeper", "Where does the user live?", min_semantic_similarity=0)
    assert sorted(found) == ["I live in Paris.", "I live in Paris.", "I moved to Rome."]


def test_the_summary_of_a_group_is_shown_as_the_messages_of_all_its_parts(client: Client) -> None:
    """Only the part that came last was looked at."""
    said = [["We decided to use Rust.", "Thanks."], ["We decided to store sessions in S3."]]
    for index in (1, 0):
        place = {"group_id": "g", "index": index, "count": 2}
        tell(client, "coder", *said[index], chunk=place, **CODE)
    found = hits(client, "coder", "Rust sessions S3", return_raw_text=True, min_semantic_similarity=0)
    assert "\n".join([*said[0], *said[1]]) in [hit["memory"] for hit in found]
    assert not [hit for hit in found if "raw_text_missing" in hit["metadata"]]


def test_a_summary_that_its_caller_wrote_is_its_own_original(client: Client) -> None:
    """It was marked as one whose messages are gone."""
    tell(client, "writer", "They chose Rust.", mode="pre_summarized", **CODE)
    [hit] = hits(client, "writer", "Rust", return_raw_text=True)
    assert hit["memory"] == "They chose Rust."
    assert "raw_text_missing" not in hit["metadata"]
