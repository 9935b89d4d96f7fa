"""Writes that no request waits for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Later = Callable[[Callable[[], None]], None]

THREAD = "later"
"""How the name of the thread begins that writes."""


def later(call: Callable[[], None]) -> None:
    """Run `call` beside the request, one such call after the other.

    Lambda freezes it with the function after the answer, and it goes on with the next request:
    only what is approximate may be written this way.
    """
    _thread().submit(call)


def finish() -> None:
    """Wait for what runs beside requests, before the process ends."""
    _thread().submit(int).result()


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix=THREAD)
