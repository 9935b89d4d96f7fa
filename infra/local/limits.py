"""Limits of DynamoDB that moto does not hold: what passes here has to pass there.

See "Quotas in Amazon DynamoDB" in the developer guide.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

TRANSACTION_BYTES = 4 << 20
BATCH_WRITES = 25
DIGITS = 38


def broken_limit(action: str, parameters: dict[str, Any]) -> str | None:
    """Return what DynamoDB would say of a call that is over a limit, or None."""
    if action == "TransactWriteItems" and len(json.dumps(parameters, default=str)) > TRANSACTION_BYTES:
        return "Collection size of the transaction exceeds 4 MB"
    if action == "BatchWriteItem" and sum(map(len, parameters["RequestItems"].values())) > BATCH_WRITES:
        return f"Too many items requested for the BatchWriteItem call: more than {BATCH_WRITES}"
    if any(_digits(number) > DIGITS for number in _numbers(parameters)):
        return f"Attempting to store more than {DIGITS} significant digits in a Number"
    return None


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
