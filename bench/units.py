"""What AWS counts of each call that a function makes: DynamoDB's request units, S3's and SQS's requests, bytes.

DynamoDB's are worked out here from the rows before and after, by its rules; the emulator counts none:

- a strongly consistent read is a unit a 4 KB, one at least; a batch counts each row, a query the sum of what it reads;
- a write is a unit a 1 KB of the larger of the row before and after; in a transaction, checks too, it is two;
- an index is written where its row changes: one row more, less or other, or two where its key changes. Local indexes
  are counted double in a transaction, as the table is; the global one is written after it, and is not.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, fields
from math import ceil
from typing import TYPE_CHECKING, Any

from shared.aws.clients import calls_made

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.local.emulator import Emulator
    from shared.aws.clients import Aws

    Row = dict[str, Any] | None

READ_BYTES, WRITE_BYTES = 4096, 1024
INDEXES = {"by_l1": ("l1", True), "by_l2": ("l2", False), "by_l3": ("l3", True), "due": ("due", False)}
"""The table's indexes: their sort or hash attribute, and whether they have all attributes or the keys alone."""

ENTRY_BYTES = 100
"""What DynamoDB adds to every row, and to every row of an index, when it weighs what is stored."""

_PUTS = {"PutObject", "CopyObject", "ListObjectsV2", "CreateMultipartUpload"}
_GETS = {"GetObject", "HeadObject", "HeadBucket"}


@dataclass
class Units:
    """What was used: request units, requests by class; `busiest` are the writes in the partition that has most.

    `due` are those of the sweeper's index.
    """

    reads: float = 0
    writes: float = 0
    s3_puts: float = 0
    s3_gets: float = 0
    sqs: float = 0
    busiest: float = 0
    due: float = 0
    calls: float = 0
    rounds: float = 0

    def __add__(self, other: Units) -> Units:
        return Units(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def over(self, count: float) -> Units:
        """Return them divided."""
        return Units(*(getattr(self, f.name) / count for f in fields(self)))


def size_of(row: Mapping[str, Any] | None) -> int:
    """Return a row's bytes as DynamoDB counts them: names and values; of nothing 0."""
    return 0 if row is None else sum(len(name.encode()) + _value_size(value) for name, value in row.items())


def stored_size_of(row: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes that a row takes in the table, and in its local indexes."""
    local = [_entry(name, row) for name in INDEXES if name != "due"]
    return size_of(row) + ENTRY_BYTES, sum(size_of(entry) + ENTRY_BYTES for entry in local if entry)


def write_units(before: Row, after: Row, *, transaction: bool = False) -> int:
    """Return the units of one write, with those of the indexes that it changes."""
    factor = 2 if transaction else 1
    units = factor * _blocks(max(size_of(before), size_of(after)), WRITE_BYTES)
    for name in INDEXES:
        units += _index_units(name, before, after) * (1 if name == "due" else factor)
    return units


def _index_units(name: str, before: Row, after: Row) -> int:
    old, new = (_entry(name, row) for row in (before, after))
    if old == new:
        return 0
    key = INDEXES[name][0]
    if old and new and old[key] != new[key]:
        return _blocks(size_of(old), WRITE_BYTES) + _blocks(size_of(new), WRITE_BYTES)
    return _blocks(max(size_of(old), size_of(new)), WRITE_BYTES)


def _entry(index: str, row: Row) -> Row:
    key, whole = INDEXES[index]
    if row is None or key not in row:
        return None
    return dict(row) if whole else {name: row[name] for name in ("pk", "sk", key)}


def _blocks(size: int, block: int) -> int:
    return max(1, ceil(size / block))


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return (len(content.lstrip("-").replace(".", "")) + 1) // 2 + 1
        case "B":
            return len(content)
        case "L":
            return 3 + sum(1 + _value_size(each) for each in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_size(each) for name, each in content.items())
    return 1


class Meter:
    """Counts the calls of requests, and of whatever else has `calls_made` set, while it is asked to."""

    def __init__(self, emulator: Emulator, aws: Aws, table: str, *, pause: float = 0.0) -> None:
        self._emulator, self._table, self._pause = emulator, table, pause
        self._lock = threading.Lock()
        self._pending = threading.local()
        self._counted: Units | None = None
        for client in (aws.dynamodb, aws.s3, aws.sqs):
            events = client.meta.events
            events.register("provide-client-params", self._begin)
            events.register("after-call", self._end)

    @contextmanager
    def counting(self) -> Iterator[Units]:
        """Count into what is given, until the end."""
        self._counted = units = Units()
        try:
            yield units
        finally:
            self._counted = None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all rows of the table."""
        for item in self._emulator.table(self._table).all_items():
            yield item.to_json()["Attributes"]

    def _begin(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self._pending.call = None
        if self._counted is not None and calls_made.get() is not None:
            keys = _keys_written(model.name, params)
            time.sleep(self._pause)
            self._pending.call = model.name, params, keys, {_name(key): self._row(key) for key, _ in keys}

    def _end(self, parsed: dict[str, Any], **_: Any) -> None:
        call, self._pending.call = getattr(self._pending, "call", None), None
        if call is None or self._counted is None:
            return
        units = self._units(call, parsed)
        with self._lock:
            units += self._counted
            for field in fields(units):
                setattr(self._counted, field.name, getattr(units, field.name))

    def _units(self, call: Any, parsed: Any) -> Units:
        name, params, keys, before = call
        if keys:
            transaction = name == "TransactWriteItems"
            partitions: Counter[str] = Counter()
            due = 0
            for key, _ in keys:
                old, new = before[_name(key)], self._row(key)
                partitions[key["pk"]["S"]] += write_units(old, new, transaction=transaction)
                due += _index_units("due", old, new)
            return Units(writes=partitions.total(), busiest=max(partitions.values()), due=due, calls=1)
        if name in {"GetItem", "BatchGetItem", "Query"}:
            return Units(reads=self._read_units(name, params, parsed), calls=1)
        return Units(s3_puts=name in _PUTS, s3_gets=name in _GETS, sqs="Message" in name, calls=1)

    def _read_units(self, name: str, params: Any, parsed: Any) -> float:
        if name == "GetItem":
            return _blocks(size_of(parsed.get("Item")), READ_BYTES)
        if name == "BatchGetItem":
            asked = sum(len(tables["Keys"]) for tables in params["RequestItems"].values())
            found = [row for rows in parsed["Responses"].values() for row in rows]
            return sum(_blocks(size_of(row), READ_BYTES) for row in found) + asked - len(found)
        index = params.get("IndexName")
        rows = [self._read_row(row, index) for row in parsed.get("Items", [])]
        read = sum(map(size_of, rows)) * (parsed["ScannedCount"] / parsed["Count"] if parsed["Count"] else 1)
        return _blocks(int(read), READ_BYTES) * (1 if params.get("ConsistentRead") else 0.5)

    def _read_row(self, row: dict[str, Any], index: str | None) -> Row:
        """Return what was read for a row of a query's answer: a projection is made after it."""
        whole = self._row({"pk": row["pk"], "sk": row["sk"]}) if {"pk", "sk"} <= row.keys() else row
        return _entry(index, whole) if index else whole

    def _row(self, key: Mapping[str, Any]) -> Row:
        found: Any = self._emulator.table(self._table).get_item(_typed(key["pk"]), _typed(key["sk"]))
        return None if found is None else found.to_json()["Attributes"]


def _typed(value: Any) -> Any:
    from moto.dynamodb.models.dynamo_type import DynamoType  # noqa: PLC0415 - half a second

    return DynamoType(value)


def _name(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def _keys_written(name: str, params: Any) -> Sequence[tuple[dict[str, Any], str]]:
    """Return the keys of the rows that a call writes, or checks in a transaction."""
    if name in {"PutItem", "UpdateItem", "DeleteItem"}:
        return [(_key(params), name)]
    if name == "TransactWriteItems":
        return [(_key(write), kind) for item in params["TransactItems"] for kind, write in item.items()]
    return []


def _key(write: Any) -> dict[str, Any]:
    key = write.get("Key") or write["Item"]
    return {"pk": key["pk"], "sk": key["sk"]}
