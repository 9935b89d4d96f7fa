"""Limits of DynamoDB and SQS that moto does not hold: what passes here has to pass there.

See "Quotas in Amazon DynamoDB" in its developer guide, and SendMessage in the API reference of SQS.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

TRANSACTION_BYTES = 4 << 20
BATCH_WRITES = 25
DIGITS = 38
EXPRESSION_BYTES = 4 << 10
DEPTH = 32
MESSAGE_BYTES = 1 << 20

_OPERATIONS = ("Put", "Update", "Delete", "ConditionCheck")
_NO_TEXT = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What SQS takes for no character, as XML does."""
_MESSAGE_NAME = re.compile("[!-~]{1,128}")


def broken_limit(action: str, parameters: dict[str, Any]) -> str | None:
    """Return what DynamoDB would say of a call that is over a limit, or None."""
    if action == "TransactWriteItems" and len(json.dumps(parameters, default=str)) > TRANSACTION_BYTES:
        return "Collection size of the transaction exceeds 4 MB"
    if action == "BatchWriteItem" and sum(map(len, parameters["RequestItems"].values())) > BATCH_WRITES:
        return f"Too many items requested for the BatchWriteItem call: more than {BATCH_WRITES}"
    if any(_digits(number) > DIGITS for number in _numbers(parameters)):
        return f"Attempting to store more than {DIGITS} significant digits in a Number"
    if any(len(text.encode()) > EXPRESSION_BYTES for text in _expressions(parameters)):
        return f"Expression size has exceeded the maximum allowed size of {EXPRESSION_BYTES} bytes"
    if any(_depth(value) > DEPTH for value in _attributes(parameters)):
        return f"Nesting Levels have exceeded supported limits: more than {DEPTH}"
    return None


def refused_message(text: str, *names: str | None) -> str | None:
    """Return what SQS would say of a message that it does not take, or None; `names` are its group's and its own."""
    if any(name is not None and not _MESSAGE_NAME.fullmatch(name) for name in names):
        return "MessageGroupId and MessageDeduplicationId take 1 to 128 letters, digits and punctuation of ASCII"
    if found := _NO_TEXT.search(text):
        return f"Invalid characters found in the message: #x{ord(found[0]):x}"
    if len(text.encode()) > MESSAGE_BYTES:
        return f"Message must be shorter than {MESSAGE_BYTES} bytes"
    return None


def _expressions(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [text for name, text in value.items() if name.endswith("Expression") and isinstance(text, str)]
        return own + [text for name in ("TransactItems", *_OPERATIONS) for text in _expressions(value.get(name))]
    return [text for inner in value for text in _expressions(inner)] if isinstance(value, list) else []


def _attributes(value: Any) -> list[Any]:
    """Return the values of items and of expressions, typed as DynamoDB has them."""
    if isinstance(value, dict):
        own = [typed for name in ("Item", "ExpressionAttributeValues") for typed in value.get(name, {}).values()]
        return own + [typed for name in ("TransactItems", *_OPERATIONS) for typed in _attributes(value.get(name))]
    return [typed for inner in value for typed in _attributes(inner)] if isinstance(value, list) else []


def _depth(typed: Any) -> int:
    """Return how many lists and maps are around the innermost of a typed value's."""
    ((kind, content),) = typed.items()
    inner = content.values() if kind == "M" else content if kind == "L" else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def _numbers(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["N"]] if isinstance(value.get("N"), str) else []
        return own + [number for inner in value.values() for number in _numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in _numbers(inner)]
    return []


def _digits(number: str) -> int:
    try:
        digits = Decimal(number).as_tuple().digits
    except InvalidOperation:
        return 0  # moto refuses what is no number
    return len("".join(map(str, digits)).strip("0"))
