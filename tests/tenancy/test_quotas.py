from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from shared.kernel.errors import RateLimited
from shared.tenancy.quotas import Balance, month_of

if TYPE_CHECKING:
    from tests.tenancy.desk import Desk


def test_a_key_without_quotas_costs_no_call(desk: Desk) -> None:
    key = desk.issue(quotas={"memory_search": 5}).record
    desk.calls.clear()
    assert desk.tenancy.quotas.reserve(key, "memory_write") is None
    assert desk.tenancy.quotas.of_key(desk.issue().record) == []
    assert desk.calls == ["dynamodb.TransactWriteItems"], "only the second key's making"


def test_a_quota_is_exact_under_concurrency(desk: Desk) -> None:
    key = desk.issue(quotas={"memory_write": 20}).record
    barrier = Barrier(50)

    def take(_: int) -> bool:
        barrier.wait()
        try:
            desk.tenancy.quotas.reserve(key, "memory_write")
        except RateLimited:
            return False
        return True

    with ThreadPoolExecutor(50) as threads:
        assert sum(threads.map(take, range(50))) == 20
    assert desk.tenancy.quotas.of_key(key) == [Balance(key.id, None, "memory_write", 20, used=0, reserved=20)]


def test_a_call_given_back_can_be_taken_again_and_a_settled_one_not(desk: Desk) -> None:
    key, quotas = desk.issue(quotas={"memory_write": 2}).record, desk.tenancy.quotas
    first, second = quotas.reserve(key, "memory_write"), quotas.reserve(key, "memory_write")
    assert first
    assert second
    quotas.settle(first)
    quotas.give_back(second)
    assert quotas.of_key(key) == [Balance(key.id, None, "memory_write", 2, used=1, reserved=0)]
    quotas.reserve(key, "memory_write")
    with pytest.raises(RateLimited):
        quotas.reserve(key, "memory_write")


def test_a_new_month_starts_anew_and_a_late_return_goes_to_its_own(desk: Desk) -> None:
    desk.clock.now = int(datetime(2026, 12, 31, 23, 59, 30, tzinfo=UTC).timestamp() * 1000)
    key, quotas = desk.issue(quotas={"memory_write": 1}).record, desk.tenancy.quotas
    december = quotas.reserve(key, "memory_write")
    with pytest.raises(RateLimited) as spent:
        quotas.reserve(key, "memory_write")
    assert spent.value.retry_after == 30
    desk.clock.move(seconds=30)
    assert quotas.reserve(key, "memory_write")
    assert december
    quotas.give_back(december)
    assert quotas.of_key(key)[0].reserved == 1


def test_each_kind_counts_for_itself(desk: Desk) -> None:
    key = desk.issue(quotas={"memory_write": 1, "memory_search": 1}).record
    desk.tenancy.quotas.reserve(key, "memory_write")
    desk.tenancy.quotas.reserve(key, "memory_search")
    assert [b.reserved for b in desk.tenancy.quotas.of_key(key)] == [1, 1]


def test_a_quota_of_none_admits_nothing_and_writes_nothing(desk: Desk) -> None:
    key = desk.issue(quotas={"memory_write": 0}).record
    desk.calls.clear()
    with pytest.raises(RateLimited):
        desk.tenancy.quotas.reserve(key, "memory_write")
    assert desk.calls == []


def test_months_are_of_utc() -> None:
    assert month_of(int(datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp() * 1000)) == "202612"
    assert month_of(int(datetime(2027, 1, 1, tzinfo=UTC).timestamp() * 1000)) == "202701"
