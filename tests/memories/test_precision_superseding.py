"""PrecisionMemBench's chains of what was believed, told in ordinary conversation: only the newest is a fact.

The data has each belief ready made; here a person says them one after the other, in their own words, and what ships
decides (mode `default`, no model). The cases' questions are then asked of the facts.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.memories.beliefs import data, front_with_index
from tests.memories.front import ADD, ROOT, body, message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.events import Client

LINTING = (
    "I use TSLint for linting TypeScript.",
    "I switched from TSLint to ESLint with @typescript-eslint.",
    "I use Biome for linting and formatting now. It replaced ESLint and Prettier.",
)
DATABASE = (
    "We use SQLAlchemy with Postgres.",
    "We switched from SQLAlchemy and Postgres to MongoDB with the raw driver.",
)
TESTING = ("I use Jest for all testing.", "I use Vitest for all testing now. It replaced Jest.")

CHAINS = {
    "multi-hop-supersession-chain-all-excluded": LINTING,
    "superseded-chain-query-terminal-only": LINTING,
    "conflict-mongodb-supersedes-sqlalchemy": DATABASE,
    "counter-signal-jest-surfaces-vitest": TESTING,
}
QUERIES = {case["caseId"]: case["query"] for case in data("retrieval.cases")}
_users = count()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with front_with_index() as front:
        yield front.client()


def told(client: Client, *sentences: str) -> str:
    """Let a new user say sentences, each at another time, and return who."""
    user = f"user {next(_users)}"
    for sentence in sentences:
        answer = client.post(ADD, json_body=body(message(sentence), user_id=user, async_mode=False))
        assert answer.status == 200, answer.content
    return user


def hits(client: Client, user: str, query: str, mode: str = "facts") -> list[dict[str, Any]]:
    asked = {"user_id": user, "query": query, "output_mode": mode, "top_k": 50, "min_semantic_similarity": 0}
    answer = client.post(f"{ROOT}/search", json_body=asked)
    assert answer.status == 200, answer.content
    found: list[dict[str, Any]] = answer.json["data"]["data"]
    return found


@pytest.mark.parametrize(("case", "chain"), CHAINS.items())
def test_of_what_was_said_one_after_the_other_only_the_newest_is_found(
    client: Client, case: str, chain: tuple[str, ...]
) -> None:
    user = told(client, *chain)
    facts = [hit["memory"] for hit in hits(client, user, QUERIES[case])]
    assert facts == [chain[-1].partition(" It replaced ")[0]]


def test_a_chain_is_one_memory_and_its_history_has_every_link(client: Client) -> None:
    user = told(client, *LINTING)
    [fact] = hits(client, user, "linting")
    answer = client.get(f"{ROOT}/{fact['id']}/history")
    states = [state["memory"] for state in answer.json["data"]["data"] if state["event"] != "NONE"]
    assert states == ["I use Biome for linting and formatting now.", LINTING[1], LINTING[0]]


def test_what_was_said_stays_verbatim_when_the_fact_has_changed(client: Client) -> None:
    user = told(client, *TESTING)
    assert {hit["memory"] for hit in hits(client, user, "testing", "raw")} == set(TESTING)


def test_what_is_told_without_deciding_stands_beside_what_was_there(client: Client) -> None:
    user = told(client, TESTING[0])
    kept = body(message(TESTING[1]), user_id=user, async_mode=False, add_only=True)
    assert client.post(ADD, json_body=kept).status == 200
    assert len(hits(client, user, "testing")) == 2
