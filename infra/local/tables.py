"""A moto table that costs the same however many items it holds.

moto walks and sorts the whole table for every query, and copies it for every operation of a transaction. This one
keeps its rows in order (`infra.local.ordered`), so that a query costs two bisections and the page that it returns.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table

from infra.local.compact import CompactItems
from infra.local.ordered import Entry, Key, Order, OrderedRows, sortable
from infra.local.pages import SORT_KEY_BYTES, Page, PageRequest, matching_span, project, read_page, start_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

PARTITION_KEY_BYTES = 2048


@dataclass(frozen=True)
class _Query:
    """The arguments of moto's `Table.query`, in their order."""

    hash_key: DynamoType
    range_comparison: str | None
    range_objs: list[DynamoType]
    limit: int | None
    exclusive_start_key: dict[str, Any] | None
    scan_index_forward: bool
    projection_expressions: list[list[str]] | None
    index_name: str | None = None
    consistent_read: bool = False
    filter_expression: Any = None
    hash_key_conditions: list[tuple[str, DynamoType]] | None = None
    range_key_conditions: list[tuple[str, str, list[DynamoType]]] | None = None


@dataclass(frozen=True)
class _Scan:
    """The arguments of moto's `Table.scan`, in their order."""

    filters: dict[str, Any]
    limit: int | None
    exclusive_start_key: dict[str, Any] | None
    filter_expression: Any = None
    index_name: str | None = None
    consistent_read: bool = False
    projection_expression: list[list[str]] | None = None
    segments: tuple[None, None] | tuple[int, int] = (None, None)


class OrderedTable(Table):
    """A table with a partition and a sort key, in order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.range_key_attr is None:
            message = f"{self.name}: the local run only knows tables with a sort key"
            raise MockValidationException(message)
        main = Order(None, self.hash_key_attr, self.range_key_attr)
        self.orders = {None: main} | {index.name: Order.of_index(index) for index in self.all_indexes()}
        self.types = {entry["AttributeName"]: entry["AttributeType"] for entry in self.attr}
        self.rows = OrderedRows(list(self.orders.values()), CompactItems(self.hash_key_attr, self.range_key_attr))
        self.stale_rows: OrderedRows | None = None
        self.touched: set[Key] = set()
        self.items = _Partitions(self)  # type: ignore[assignment]

    def __deepcopy__(self, memo: dict[int, Any]) -> OrderedTable:
        """Return the table itself: moto copies it to roll a transaction back, which is done by item here."""
        return self

    def __len__(self) -> int:
        return len(self.rows.items)

    def key_of(self, attributes: dict[str, Any]) -> Key:
        """Return the key in DynamoDB's JSON `attributes` (an item or a key) as sortable values."""
        names = self.hash_key_attr, str(self.range_key_attr)
        if any(name not in attributes for name in names):
            message = "The provided key element does not match the schema"
            raise MockValidationException(message)
        values = [DynamoType(attributes[name]) for name in names]
        check_key(*values)
        return sortable(values[0]), sortable(values[1])

    def store(self, key: Key, item: Item) -> None:
        """Put `item`, whose index keys must be of their declared types and within their sizes."""
        self._check_index_keys(item)
        self.rows.put(key, item)
        self.touched.add(key)

    def restore(self, key: Key, item: Item | None) -> None:
        """Bring back what `key` had before: `item`, or nothing."""
        if item is not None:
            self.rows.put(key, item)
        elif key in self.rows.items:
            self.rows.remove(key)
        self.touched.add(key)

    def discard(self, key: Key) -> Item:
        """Remove and return the item; KeyError when there is none."""
        item = self.rows.remove(key)
        self.touched.add(key)
        return item

    def _check_index_keys(self, item: Item) -> None:
        for name, kind in self.types.items():
            value = item.attrs.get(name)
            if value is None:
                continue
            if value.type != kind:
                message = (
                    "One or more parameter values were invalid: Type mismatch for Index Key "
                    f"{name} Expected: {kind} Actual: {value.type}"
                )
                raise MockValidationException(message)
            limit = PARTITION_KEY_BYTES if name in self.hash_key_names else SORT_KEY_BYTES
            if not 0 < value.size() <= limit:
                message = (
                    f"One or more parameter values were invalid: Size of the key {name} is not between 1 and {limit}"
                )
                raise MockValidationException(message)

    def get_item(
        self,
        hash_key: DynamoType,
        range_key: DynamoType | None = None,
        projection_expression: list[list[str]] | None = None,
    ) -> Item | None:
        """Return the item, or None."""
        if range_key is None:
            message = "The provided key element does not match the schema"
            raise MockValidationException(message)
        check_key(hash_key, range_key)
        item = self.rows.items.get((sortable(hash_key), sortable(range_key)))
        if item is None:
            return None
        if projection_expression:
            return project(item, projection_expression)
        return item

    def query(self, *args: Any, **kwargs: Any) -> Page:
        """Answer one page of a query, in moto's signature."""
        query = _Query(*args, **kwargs)
        order = self._order(query.index_name, consistent=query.consistent_read)
        check_key(query.hash_key)
        rows = self._rows_for(order)
        entries = rows.entries[order.name].get(sortable(query.hash_key), [])
        low, high = matching_span(entries, query.range_comparison, [sortable(value) for value in query.range_objs])
        if query.exclusive_start_key:
            start = self._start_in(order, sortable(query.hash_key), query.exclusive_start_key)
            if query.scan_index_forward:
                low = max(low, bisect_right(entries, start))
            else:
                high = min(high, bisect_left(entries, start))
        positions = range(low, high) if query.scan_index_forward else range(high - 1, low - 1, -1)
        request = PageRequest(order, query.limit, query.filter_expression, query.projection_expressions)
        return read_page(self, rows, request, map(entries.__getitem__, positions))

    def _order(self, index_name: str | None, *, consistent: bool) -> Order:
        order = self.orders.get(index_name)
        if order is None:
            message = f"The table does not have the specified index: {index_name}"
            raise MockValidationException(message)
        if order.is_global and consistent:
            message = "Consistent reads are not supported on global secondary indexes"
            raise MockValidationException(message)
        return order

    def _rows_for(self, order: Order) -> OrderedRows:
        return self.stale_rows if order.is_global and self.stale_rows else self.rows

    def _start_in(self, order: Order, partition: Any, start: dict[str, Any]) -> Entry:
        start_partition, entry = start_entry(self, order, start)
        if start_partition != partition:
            message = "The provided starting key is outside query boundaries based on provided conditions"
            raise MockValidationException(message)
        return entry

    def scan(self, *args: Any, **kwargs: Any) -> Page:
        """Answer one page of a scan, in moto's signature."""
        scan = _Scan(*args, **kwargs)
        if scan.filters:
            message = "ScanFilter is not known here: use FilterExpression"
            raise MockValidationException(message)
        order = self._order(scan.index_name, consistent=scan.consistent_read)
        rows = self._rows_for(order)
        entries = self._scanned(order, rows, scan.exclusive_start_key)
        if scan.segments != (None, None):
            entries = (entry for entry in entries if rows.items[entry[1:]].is_within_segment(scan.segments))
        request = PageRequest(order, scan.limit, scan.filter_expression, scan.projection_expression)
        return read_page(self, rows, request, entries)

    def _scanned(self, order: Order, rows: OrderedRows, start: dict[str, Any] | None) -> Iterable[Entry]:
        partitions = rows.entries[order.name]
        names = sorted(partitions)
        if not start:
            return chain.from_iterable(partitions[name] for name in names)
        first, entry = start_entry(self, order, start)
        rest = partitions.get(first, [])
        following = names[bisect_right(names, first) :]
        return chain(rest[bisect_right(rest, entry) :], *(partitions[name] for name in following))

    def all_items(self) -> list[Item]:
        """Return every item, by partition and sort key."""
        return [self.rows.items[key] for key in sorted(self.rows.items)]


def check_key(partition: DynamoType, sort: DynamoType | None = None) -> None:
    """Refuse, with a ValidationException, what is no key of any item: DynamoDB does not look for it."""
    for value, limit in ((partition, PARTITION_KEY_BYTES), (sort, SORT_KEY_BYTES)):
        if value is not None and value.type != "N" and not 0 < value.size() <= limit:
            message = f"One or more parameter values were invalid: Size of a key is not between 1 and {limit}"
            raise MockValidationException(message)


class _Partitions:
    """What moto sees as `table.items`: a mapping of partitions that are mappings of items."""

    def __init__(self, table: OrderedTable) -> None:
        self._table = table

    def __getitem__(self, hash_key: DynamoType) -> _Partition:
        return _Partition(self._table, sortable(hash_key))


class _Partition:
    def __init__(self, table: OrderedTable, partition: Any) -> None:
        self._table = table
        self._partition = partition

    def __setitem__(self, range_key: DynamoType, item: Item) -> None:
        self._table.store((self._partition, sortable(range_key)), item)

    def pop(self, range_key: DynamoType) -> Item:
        return self._table.discard((self._partition, sortable(range_key)))
