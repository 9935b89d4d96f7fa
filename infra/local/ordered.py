"""Items kept in order, for a table and for each of its indexes.

Strings sort by code point, which is the order of their UTF-8 bytes, as in DynamoDB.
"""

from __future__ import annotations

import base64
import json
from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import GlobalSecondaryIndex, SecondaryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from moto.dynamodb.models.dynamo_type import Item

    from infra.local.compact import CompactItems

Key = tuple[Any, Any]
Entry = tuple[Any, Any, Any]


def sortable(value: DynamoType) -> Any:
    """Return the Python value by which DynamoDB orders a key attribute (S, N or B)."""
    if value.type == "N":
        return Decimal(value.value)
    if value.type == "B" and not isinstance(value.value, bytes):
        return base64.b64decode(value.value)
    return value.value


@dataclass(frozen=True)
class Order:
    """The attributes that order an index; the table itself is the order named None."""

    name: str | None
    hash_attr: str
    range_attr: str | None
    index: SecondaryIndex | None = None

    @classmethod
    def of_index(cls, index: SecondaryIndex) -> Order:
        """Return the order of a secondary index."""
        kinds = {part["KeyType"]: part["AttributeName"] for part in index.schema}
        return cls(index.name, kinds["HASH"], kinds.get("RANGE"), index)

    @property
    def is_global(self) -> bool:
        """Say whether this is a global index, which DynamoDB brings up to date after the write."""
        return isinstance(self.index, GlobalSecondaryIndex)

    def place(self, attributes: Mapping[str, DynamoType], key: Key) -> tuple[Any, Entry] | None:
        """Return partition and entry of an item, or None when this index does not hold it."""
        partition = attributes.get(self.hash_attr)
        if partition is None:
            return None
        if self.range_attr is None:
            return sortable(partition), ("", *key)
        value = attributes.get(self.range_attr)
        return None if value is None else (sortable(partition), (sortable(value), *key))


class OrderedRows:
    """The items of one table by key, and for each order and partition the sorted entries."""

    def __init__(self, orders: Sequence[Order], items: CompactItems) -> None:
        self.orders = orders
        self.items = items
        self.entries: defaultdict[str | None, dict[Any, list[Entry]]] = defaultdict(dict)

    def put(self, key: Key, item: Item) -> None:
        """Store `item`, in the place of what has its key."""
        old = self.items.get(key)
        for order in self.orders:
            self._move(order, order.place(old.attrs, key) if old else None, order.place(item.attrs, key))
        self.items[key] = item

    def remove(self, key: Key) -> Item:
        """Remove and return the item with `key`; KeyError when there is none."""
        item = self.items.pop(key)
        for order in self.orders:
            self._move(order, order.place(item.attrs, key), None)
        return item

    def _move(self, order: Order, old: tuple[Any, Entry] | None, new: tuple[Any, Entry] | None) -> None:
        if old == new:
            return
        partitions = self.entries[order.name]
        if old is not None:
            entries = partitions[old[0]]
            del entries[bisect_left(entries, old[1])]
            if not entries:
                del partitions[old[0]]
        if new is not None:
            insort(partitions.setdefault(new[0], []), new[1])

    def load(self, texts: Iterable[str]) -> None:
        """Take the items, as JSON, into a table that has none, sorting each partition once."""
        for text in texts:
            attributes = json.loads(text)
            item = {name: DynamoType(attributes[name]) for name in self._ordering & attributes.keys()}
            key = self._key_of(item)
            self.items.kept[key] = text
            for order in self.orders:
                if (place := order.place(item, key)) is not None:
                    self.entries[order.name].setdefault(place[0], []).append(place[1])
        for partitions in self.entries.values():
            for entries in partitions.values():
                entries.sort()

    @cached_property
    def _ordering(self) -> set[str]:
        return {name for order in self.orders for name in (order.hash_attr, order.range_attr) if name}

    def _key_of(self, attributes: Mapping[str, DynamoType]) -> Key:
        main = self.orders[0]
        return sortable(attributes[main.hash_attr]), sortable(attributes[str(main.range_attr)])

    def snapshot(self) -> OrderedRows:
        """Return the state as it is now; later changes do not show in it."""
        copy = OrderedRows(self.orders, self.items.copy())
        for name, partitions in self.entries.items():
            copy.entries[name] = {partition: list(entries) for partition, entries in partitions.items()}
        return copy
