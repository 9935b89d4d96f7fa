"""Items as JSON strings: a quarter of the memory of moto's objects, and what the journal writes.

Every read gives a fresh item, so that nothing can change in place what is stored.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.local.ordered import Key


def wire(value: Any) -> Any:
    """Return what JSON can't write by itself, for `json.dumps(default=wire)`."""
    if isinstance(value, DynamoType):
        return {value.type: value.value}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    message = f"{type(value).__name__} has no place in an answer of DynamoDB"
    raise TypeError(message)


def deflate(item: Item) -> str:
    """Write the attributes of `item` in DynamoDB's JSON."""
    return json.dumps(item.attrs, default=wire, separators=(",", ":"))


def inflate(text: str, hash_attr: str, range_attr: str) -> Item:
    """Read what `deflate` wrote."""
    attributes = json.loads(text, object_hook=_bytes_back)
    return item_of({name: DynamoType(value) for name, value in attributes.items()}, hash_attr, range_attr)


def item_of(attributes: Mapping[str, DynamoType], hash_attr: str, range_attr: str) -> Item:
    """Return an item of these attributes, whose size was checked when they were written."""
    item = object.__new__(Item)
    item.hash_key, item.range_key = attributes[hash_attr], attributes[range_attr]
    item.attrs = LimitedSizeDict()
    dict.update(item.attrs, attributes)
    return item


def _bytes_back(value: dict[str, Any]) -> dict[str, Any]:
    # A map's own member named "B" holds a typed value, which is a dict, never a string.
    if len(value) == 1:
        if isinstance(value.get("B"), str):
            return {"B": base64.b64decode(value["B"])}
        if isinstance(value.get("BS"), list):
            return {"BS": [base64.b64decode(member) for member in value["BS"]]}
    return value


class CompactItems:
    """The items of one table by key."""

    def __init__(self, hash_attr: str, range_attr: str, kept: dict[Key, str] | None = None) -> None:
        self._attrs = hash_attr, range_attr
        self.kept: dict[Key, str] = {} if kept is None else kept

    def __len__(self) -> int:
        return len(self.kept)

    def __contains__(self, key: Key) -> bool:
        return key in self.kept

    def __iter__(self) -> Iterator[Key]:
        return iter(self.kept)

    def __getitem__(self, key: Key) -> Item:
        return inflate(self.kept[key], *self._attrs)

    def __setitem__(self, key: Key, item: Item) -> None:
        self.kept[key] = deflate(item)

    def get(self, key: Key) -> Item | None:
        """Return the item, or None."""
        return self[key] if key in self.kept else None

    def pop(self, key: Key) -> Item:
        """Remove and return the item; KeyError when there is none."""
        return inflate(self.kept.pop(key), *self._attrs)

    def copy(self) -> CompactItems:
        """Return the items as they are now."""
        return CompactItems(*self._attrs, dict(self.kept))
