"""Independent AWS calls made at the same time."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
WIDTH = 32


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run calls at once and return their results in order; the first error wins, after all have ended.

    The last one runs in the caller's thread, so that a single call costs no thread; and so does what no thread has
    begun by then, so that calls which make such calls themselves never wait for each other's threads.
    """
    begun = [(_threads().submit(copy_context().run, call), call) for call in calls[:-1]]
    try:
        last = [call() for call in calls[-1:]]
    finally:
        ended = [_ended(future, call) for future, call in begun]
    return [future.result() for future in ended] + last


def _ended(future: Future[T], call: Callable[[], T]) -> Future[T]:
    """Return a call's end; one that waits for a thread still is made here."""
    if not future.cancel():
        future.exception()
        return future
    here: Future[T] = Future()
    try:
        here.set_result(call())
    except BaseException as error:  # noqa: BLE001 - told by its result, as a thread's is
        here.set_exception(error)
    return here


def each(function: Callable[[Any], T], arguments: Iterable[Any]) -> list[T]:
    """Run `function` on every argument at once and return the results in order."""
    return together(*[_bound(function, argument) for argument in arguments])


def _bound(function: Callable[[Any], T], argument: Any) -> Callable[[], T]:
    return lambda: function(argument)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WIDTH, thread_name_prefix="aws")
