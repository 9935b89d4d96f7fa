"""Calls made at the same time."""

from __future__ import annotations

import threading

import pytest

from shared.aws.parallel import WIDTH, each, together


def test_results_come_in_order_and_the_first_error_after_all_have_ended() -> None:
    ended: list[int] = []

    def call(number: int) -> int:
        ended.append(number)
        if number in {3, 5}:
            raise ValueError(number)
        return number

    assert each(lambda number: number, range(3 * WIDTH)) == list(range(3 * WIDTH))
    with pytest.raises(ValueError, match="3"):
        each(call, range(7))
    assert sorted(ended) == list(range(7))
    assert together() == []


def test_calls_that_make_such_calls_themselves_never_wait_for_each_other() -> None:
    all_at_it = threading.Barrier(WIDTH + 1)

    def outer(number: int) -> list[int]:
        all_at_it.wait(60)
        return each(lambda place: number * place, range(3))

    assert each(outer, range(WIDTH + 1)) == [[0, number, 2 * number] for number in range(WIDTH + 1)]
