"""Writes to the table as values, so that one shape serves single writes and transactions.

A condition is written with `#name` for attributes and `:name` for values: the names of both are
resolved here, so that no reserved word can get in the way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.aws.items import Item, Key, encode, encode_item, encode_key

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"#(\w+)")
ABSENT = "attribute_not_exists(#pk)"
PRESENT = "attribute_exists(#pk)"


def expression(text: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and value maps that an expression needs."""
    parts: dict[str, Any] = {}
    if names := set(_NAME.findall(text)):
        parts["ExpressionAttributeNames"] = {f"#{n}": n for n in sorted(names)}
    if values:
        parts["ExpressionAttributeValues"] = {f":{n}": encode(v) for n, v in values.items()}
    return parts


@dataclass(frozen=True)
class Put:
    """Write a whole item, when `when` holds."""

    item: Item
    when: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> tuple[str, dict[str, Any]]:
        """Return the operation's name and its arguments."""
        return "Put", {"Item": encode_item(self.item), **_condition(self.when, self.values)}


@dataclass(frozen=True)
class Delete:
    """Remove an item, when `when` holds."""

    key: Key
    when: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> tuple[str, dict[str, Any]]:
        """Return the operation's name and its arguments."""
        return "Delete", {"Key": encode_key(self.key), **_condition(self.when, self.values)}


@dataclass(frozen=True)
class Check:
    """Hold the transaction to a condition on an item that it does not change."""

    key: Key
    when: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> tuple[str, dict[str, Any]]:
        """Return the operation's name and its arguments."""
        return "ConditionCheck", {"Key": encode_key(self.key), **_condition(self.when, self.values)}


@dataclass(frozen=True)
class Update:
    """Change attributes of an item (`put` sets, `add` counts up, `drop` removes), when `when` holds."""

    key: Key
    put: Mapping[str, Any] = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    when: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> tuple[str, dict[str, Any]]:
        """Return the operation's name and its arguments."""
        text = self._text()
        values = {f"put_{n}": v for n, v in self.put.items()} | {f"add_{n}": v for n, v in self.add.items()}
        arguments = {"Key": encode_key(self.key), "UpdateExpression": text}
        condition = _condition(self.when, self.values)
        condition.update(expression(f"{text} {self.when}", {**values, **self.values}))
        return "Update", {**arguments, **condition}

    def _text(self) -> str:
        clauses = []
        if self.put:
            clauses.append("SET " + ", ".join(f"#{n} = :put_{n}" for n in self.put))
        if self.add:
            clauses.append("ADD " + ", ".join(f"#{n} :add_{n}" for n in self.add))
        if self.drop:
            clauses.append("REMOVE " + ", ".join(f"#{n}" for n in self.drop))
        return " ".join(clauses)


Write = Put | Delete | Check | Update


def _condition(when: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if not when:
        return {}
    return {
        "ConditionExpression": when,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **expression(when, values),
    }
