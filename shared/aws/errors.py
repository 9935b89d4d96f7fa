"""What DynamoDB and S3 say when they refuse, in our words.

AwsSignal
├── ConditionFailed      a single write's condition did not hold; `item` is what is there
├── TransactionFailed    a transaction's conditions did not hold; `items` by position in the transaction
└── ObjectMissing        no object at that key

Throttles, time-outs and 5xx become `Unavailable`; a clash of transactions becomes `LostRace`, and so does one
that is cancelled by a throttle.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shared.aws.items import Item, decode_item
from shared.kernel.contention import LostRace
from shared.kernel.errors import RangeNotSatisfiable, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUSY = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "ThrottlingException",
        "ThrottlingError",
        "Throttling",
        "TooManyRequestsException",
        "LimitExceededException",
        "SlowDown",
        "RequestTimeout",
        "RequestTimeoutException",
        "InternalError",
        "InternalServerError",
        "ServiceUnavailable",
        "TransactionInProgressException",
        "KMSThrottlingException",
        "KmsThrottled",
        "RequestThrottled",
        "OverLimit",
        "503",
        "500",
    }
)
_DENIED = frozenset({401, 403})
_ABSENT = frozenset({"NoSuchKey", "404", "NotFound", "PreconditionFailed"})  # the last: a copy's source was replaced


class AwsSignal(Exception):
    """The root of refusals that a domain room is expected to understand."""


class ConditionFailed(AwsSignal):
    """A single write's condition did not hold."""

    def __init__(self, item: Item | None) -> None:
        super().__init__("condition failed")
        self.item = item


class TransactionFailed(AwsSignal):
    """Some conditions of a transaction did not hold; nothing of it was applied."""

    def __init__(self, failed: dict[int, Item | None]) -> None:
        super().__init__(f"conditions failed at {sorted(failed)}")
        self.items = failed


class ObjectMissing(AwsSignal):
    """There is no object at the key."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn botocore's errors into ours; an error of an unknown code is re-raised as it is."""
    from botocore import exceptions as botocore  # noqa: PLC0415 - imported by then, never by us first

    try:
        yield
    except botocore.ClientError as error:
        raise _translate(error.response) or error from error
    except (botocore.ConnectionError, botocore.HTTPClientError, botocore.IncompleteReadError) as error:
        raise Unavailable from error


def code_of(error: BaseException | None) -> str | None:
    """Return the code by which AWS refused, None of any other error; a search domain has none but its status."""
    response = getattr(error, "response", None)
    if isinstance(response, dict) and "Error" in response:
        return str(response["Error"]["Code"])
    return "AccessDenied" if getattr(error, "status_code", None) in _DENIED else None


def told(error: Exception) -> str | None:
    """Return what to tell whoever runs a command of an error of AWS's; None of any other error."""
    from botocore import exceptions as botocore  # noqa: PLC0415 - a command has its arguments checked before

    if isinstance(error, botocore.ProfileNotFound):
        return f"{error}. Set AWS_PROFILE to one that there is, or unset it."
    if isinstance(error, botocore.NoRegionError):
        return "No region is named: set AWS_DEFAULT_REGION, or give --region."
    if isinstance(error, botocore.NoCredentialsError):
        return "There are no AWS credentials; see `aws configure`, or set AWS_PROFILE."
    return str(error) if isinstance(error, botocore.BotoCoreError | botocore.ClientError) else None


def _translate(response: Any) -> Exception | None:
    code = response["Error"]["Code"]
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(_old(response))
    if code == "TransactionCanceledException":
        return _cancelled(response.get("CancellationReasons", []))
    if code == "TransactionConflictException":
        return LostRace()
    if code in _ABSENT:
        return ObjectMissing()
    if code == "InvalidRange":
        return RangeNotSatisfiable(0)
    return Unavailable() if code in _BUSY or status >= 500 else None


def _cancelled(reasons: list[Any]) -> Exception | None:
    failed = {n: _old(r) for n, r in enumerate(reasons) if r["Code"] == "ConditionalCheckFailed"}
    if failed:
        return TransactionFailed(failed)
    if any(r["Code"] == "TransactionConflict" for r in reasons):
        return LostRace()
    busy = any(r["Code"] in _BUSY for r in reasons)
    return LostRace(giving_up=Unavailable()) if busy else None  # botocore does not try a cancelled one again


def _old(reason: Any) -> Item | None:
    return decode_item(reason["Item"]) if reason.get("Item") else None
