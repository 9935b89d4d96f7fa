"""What is left of a key's quotas, in the form that callers read (contract "memories")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.tenancy.quotas import Balance


def shown(balances: Iterable[Balance | None]) -> list[dict[str, Any]]:
    """Return the `balances` of an answer; a key without a quota has none."""
    return [_shown(balance) for balance in balances if balance is not None]


def _shown(balance: Balance) -> dict[str, Any]:
    return {
        "product_code": "memory_api",
        "feature_code": balance.kind,
        "spec_key": "calls",
        "quota_unit": "times",
        "quota_limit": balance.limit,
        "reserved": max(0, balance.reserved),
        "consumed": max(0, balance.used),
        "remaining": max(0, balance.limit - balance.used - balance.reserved),
    }
