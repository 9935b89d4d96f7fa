"""DynamoDB's transactions as they are, on top of moto's.

moto copies whole tables to roll back, changes items in place, ignores the client's token, and never raises a
conflict. Here a transaction costs its own items, leaves nothing when it fails, and is applied once a token.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.exceptions import DynamodbException, MockValidationException, TransactionCanceledException
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.responses import DynamoHandler

from infra.local.limits import broken_limit
from infra.local.tables import OrderedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from moto.core.responses import ActionResult
    from moto.dynamodb.models.dynamo_type import Item

TOKEN_SECONDS = 600
ERROR_PREFIX = "com.amazonaws.dynamodb.v20120810#"
CONFLICT = ("TransactionConflict", "Transaction is ongoing for the item", None)

ItemName = tuple[str, Any, Any]

_update_item = DynamoDBBackend.update_item
_transact_write_items = DynamoDBBackend.transact_write_items
_answer_transaction = DynamoHandler.transact_write_items


def update_item(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *args: Any, **kwargs: Any) -> Item:
    """Store what moto made of its copy of the item, when all went well."""
    table = _table(backend, table_name)
    name = table.key_of(key)
    original = table.rows.items.get(name)
    try:
        item = _update_item(backend, table_name, key, *args, **kwargs)
        table.store(name, item)
    except BaseException:
        table.restore(name, original)
        raise
    return item


def transact_write_items(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    """Apply all of `transact_items` or none of them."""
    tables = [_table(backend, table_name) for table_name, _ in map(_target, transact_items)]
    keys = [table.key_of(key) for table, (_, key) in zip(tables, map(_target, transact_items), strict=True)]
    originals = [table.rows.items.get(key) for table, key in zip(tables, keys, strict=True)]
    try:
        _transact_write_items(backend, transact_items)
    except BaseException:
        for table, key, original in zip(tables, keys, originals, strict=True):
            table.restore(key, original)
        raise


def answer_transaction(handler: DynamoHandler) -> ActionResult:
    """Run TransactWriteItems once for each ClientRequestToken."""
    return tokens_of(handler.dynamodb_backend).answer(handler, lambda: _answer_transaction(handler))


@dataclass
class _Tokens:
    """The client tokens of the last ten minutes, as DynamoDB keeps them, with a digest of what each came with."""

    seen: dict[str, tuple[float, bytes, ActionResult]] = field(default_factory=dict)

    def answer(self, handler: DynamoHandler, run: Callable[[], ActionResult]) -> ActionResult:
        token = handler.body.get("ClientRequestToken")
        if token is None:
            return run()
        text = json.dumps(handler.body, sort_keys=True, default=str)
        request, now = sha256(text.encode()).digest(), time.monotonic()
        if token in self.seen:
            return self._again(token, request)
        result = run()
        while self.seen and next(iter(self.seen.values()))[0] < now - TOKEN_SECONDS:
            del self.seen[next(iter(self.seen))]
        self.seen[token] = (now, request, result)
        return result

    def _again(self, token: str, request: bytes) -> ActionResult:
        _, first, result = self.seen[token]
        if first != request:
            error = f"{ERROR_PREFIX}IdempotentParameterMismatchException"
            raise DynamodbException(error, "A request with this token had other parameters")
        return result


def tokens_of(backend: DynamoDBBackend) -> _Tokens:
    """Return the tokens that `backend` has seen."""
    tokens: _Tokens = backend.__dict__.setdefault("lodestore_tokens", _Tokens())
    return tokens


def _table(backend: DynamoDBBackend, name: str) -> OrderedTable:
    table = backend.get_table(name)
    assert isinstance(table, OrderedTable)
    return table


def _target(item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    operation = next(iter(item.values()))
    return operation["TableName"], operation.get("Key") or operation["Item"]


class Conflicts:
    """Real conflicts: a write that meets an item of a transaction in flight is refused.

    Each transaction is held for `seconds` outside of the lock, so that others do meet it.
    """

    def __init__(self, seconds: float = 0.01) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._in_flight: set[ItemName] = set()
        self.count = 0

    @contextmanager
    def admit(self, handler: DynamoHandler) -> Iterator[None]:
        """Hold the items of a transaction while it runs, or make the write fail as DynamoDB would."""
        action = action_of(handler)
        names = _items_of(action, handler)
        is_transaction = action == "TransactWriteItems"
        with self._lock:
            taken = [name in self._in_flight for name in names]
            if not any(taken) and is_transaction:
                self._in_flight.update(names)
        if any(taken):
            self.count += 1
            refuse(handler, _conflict(action, taken))
        elif is_transaction:
            time.sleep(self._seconds)
        try:
            yield
        finally:
            if is_transaction and not any(taken):
                with self._lock:
                    self._in_flight.difference_update(names)


def _conflict(action: str, taken: list[bool]) -> DynamodbException:
    if action.startswith("Transact"):
        return TransactionCanceledException([CONFLICT if conflict else (None, None, None) for conflict in taken])
    return DynamodbException(f"{ERROR_PREFIX}TransactionConflictException", CONFLICT[1])


def refuse(handler: DynamoHandler, error: DynamodbException) -> None:
    """Let the action that `handler` is about to run raise `error` instead."""

    def refused() -> ActionResult:
        raise error

    action = action_of(handler)
    setattr(handler, camelcase_to_underscores(action), refused)


def action_of(handler: DynamoHandler) -> str:
    """Return the operation's name, as `TransactWriteItems`."""
    return str(handler.headers["x-amz-target"].rpartition(".")[2])


def hold_limits(handler: DynamoHandler) -> None:
    """Refuse what is over a limit that moto does not know."""
    if message := broken_limit(action_of(handler), handler.body):
        refuse(handler, MockValidationException(message))


def _items_of(action: str, handler: DynamoHandler) -> list[ItemName]:
    body = handler.body
    if action in {"TransactWriteItems", "TransactGetItems"}:
        targets = [_target(item) for item in body["TransactItems"]]
    elif action in {"PutItem", "UpdateItem", "DeleteItem"}:
        targets = [_target({"": body})]
    elif action == "BatchWriteItem":
        targets = [
            _target({"": {"TableName": table, **next(iter(request.values()))}})
            for table, requests in body["RequestItems"].items()
            for request in requests
        ]
    else:
        targets = []
    return [(table, *_table(handler.dynamodb_backend, table).key_of(key)) for table, key in targets]
