"""Searches of a key with a quota: counted exactly, told in the answer, given back when they fail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.emulator.faults import Fault, faults
from tests.memories.shelf import Reader

if TYPE_CHECKING:
    from tests.memories.shelf import Shelf


def test_the_answer_tells_what_is_left(shelf: Shelf) -> None:
    client = shelf.client(quotas={"memory_search": 2, "memory_write": 5})
    for used in (1, 2):
        (balance,) = client.search("q").json["data"]["balances"]
        assert balance == {
            "product_code": "memory_api",
            "feature_code": "memory_search",
            "spec_key": "calls",
            "quota_unit": "times",
            "quota_limit": 2,
            "reserved": 0,
            "consumed": used,
            "remaining": 2 - used,
        }
    refused = client.search("q")
    assert refused.status == 429
    assert refused.json["error"]["code"] == "rate_limited"
    assert int(refused.headers["retry-after"]) > 0


def test_a_search_that_fails_or_is_refused_costs_nothing(shelf: Shelf) -> None:
    client = shelf.client(quotas={"memory_search": 1})
    assert client.search("").status == 422
    shelf.index.broken.add("search")
    assert client.search("q").status == 503
    shelf.index.broken.clear()
    assert client.search("q").json["data"]["balances"][0]["remaining"] == 0


def test_no_more_searches_than_the_quota_whatever_comes_at_once(shelf: Shelf) -> None:
    key = shelf.key(quotas={"memory_search": 10})
    clients = [Reader(shelf.handler(), key) for _ in range(4)]

    def five(client: Reader) -> list[int]:
        return [client.search("q").status for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        statuses = [status for of_one in pool.map(five, clients) for status in of_one]
    assert sorted(statuses) == [200] * 10 + [429] * 10


@pytest.mark.parametrize("method", ["search", "embedder", "table", "s3"])
def test_a_dependency_that_is_down_is_503_with_retry_after_and_never_an_empty_answer(
    shelf: Shelf, reader: Reader, method: str
) -> None:
    shelf.put("cedar " * 7_000)
    assert len(reader.hits("cedar", output_mode="raw")) == 1
    shelf.embedder.down = method == "embedder"
    shelf.index.broken = {method}
    down = {"table": "dynamodb", "s3": "s3"}.get(method)
    with faults(lambda call: Fault.CONNECT_TIMEOUT if call.service == down else None):
        answer = reader.search("cedar", output_mode="raw")
    assert answer.status == 503
    assert answer.json["success"] is False
    assert answer.json["error"]["code"] == "unavailable"
    assert int(answer.headers["retry-after"]) > 0
