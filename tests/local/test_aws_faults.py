"""Calls of an emulated account that fail, as `AWS_FAULTS` asks for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

from infra.local.faults import AGAIN, Fault, Faults, suffer

if TYPE_CHECKING:
    from pathlib import Path

EVENT = "before-send.dynamodb.PutItem"
MANY = 2_000


def _request(attempt: int = 1) -> Any:
    return SimpleNamespace(url="https://x", headers={"amz-sdk-request": f"attempt={attempt}; max=3".encode()})


def _failed(faults: Faults, attempt: int) -> int:
    """Return how many of many attempts did not simply go through."""
    failed = 0
    for _ in range(MANY):
        try:
            failed += faults.around(EVENT, _request(attempt), lambda: "applied") != "applied"
        except (ConnectTimeoutError, ReadTimeoutError):
            failed += 1
    return failed


def test_nothing_fails_before_it_begins(tmp_path: Path) -> None:
    assert _failed(Faults(0.9, tmp_path / "faults.log"), 1) == 0


def test_a_share_of_calls_fails_and_of_their_next_attempts_more(tmp_path: Path) -> None:
    faults = Faults(0.2, tmp_path / "faults.log")
    faults.begin()
    first, next_ones = _failed(faults, 1), _failed(faults, 2)
    assert 0.15 < first / MANY < 0.25
    assert AGAIN - 0.06 < next_ones / MANY < AGAIN + 0.06
    lines = (tmp_path / "faults.log").read_text().splitlines()
    assert len(lines) == first + next_ones
    assert {line.split(" ", 1)[0] for line in lines} == {"dynamodb.PutItem"}
    assert {line.split(" ", 1)[1] for line in lines} == {fault.value for fault in Fault}


@pytest.mark.parametrize("fault", Fault)
def test_a_call_is_applied_only_where_its_fault_says_so(fault: Fault) -> None:
    applied: list[int] = []
    try:
        answer = suffer(fault, "s3", _request(), lambda: applied.append(1))
        assert answer.status_code >= 500
    except (ConnectTimeoutError, ReadTimeoutError):
        pass
    assert bool(applied) is fault.value.startswith("applied")
