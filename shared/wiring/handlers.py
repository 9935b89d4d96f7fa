"""From a builder to the handler that Lambda calls."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from shared.aws.clients import Aws
from shared.kernel.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.kernel.clock import Clock

    Handler = Callable[[dict[str, Any], Any], Any]
    Build = Callable[[Mapping[str, str], Aws, Clock], Handler]


def lazily(build: Build) -> Handler:
    """Return a handler that is built from the process's environment at its first invocation, not at import."""

    @cache
    def built() -> Handler:
        import os  # noqa: PLC0415 - the environment is read here and nowhere else

        return build(os.environ, Aws(os.environ), SystemClock())

    def handler(event: dict[str, Any], context: Any) -> Any:
        """Answer one event; what it raises is told of in a line as well, which alarms and queries can read."""
        try:
            return built()(event, context)
        except Exception as error:
            _tell(error)
            raise

    return handler


def _tell(error: Exception) -> None:
    from aws_lambda_powertools import Logger  # noqa: PLC0415 - only when something broke

    from shared.retention.faults import fault_of  # noqa: PLC0415 - the same

    Logger().error("invocation failed", **fault_of("invocation", error).told())
