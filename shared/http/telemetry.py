"""What a request leaves behind: one JSON line in the log and a few metrics; no bodies, no secrets."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from shared.aws.errors import code_of

if TYPE_CHECKING:
    from shared.http.request import Request
    from shared.kernel.errors import LodestoreError


class Telemetry:
    """The log and the metrics of one surface; `namespace` keeps the metrics of two stacks apart."""

    def __init__(self, surface: str, namespace: str) -> None:
        self._surface = surface
        self._namespace = namespace
        self._log = Logger(service=surface)

    def note(self, request: Request, status: int, milliseconds: float, *, calls: list[str]) -> None:
        """Write the request's line and its metrics."""
        caller = request.caller
        self._log.info(
            "request",
            correlation_id=request.correlation_id,
            request_id=request.request_id,
            key_id=caller.key_id if caller else None,
            route=request.route,
            operation=request.operation,
            method=request.method,
            status=status,
            duration_ms=round(milliseconds, 1),
            aws_calls=dict(Counter(calls)),
        )
        self._measure(status, milliseconds, len(calls))

    def failed(self, request: Request, error: LodestoreError) -> None:
        """Say why an answer will be a 5xx: the cause's class and code, never its data."""
        cause = error.__cause__
        self._log.warning(
            "dependency failed",
            correlation_id=request.correlation_id,
            request_id=request.request_id,
            error=type(error).__name__,
            cause=type(cause).__name__,
            code=code_of(cause),
        )

    def bug(self, request: Request) -> None:
        """Keep the stack of an unexpected error; its message may hold data, so only where it happened."""
        self._log.error(
            "unexpected error",
            correlation_id=request.correlation_id,
            request_id=request.request_id,
            code=code_of(sys.exc_info()[1]),
            stack=_stack(),
        )

    def _measure(self, status: int, milliseconds: float, calls: int) -> None:
        metrics = EphemeralMetrics(namespace=self._namespace, service=self._surface)
        metrics.add_dimension(name="surface", value=self._surface)
        metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)
        metrics.add_metric(name="ClientErrors", unit=MetricUnit.Count, value=int(400 <= status < 500))
        metrics.add_metric(name="ServerErrors", unit=MetricUnit.Count, value=int(status >= 500))
        metrics.add_metric(name="Latency", unit=MetricUnit.Milliseconds, value=milliseconds)
        metrics.add_metric(name="AwsCalls", unit=MetricUnit.Count, value=calls)
        metrics.flush_metrics()


def _stack() -> list[str]:
    import traceback  # noqa: PLC0415 - only when something broke

    kind, _, trace = sys.exc_info()
    frames = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(trace)]
    return [kind.__name__ if kind else "?", *frames[-12:]]
