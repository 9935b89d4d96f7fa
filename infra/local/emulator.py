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

import json
import logging
import os
import sqlite3
import threading
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self
from unittest.mock import patch

from botocore.exceptions import HTTPClientError
from moto import mock_aws
from moto.core import botocore_stubber
from moto.core.base_backend import AccountSpecificBackend
from moto.core.model_instances import model_data
from moto.dynamodb import models as dynamodb_models
from moto.dynamodb import responses as dynamodb_responses
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.responses import DynamoHandler
from moto.s3 import models as s3_models
from moto.s3.models import S3Backend
from moto.s3.responses import S3Response
from moto.sqs.models import Queue, SQSBackend, sqs_backends
from moto.sqs.responses import SQSResponse

from infra.local import messages, objects, transactions
from infra.local.bodies import plain_request
from infra.local.journal import Journal
from infra.local.messages import MessageStore
from infra.local.objects import ObjectStore
from infra.local.stack import ACCOUNT, REGION
from infra.local.tables import OrderedTable
from infra.local.wire import WireResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from moto.core.common_types import TYPE_RESPONSE

    from infra.local.transactions import Conflicts

log = logging.getLogger(__name__)

TRANSACT_GET_ITEMS = 100
MAIN_REGION = "us-east-1"  # where moto looks for the addresses of a service
MODELS = "bedrockruntime"  # moto's name of it: models are asked, and not emulated
# Nothing of the user's own AWS set-up may reach the clients of an emulated account.
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


class Emulator:
    """The one emulated account of this process; with `folder`, what it holds survives the process."""

    def __init__(self, folder: Path | None = None, *, conflicts: Conflicts | None = None) -> None:
        self.conflicts = conflicts
        self._folder = folder
        self._mock = mock_aws(config={"core": {"passthrough": {"services": [MODELS]}}})
        self._environment = patch.dict("os.environ", ENVIRONMENT)

    def start(self) -> None:
        """Answer the AWS calls of this process from an empty account."""
        _install()
        _track_nothing()
        self.journal = Journal(self._folder)
        self.objects = objects.current.store = ObjectStore(self.journal)
        self.messages = MessageStore(self.journal)
        self._environment.start()
        os.environ.pop("AWS_PROFILE", None)
        self._mock.start()
        _state.emulator = self

    def restore(self) -> None:
        """Fill the tables and queues that exist with what the folder has for them, and tidy up after a crash."""
        for table in self._tables():
            table.rows.load(text for (text,) in self.journal.items(table.name))
        for queue in sqs_backends[ACCOUNT][REGION].queues.values():
            self.messages.restore(queue)
        self.journal.remove_orphans()

    def stop(self) -> None:
        """Let calls go where they went before; without a folder everything is forgotten."""
        _state.emulator = None
        self._mock.stop()
        self._environment.stop()
        self.journal.close()

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

    def flush_items(self) -> None:
        """Commit the items that the call changed."""
        for table in self._tables():
            if table.touched:
                kept = table.rows.items.kept
                self.journal.save_items(
                    table.name, [(json.dumps(key, default=str), kept.get(key)) for key in table.touched]
                )
                table.touched.clear()

    def flush_messages(self) -> None:
        """Commit the messages that the call changed."""
        with messages.lock:
            self.messages.flush(sqs_backends[ACCOUNT][REGION].queues.values())

    @staticmethod
    def _tables() -> list[OrderedTable]:
        return [t for t in dynamodb_backends[ACCOUNT][REGION].tables.values() if isinstance(t, OrderedTable)]


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


def _track_nothing() -> None:
    """Let moto's models, and ours that are of them, forget their instances; an emulator's stop undoes it."""
    for models in model_data.values():
        for model in models.values():
            setattr(model, "instances_tracked", _Forgetful())  # noqa: B010 - moto types models as objects


def _install() -> None:
    """Replace moto's methods, once a process; without a running emulator they do what moto's do."""
    if _state.installed:
        return
    _state.installed = True
    replacements: list[tuple[Any, str, Any]] = [
        (dynamodb_models, "Table", OrderedTable),
        (dynamodb_responses, "DynamoResult", WireResult),
        (dynamodb_responses, "TRANSACTION_MAX_ITEMS", TRANSACT_GET_ITEMS),
        (DynamoDBBackend, "update_item", transactions.update_item),
        (DynamoDBBackend, "transact_write_items", transactions.transact_write_items),
        (DynamoHandler, "transact_write_items", transactions.answer_transaction),
        (DynamoHandler, "call_action", _admitted(DynamoHandler.call_action)),
        (s3_models, "FakeKey", objects.StoredKey),
        (s3_models, "FakeBucket", objects.StoredBucket),
        (S3Backend, "reset", objects.reset),
        (S3Backend, "list_objects_v2", objects.list_objects_v2),
        (S3Backend, "put_object_tagging", objects.put_object_tagging),
        (S3Response, "copy_object", objects.copy_object),
        (S3Response, "bucket_response", _locked(S3Response.bucket_response)),
        (S3Response, "key_response", _locked(S3Response.key_response)),
        (SQSBackend, "receive_message", messages.receive_message),
        (SQSBackend, "change_message_visibility", messages.change_message_visibility),
        (Queue, "add_message", messages.add_message),
        (Queue, "delete_message", messages.delete_message),
        (SQSResponse, "call_action", _noted(SQSResponse.call_action)),
        (AccountSpecificBackend, "_generate_regions", lambda *_: [REGION, MAIN_REGION]),
        (botocore_stubber, "normalize_request", plain_request),
    ]
    for owner, name, replacement in replacements:
        setattr(owner, name, replacement)


def _admitted(call: Callable[[DynamoHandler], TYPE_RESPONSE]) -> Callable[[DynamoHandler], TYPE_RESPONSE]:
    def call_action(handler: DynamoHandler) -> TYPE_RESPONSE:
        handler.body = handler.params
        transactions.hold_limits(handler)
        emulator = _running()
        with emulator.admit(handler), _state.dynamodb, _kept():
            answer = call(handler)
            emulator.flush_items()
            return answer

    return call_action


def _locked(call: Callable[..., TYPE_RESPONSE]) -> Callable[..., TYPE_RESPONSE]:
    def respond(*args: Any, **kwargs: Any) -> TYPE_RESPONSE:
        with _state.s3, _kept():
            answer = call(*args, **kwargs)
            _running().objects.flush()
            return answer

    return respond


def _noted(call: Callable[[SQSResponse], TYPE_RESPONSE]) -> Callable[[SQSResponse], TYPE_RESPONSE]:
    def call_action(response: SQSResponse) -> TYPE_RESPONSE:
        with _kept():
            answer = call(response)
            _running().flush_messages()
            return answer

    return call_action


@contextmanager
def _kept() -> Iterator[None]:
    """Let a disk that is full or broken look like a service that does not answer: nothing is acknowledged."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        log.error("the disk does not keep what it should: %s", error)  # noqa: TRY400 - the answer's cause is logged
        raise HTTPClientError(error=error) from error


def _running() -> Emulator:
    if _state.emulator is None:
        raise RuntimeError("an AWS call came while no emulator runs")
    return _state.emulator
