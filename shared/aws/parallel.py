"""Independent AWS calls made at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
WIDTH = 32


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run calls at once and return their results in order; the first error wins, after all have ended.

    The last one runs in the caller's thread, so that a single call costs no thread.
    """
    futures = [_threads().submit(copy_context().run, call) for call in calls[:-1]]
    try:
        last = [call() for call in calls[-1:]]
    finally:
        for future in futures:
            future.exception()
    return [future.result() for future in futures] + last


def each(function: Callable[[Any], T], arguments: Iterable[Any]) -> list[T]:
    """Run `function` on every argument at once and return the results in order."""
    return together(*[_bound(function, argument) for argument in arguments])


def _bound(function: Callable[[Any], T], argument: Any) -> Callable[[], T]:
    return lambda: function(argument)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WIDTH, thread_name_prefix="aws")
