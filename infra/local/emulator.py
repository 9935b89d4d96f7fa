"""AWS in this process: moto, made safe for threads, cheap and faithful where it is not.

    emulator = Emulator()
    emulator.start()            # from here on every boto3 client of this process talks to it
    ...
    emulator.stop()             # forgets everything

What differs from plain moto: DynamoDB and S3 calls run one at a time, so that conditions and transactions are atomic;
see `tables`, `transactions` and `objects` for the rest. `Emulator(conflicts=Conflicts())` adds the transaction
conflicts that moto never raises.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self
from unittest.mock import patch

from moto import mock_aws
from moto.core.model_instances import model_data
from moto.dynamodb import models as dynamodb_models
from moto.dynamodb import responses as dynamodb_responses
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.responses import DynamoHandler
from moto.s3.responses import S3Response

from infra.local import transactions
from infra.local.stack import ACCOUNT, REGION
from infra.local.tables import OrderedTable
from infra.local.wire import WireResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from moto.core.common_types import TYPE_RESPONSE

    from infra.local.transactions import Conflicts

TRANSACT_GET_ITEMS = 100
ENVIRONMENT = {"AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION, "AWS_EC2_METADATA_DISABLED": "true"}


class Emulator:
    """The one emulated account of this process."""

    def __init__(self, *, conflicts: Conflicts | None = None) -> None:
        self.conflicts = conflicts
        self._mock = mock_aws()
        self._environment = patch.dict("os.environ", ENVIRONMENT)

    def start(self) -> None:
        """Answer the AWS calls of this process from an empty account."""
        _install()
        self._environment.start()
        self._mock.start()
        _state.emulator = self

    def stop(self) -> None:
        """Forget everything and let calls go where they went before."""
        _state.emulator = None
        self._mock.stop()
        self._environment.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def table(self, name: str) -> OrderedTable:
        """Return the emulated table, to look at what no API shows."""
        table = dynamodb_backends[ACCOUNT][REGION].get_table(name)
        assert isinstance(table, OrderedTable)
        return table

    @contextmanager
    def stale_global_indexes(self, table_name: str) -> Iterator[None]:
        """Keep the global indexes of a table as they are now, however much is written meanwhile."""
        table = self.table(table_name)
        with _state.dynamodb:
            table.stale_rows = table.rows.snapshot()
        try:
            yield
        finally:
            table.stale_rows = None

    def admit(self, handler: DynamoHandler) -> AbstractContextManager[None]:
        """Return the context in which a DynamoDB call runs before it takes the lock."""
        return nullcontext() if self.conflicts is None else self.conflicts.admit(handler)


class _State:
    """What moto's classes, which are global, have to find."""

    def __init__(self) -> None:
        self.installed = False
        self.emulator: Emulator | None = None
        self.dynamodb = threading.RLock()
        self.s3 = threading.RLock()


_state = _State()


class _Forgetful(list[Any]):
    """Keeps nothing: moto lists every item and object it ever made, for a dashboard."""

    def append(self, item: Any) -> None:
        """Forget `item`."""


def _install() -> None:
    """Replace moto's methods, once a process; without a running emulator they do what moto's do."""
    if _state.installed:
        return
    _state.installed = True
    for service in ("dynamodb", "s3", "sqs"):
        for model in model_data[service].values():
            setattr(model, "instances_tracked", _Forgetful())  # noqa: B010 - moto types models as objects
    replacements: list[tuple[Any, str, Any]] = [
        (dynamodb_models, "Table", OrderedTable),
        (dynamodb_responses, "DynamoResult", WireResult),
        (dynamodb_responses, "TRANSACTION_MAX_ITEMS", TRANSACT_GET_ITEMS),
        (DynamoDBBackend, "update_item", transactions.update_item),
        (DynamoDBBackend, "transact_write_items", transactions.transact_write_items),
        (DynamoHandler, "transact_write_items", transactions.answer_transaction),
        (DynamoHandler, "call_action", _admitted(DynamoHandler.call_action)),
        (S3Response, "bucket_response", _locked(S3Response.bucket_response)),
        (S3Response, "key_response", _locked(S3Response.key_response)),
    ]
    for owner, name, replacement in replacements:
        setattr(owner, name, replacement)


def _admitted(call: Callable[[DynamoHandler], TYPE_RESPONSE]) -> Callable[[DynamoHandler], TYPE_RESPONSE]:
    def call_action(handler: DynamoHandler) -> TYPE_RESPONSE:
        handler.body = handler.params
        emulator = _state.emulator
        with emulator.admit(handler) if emulator else nullcontext(), _state.dynamodb:
            return call(handler)

    return call_action


def _locked(call: Callable[..., TYPE_RESPONSE]) -> Callable[..., TYPE_RESPONSE]:
    def respond(*args: Any, **kwargs: Any) -> TYPE_RESPONSE:
        with _state.s3:
            return call(*args, **kwargs)

    return respond
