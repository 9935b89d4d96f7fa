"""What goes wrong between the product and AWS: how a call fails, and calls of an emulated account that do.

A local run with `AWS_FAULTS=0.2` lets a fifth of its calls meet a fault from the moment it listens, for soaks; real
services are never behind it (`settings.py` refuses that), and nothing of `infra/local` is deployed.
"""

from __future__ import annotations

import enum
import json
import os
import random
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import botocore.endpoint
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AGAIN = 0.4
"""How likely the next attempt of a call that met a fault meets one too: of three attempts, some fail all."""


class Fault(enum.Enum):
    """What a call meets. The call is applied only where the name says so."""

    THROTTLED = "throttled"
    SERVER_ERROR = "5xx"
    CONNECT_TIMEOUT = "no connection"
    TIMEOUT = "no answer"
    APPLIED_TIMEOUT = "applied, but no answer"
    APPLIED_SERVER_ERROR = "applied, but a 5xx"


_APPLIED = frozenset({Fault.APPLIED_TIMEOUT, Fault.APPLIED_SERVER_ERROR})


def suffer(fault: Fault, service: str, request: Any, apply: Callable[[], Any]) -> Any:
    """Return or raise what the SDK sees of a call that meets `fault`."""
    if fault in _APPLIED:
        apply()
    if fault is Fault.CONNECT_TIMEOUT:
        raise ConnectTimeoutError(endpoint_url=request.url)
    if fault in {Fault.TIMEOUT, Fault.APPLIED_TIMEOUT}:
        raise ReadTimeoutError(endpoint_url=request.url)
    throttled = fault is Fault.THROTTLED
    if service == "s3":
        code = "SlowDown" if throttled else "InternalError"
        body = f"<Error><Code>{code}</Code><Message>Injected</Message></Error>"
        return _answer(request, 503 if throttled else 500, "application/xml", body)
    code = "ProvisionedThroughputExceededException" if throttled else "InternalServerError"
    body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "Injected"})
    return _answer(request, 400 if throttled else 500, "application/x-amz-json-1.0", body)


def _answer(request: Any, status: int, content_type: str, body: str) -> AWSResponse:
    raw: Any = MockRawResponse(body)
    headers = HTTPHeaders.from_dict({"content-type": content_type})
    return AWSResponse(request.url, status, headers, raw)


class Faults:
    """Lets a share of the calls of this process fail, once it has begun; each is a line in the file `told`."""

    def __init__(self, share: float, told: Path) -> None:
        self._share = share
        self._told = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._begun = threading.Event()
        self._apply = BotocoreStubber.__call__

    def install(self) -> None:
        """Stand in front of the emulator, for good; the SDK does not pause between attempts any more."""
        faults, apply = self, self._apply

        def stub(stubber: BotocoreStubber, event_name: str, request: Any, **kwargs: Any) -> Any:
            return faults.around(event_name, request, lambda: apply(stubber, event_name, request, **kwargs))

        setattr(BotocoreStubber, "__call__", stub)  # noqa: B010 - a method of a class that is not ours
        setattr(botocore.endpoint, "time", SimpleNamespace(sleep=lambda _seconds: None))  # noqa: B010 - the same

    def begin(self) -> None:
        """Let calls fail from now on."""
        self._begun.set()

    def around(self, event_name: str, request: Any, apply: Callable[[], Any]) -> Any:
        """Answer one attempt of a call."""
        likely = self._share if b"attempt=1" in _attempt_of(request) else AGAIN
        if not self._begun.is_set() or random.random() >= likely:  # noqa: S311 - no secret
            return apply()
        _, service, operation = event_name.split(".")
        fault = random.choice(list(Fault))  # noqa: S311 - no secret
        os.write(self._told, f"{service}.{operation} {fault.value}\n".encode())
        return suffer(fault, service, request, apply)


def _attempt_of(request: Any) -> bytes:
    named = request.headers.get("amz-sdk-request", b"")
    return named if isinstance(named, bytes) else str(named).encode()
