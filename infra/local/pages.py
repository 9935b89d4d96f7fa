"""How DynamoDB cuts a query or scan into pages.

A page ends after `limit` evaluated items, or with the item that passes 1 MiB; then there is a LastEvaluatedKey, even
if nothing follows it. Filters come after the cut. See "Paginating table query results" in the developer guide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict

from infra.local.ordered import Entry, Order, OrderedRows, sortable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from moto.dynamodb.models.table import Table

PAGE_BYTES = 1 << 20
SORT_KEY_BYTES = 1024

Page = tuple[list[Item], int, dict[str, Any] | None]


@dataclass(frozen=True)
class PageRequest:
    """What a query and a scan have in common."""

    order: Order
    limit: int | None
    filter_expression: Any = None
    projection: list[list[str]] | None = None


def matching_span(entries: list[Entry], comparison: str | None, values: list[Any]) -> tuple[int, int]:
    """Return the half-open span of `entries` whose sort value satisfies the key condition.

    Raises:
        MockValidationException: no sort key can have one of the values, or no value lies between them.
    """
    if comparison is None:
        return 0, len(entries)
    _check_values(comparison, values)
    low = bisect_left(entries, values[0], key=_value)
    high = bisect_right(entries, values[-1], key=_value)
    if comparison == "BEGINS_WITH":
        size = len(values[0])
        return low, bisect_right(entries, values[0], key=lambda entry: entry[0][:size])
    spans = {
        "<": (0, low),
        "<=": (0, high),
        ">": (high, len(entries)),
        ">=": (low, len(entries)),
        "=": (low, high),
        "BETWEEN": (low, high),
    }
    return spans[comparison]


def _check_values(comparison: str, values: list[Any]) -> None:
    texts = [value.encode() for value in values if isinstance(value, str)]
    if not all(0 < len(text) <= SORT_KEY_BYTES for text in texts):
        message = f"One or more parameter values were invalid: a sort key has 1 to {SORT_KEY_BYTES} bytes"
        raise MockValidationException(message)
    if comparison == "BETWEEN" and values[0] > values[1]:
        message = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"
        raise MockValidationException(message)


def _value(entry: Entry) -> Any:
    return entry[0]


def start_entry(table: Table, order: Order, start: dict[str, Any]) -> tuple[Any, Entry]:
    """Return partition and entry named by an ExclusiveStartKey; a ValidationException when it has other attributes."""
    names = key_names(table, order)
    if set(start) != set(names):
        message = "The provided starting key is invalid"
        raise MockValidationException(message)
    values = {name: sortable(DynamoType(start[name])) for name in names}
    sort_value = values[order.range_attr] if order.range_attr else ""
    entry = (sort_value, values[table.hash_key_attr], values[str(table.range_key_attr)])
    return values[order.hash_attr], entry


def key_names(table: Table, order: Order) -> list[str]:
    """Return the attributes of a LastEvaluatedKey of `order`."""
    names = [table.hash_key_attr, str(table.range_key_attr), order.hash_attr, order.range_attr]
    return list(dict.fromkeys(name for name in names if name))


def read_page(table: Table, rows: OrderedRows, request: PageRequest, entries: Iterable[Entry]) -> Page:
    """Read `entries` in their order until the page is full: items, number evaluated, LastEvaluatedKey."""
    found: list[Item] = []
    scanned = size = 0
    end: dict[str, Any] | None = None
    for _, *key in entries:
        item = rows.items[cast("tuple[Any, Any]", tuple(key))]
        visible = _indexed(item, request)
        found.append(visible)
        scanned += 1
        size += visible.size()
        if scanned == request.limit or size > PAGE_BYTES:
            end = {name: item.attrs[name] for name in key_names(table, request.order)}
            break
    if request.filter_expression is not None:
        found = [item for item in found if request.filter_expression.expr(item)]
    if request.projection:
        found = [project(item, request.projection) for item in found]
    return found, scanned, end


def _indexed(item: Item, request: PageRequest) -> Item:
    index = request.order.index
    if index is None or (request.projection and not request.order.is_global):
        return item  # a local index fetches from the table what it does not hold
    kind = index.projection.get("ProjectionType") if index.projection else None
    if kind not in {"KEYS_ONLY", "INCLUDE"}:
        return item
    names = [*index.table_key_attrs, *index.schema_key_attrs, *index.projection.get("NonKeyAttributes", ())]
    return _with_attributes(item, names)


def project(item: Item, paths: list[list[str]]) -> Item:
    """Return `item` with only `paths`; moto converts the whole item to Python values and back, which is slow."""
    if any(len(path) > 1 or "[" in path[0] for path in paths):
        return item.project(paths)
    return _with_attributes(item, (path[0] for path in paths))


def _with_attributes(item: Item, names: Iterable[str]) -> Item:
    kept = item.attrs
    item.attrs = LimitedSizeDict()
    dict.update(item.attrs, {name: kept[name] for name in names if name in kept})
    return item
