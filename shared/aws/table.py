"""The one table, typed: consistent reads, conditional writes, transactions."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, translated
from shared.aws.items import Item, Key, decode_item, encode_key, key_of
from shared.aws.writes import ABSENT, Delete, Put, Update, Write, expression
from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.aws.clients import Aws

Start = dict[str, Any] | None
"""Where a query goes on: the `last` of the page before."""

BATCH = 100
_UNPROCESSED_PAUSES = (0.05, 0.1, 0.2, 0.4)
"""Seconds, at most, after each answer that leaves keys out: the table is busy."""


@dataclass(frozen=True)
class Query:
    """A range of one partition, in the table's order or an index's.

    `sort` is the sort attribute (`sk`, or an index's own name such as `l1`); `begins`, `after`, `before`
    and `through` bound it; `keep` filters what was read; `only` names the attributes to return;
    `size` bounds the items read in one page; `start` goes on after a page's `last`.
    """

    pk: str
    sort: str = "sk"
    begins: str | None = None
    between: tuple[str, str] | None = None
    before: str | None = None
    after: str | None = None
    keep: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    size: int | None = None
    newest_first: bool = False
    count: bool = False
    start: Start = None

    def request(self) -> dict[str, Any]:
        """Return the arguments of DynamoDB's Query."""
        text, values = self._range()
        options = {
            "KeyConditionExpression": text,
            "ScanIndexForward": not self.newest_first,
            "IndexName": None if self.sort == "sk" else f"by_{self.sort}",
            "FilterExpression": self.keep or None,
            "ProjectionExpression": ", ".join(f"#{n}" for n in self.only) or None,
            "Limit": self.size,
            "Select": "COUNT" if self.count else None,
            "ExclusiveStartKey": self.start,
        }
        names = f"{text} {self.keep} {options['ProjectionExpression'] or ''}"
        used = {name: value for name, value in options.items() if value is not None}
        return used | expression(names, values | self.values)

    def onward(self, start: Start) -> Query:
        """Return the same query, to go on after a page's `last`."""
        return replace(self, start=start)

    def _range(self) -> tuple[str, dict[str, Any]]:
        sort, values = f"#{self.sort}", {"pk": self.pk}
        if self.begins is not None:
            return f"#pk = :pk AND begins_with({sort}, :begins)", values | {"begins": self.begins}
        if self.between is not None:
            low, high = self.between
            return f"#pk = :pk AND {sort} BETWEEN :low AND :high", values | {"low": low, "high": high}
        if self.before is not None:
            return f"#pk = :pk AND {sort} < :before", values | {"before": self.before}
        if self.after is not None:
            return f"#pk = :pk AND {sort} > :after", values | {"after": self.after}
        return "#pk = :pk", values


@dataclass(frozen=True)
class Page:
    """One page of a query: items in order, how many matched, and where to go on (None at the end)."""

    items: list[Item]
    count: int
    last: Start


class Table:
    """The stack's table. All reads are strongly consistent except `due`, the sweeper's."""

    def __init__(self, aws: Aws, name: str) -> None:
        self._aws = aws
        self.name = name

    def get(self, key: Key) -> Item | None:
        """Return the item at `key`, or None."""
        with translated():
            answer = self._aws.dynamodb.get_item(TableName=self.name, Key=encode_key(key), ConsistentRead=True)
        return decode_item(answer["Item"]) if "Item" in answer else None

    def batch_get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """Return the items that exist among at most 100 keys.

        Raises:
            Unavailable: the table keeps leaving keys unprocessed.
        """
        found: dict[Key, Item] = {}
        asked: Any = {"Keys": [encode_key(k) for k in dict.fromkeys(keys)], "ConsistentRead": True}
        for pause in _UNPROCESSED_PAUSES:
            with translated():
                answer = self._aws.dynamodb.batch_get_item(RequestItems={self.name: asked})
            items = [decode_item(i) for i in answer["Responses"].get(self.name, [])]
            found.update({key_of(i): i for i in items})
            asked = answer.get("UnprocessedKeys", {}).get(self.name)
            if not asked:
                return found
            time.sleep(random.uniform(0, pause))  # noqa: S311 - jitter is no secret
        raise Unavailable

    def query(self, query: Query) -> Page:
        """Return one page of a range, read consistently."""
        with translated():
            answer = self._aws.dynamodb.query(TableName=self.name, ConsistentRead=True, **query.request())
        items = [decode_item(i) for i in answer.get("Items", [])]
        return Page(items, answer["Count"], answer.get("LastEvaluatedKey"))

    def scan(self, keep: str, values: dict[str, Any], start: Start = None, *, size: int | None = None) -> Page:
        """Return one page of what is kept of the whole table, read consistently: for maintenance, never for a request.

        A page may be empty and have more behind it; `size` bounds the items read for it.
        """
        options = {"ExclusiveStartKey": start, "Limit": size}
        used: Any = {name: value for name, value in options.items() if value is not None} | expression(keep, values)
        with translated():
            answer = self._aws.dynamodb.scan(TableName=self.name, ConsistentRead=True, FilterExpression=keep, **used)
        items = [decode_item(i) for i in answer.get("Items", [])]
        return Page(items, answer["Count"], answer.get("LastEvaluatedKey"))

    def due(self, bucket: str, start: Start = None) -> tuple[list[Key], dict[str, Any] | None]:
        """Return the keys in one bucket of the `due` index, which lags behind: for the sweeper alone."""
        options: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        with translated():
            answer = self._aws.dynamodb.query(
                TableName=self.name,
                IndexName="due",
                KeyConditionExpression="#due = :due",
                **expression("#due", {"due": bucket}),
                **options,
            )
        return [key_of(decode_item(i)) for i in answer["Items"]], answer.get("LastEvaluatedKey")

    def write(self, write: Put | Update | Delete) -> Item:
        """Apply one write and return the item after an update, else an empty item.

        Raises:
            ConditionFailed: its condition does not hold; carries the item that is there.
        """
        name, arguments = write.request()
        if isinstance(write, Update):
            arguments["ReturnValues"] = "ALL_NEW"
        call: Any = {
            "Put": self._aws.dynamodb.put_item,
            "Update": self._aws.dynamodb.update_item,
            "Delete": self._aws.dynamodb.delete_item,
        }[name]
        with translated():
            return decode_item(call(TableName=self.name, **arguments).get("Attributes", {}))

    def create(self, item: Item) -> None:
        """Write an item under a name that was made for it: what is there already is this one, or what became of it.

        botocore sends a request again whose answer is late, and the first one may arrive when others have gone on from
        the second: without the condition it would undo what they did.
        """
        with suppress(ConditionFailed):
            self.write(Put(item, ABSENT))

    def transact(self, *writes: Write) -> None:
        """Apply up to 100 writes together or not at all.

        Raises:
            TransactionFailed: conditions do not hold; carries the items that are there, by position.
            LostRace: another transaction holds one of the items now.
        """
        operations: list[Any] = []
        for write in writes:
            name, arguments = write.request()
            operations.append({name: {"TableName": self.name, **arguments}})
        with translated():
            self._aws.dynamodb.transact_write_items(TransactItems=operations)

    def every(self, query: Query) -> Iterator[Item]:
        """Yield a whole range, page after page; only for ranges that something bounds."""
        for page in self.pages(query):
            yield from page.items

    def pages(self, query: Query) -> Iterator[Page]:
        """Yield the pages of a whole range; only for ranges that something bounds."""
        while True:
            page = self.query(query)
            yield page
            if page.last is None:
                return
            query = query.onward(page.last)
