"""Instances of a function: several, each answering one event at a time, as Lambda has it."""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from infra.local.stack import ACCOUNT, REGION

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.local.stack import Function
    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock

    Handler = Callable[[dict[str, Any], Any], Any]

LIMIT = 8

log = logging.getLogger(__name__)


class Context:
    """What Lambda tells a function about the invocation."""

    function_version = "$LATEST"
    identity = client_context = None

    def __init__(self, function: Function) -> None:
        self.function_name = function.name
        self.memory_limit_in_mb = str(function.memory)
        self.invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function.name}"
        self.log_group_name = f"/aws/lambda/{function.name}"
        self.log_stream_name = "local"
        self.aws_request_id = str(uuid.uuid4())
        self._end = time.monotonic() + function.timeout

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the function is timed out."""
        return max(0, int((self._end - time.monotonic()) * 1000))


class FunctionTimedOut(Exception):
    """The function did not answer within its time."""


class FunctionFailed(Exception):
    """The function raised."""


def builder_of(function: Function, aws: Aws, clock: Clock) -> Callable[[], Handler]:
    """Return what builds an instance: the module's `build`, given the template's environment."""
    module_name = function.handler.rpartition(".")[0]

    def build() -> Handler:
        handler: Handler = importlib.import_module(module_name).build(function.environment, aws, clock)
        return handler

    return build


class Instances:
    """The instances of one function, made as they are needed, at most `limit`."""

    def __init__(self, function: Function, build: Callable[[], Handler], *, limit: int = LIMIT) -> None:
        self.function = function
        self._build = build
        self._idle: list[Handler] = []
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix=function.name)

    def warm(self) -> None:
        """Make the first instance now."""
        self._idle.append(self._build())

    async def invoke(self, event: dict[str, Any]) -> Any:
        """Answer one event.

        Raises:
            FunctionTimedOut: the time is up; the instance is not used again before it has ended.
            FunctionFailed: it raised; the log has the reason.
        """
        started = asyncio.get_running_loop().run_in_executor(self._threads, self.run, event)
        try:
            return await asyncio.wait_for(started, self.function.timeout)
        except TimeoutError:
            log.error("function timed out", extra={"function": self.function.name})  # noqa: TRY400 - nothing was raised
            raise FunctionTimedOut from None

    def run(self, event: dict[str, Any]) -> Any:
        """Answer one event in this thread."""
        try:
            instance = self._taken() or self._build()
            result = instance(event, Context(self.function))
        except Exception as error:
            log.exception("function failed", extra={"function": self.function.name})
            raise FunctionFailed from error
        self._idle.append(instance)
        return result

    def _taken(self) -> Handler | None:
        """Take an instance that answers nothing now; another thread may take the last one just before."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def close(self) -> None:
        """Take no more events; those under way end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)
