"""Amazon Bedrock's runtime: one client, time-outs, attempts with growing pauses, and its errors in our words."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from shared.kernel.errors import Unavailable
from shared.models.errors import ModelRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

T = TypeVar("T")
A = TypeVar("A")
WIDTH = 8
ATTEMPTS = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 4.0
CONNECT_SECONDS = 2

_PASSING = frozenset(
    {
        "InternalServerException",
        "ModelErrorException",
        "ModelNotReadyException",
        "ModelTimeoutException",
        "RequestTimeoutException",
        "ServiceQuotaExceededException",
        "ServiceUnavailableException",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_REMEDIES = {
    "AccessDeniedException": "Allow this function bedrock:InvokeModel on the model (the template's parameters for "
    "models do), and enable access to it in the Bedrock console of this region.",
    "ResourceNotFoundException": "There is no such model in this region: check its id, or whether it needs an "
    "inference profile.",
    "ValidationException": "Check the model id, whether this region offers it on demand, and what it takes.",
}
_ARN = re.compile(r"arn:\S+|\b\d{12}\b")
_CREDENTIAL_NAMES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_CREDENTIALS = "Give this process AWS credentials that are valid, and a region."


class Bedrock:
    """The runtime of one region, for models that answer within `read_seconds`.

    An attempt begins only while half of that is left of the time that its call is given.

    `environ` may hold `BEDROCK_REGION`, when the models are used in another region than everything else,
    `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`, and credentials, as a function's environment does. The client is built at the
    first call and shared by threads.
    """

    def __init__(
        self, environ: Mapping[str, str], *, read_seconds: float, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._environ = environ
        self._read_seconds = read_seconds
        self._pause = pause
        self._building = threading.Lock()

    def invoke(self, model: str, body: Mapping[str, Any], seconds: float) -> Any:
        """Return a model's JSON answer to a JSON body, in its own form.

        Raises:
            Unavailable: it throttles, is down, or answers garbage, and went on so for four attempts or `seconds`.
            ModelRefused: it will not answer until somebody changes what the message says.
        """
        sent = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()

        def call() -> Any:
            answer = self._client.invoke_model(modelId=model, body=sent, contentType="application/json")
            try:
                return json.loads(answer["body"].read())
            except ValueError as error:
                raise Unavailable(f"The model {model} answers what is no JSON. Try again.") from error

        return self._asked(model, call, seconds)

    def converse(self, model: str, request: Mapping[str, Any], seconds: float) -> Any:
        """Return a model's answer to a conversation, in the form of the Converse operation; errors as `invoke`."""

        def call() -> Any:
            answer = self._client.converse(modelId=model, **request)
            if "output" not in answer:  # what botocore makes of a body that is no JSON, or not all of it
                raise Unavailable(f"The model {model} answers what is no answer. Try again.")
            return answer

        return self._asked(model, call, seconds)

    def each(self, function: Callable[[A], T], arguments: Sequence[A]) -> list[T]:
        """Run a function on every argument, a few at a time, and return the results in order; the first error wins."""
        if len(arguments) < 2:
            return [function(argument) for argument in arguments]
        return list(self._threads.map(function, arguments))

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(WIDTH, thread_name_prefix="bedrock")

    @property
    def _client(self) -> BedrockRuntimeClient:
        with self._building:
            return self._built

    @cached_property
    def _built(self) -> BedrockRuntimeClient:
        import boto3  # noqa: PLC0415 - 200 ms that an import of this module should not cost
        from botocore.config import Config  # noqa: PLC0415

        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=self._read_seconds,
            retries={"mode": "standard", "total_max_attempts": 1},  # ours know how much time is left
            max_pool_connections=2 * WIDTH,
        )
        key, secret, token = (self._environ.get(name) or None for name in _CREDENTIAL_NAMES)
        session: Any = boto3.session.Session(key, secret, token) if key and secret else boto3.session.Session()
        client: BedrockRuntimeClient = session.client(
            "bedrock-runtime",
            region_name=self._environ.get("BEDROCK_REGION") or None,
            endpoint_url=self._environ.get("AWS_ENDPOINT_URL_BEDROCK_RUNTIME") or None,
            config=config,
        )
        return client

    def _asked(self, model: str, call: Callable[[], T], seconds: float) -> T:
        last = time.monotonic() + seconds - self._read_seconds / 2
        left, pause = ATTEMPTS, FIRST_PAUSE
        if time.monotonic() > last:
            raise Unavailable(f"The model {model} is not asked: too little is left of the time it is given. Try again.")
        while True:
            left -= 1
            try:
                with _translated(model):
                    return call()
            except ModelRefused:
                raise
            except Unavailable:
                wait = random.uniform(pause / 2, pause)  # noqa: S311 - spreads callers, keeps no secret
                if not left or time.monotonic() + wait > last:
                    raise
                self._pause(wait)
                pause = min(2 * pause, LONGEST_PAUSE)


@contextmanager
def _translated(model: str) -> Iterator[None]:
    from botocore import exceptions as botocore  # noqa: PLC0415 - imported by then, never by us first
    from botocore.parsers import ResponseParserError  # noqa: PLC0415 - the same

    try:
        yield
    except botocore.ClientError as error:
        raise _translate(model, error.response) from error
    except (botocore.NoCredentialsError, botocore.PartialCredentialsError, botocore.NoRegionError) as error:
        raise ModelRefused(f"The model {model} can't be asked: {error}", hint=_CREDENTIALS) from error
    except (
        botocore.ConnectionError,
        botocore.HTTPClientError,
        botocore.IncompleteReadError,
        ResponseParserError,
    ) as error:
        raise Unavailable(f"The model {model} can't be reached. Try again.") from error


def _translate(model: str, response: Any) -> Unavailable:
    code, message = response["Error"].get("Code", ""), response["Error"].get("Message", "")
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _PASSING or status >= 500 or status in (408, 429):
        return Unavailable(f"The model {model} is busy or down ({code or status}). Try again.")
    told = _ARN.sub("…", message)[:300]  # which would tell callers our account and roles
    return ModelRefused(f"The model {model} refuses ({code}): {told}", hint=_REMEDIES.get(code, _CREDENTIALS))
