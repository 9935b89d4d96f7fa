"""Every function of the template in this process, over an emulated account, each reached by its routes and its queue.

with whole(tmp_path) as stack:
    stack.send(Request("GET", "/v1/usage", "", [(b"authorization", b"Bearer " + key)], b""))
    stack.work()                       # what is in the queues
"""

from __future__ import annotations

import itertools
import json
import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from infra.local.emulator import Emulator
from infra.local.events import Answer, Request, Routed, answer_of, event_of, message_answer
from infra.local.instances import builder_of
from infra.local.presigned import PresignedObjects
from infra.local.queues import event_of as batch_of
from infra.local.queues import failed_of
from infra.local.resources import make_resources
from infra.local.routes import Routes
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import Aws
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.clients.events import CONTEXT
from tests.emulator.cloud import nothing_left_beside
from tests.projects.world import MovedClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.local.stack import Function

    Handler = Callable[[dict[str, Any], Any], Any]

_numbers = itertools.count()

HOST = "127.0.0.1:8000"
LOCAL_BODY_BYTES = 50 << 20


@cache
def presigning_aws() -> Aws:
    """Return the clients that all such stacks share: they sign URLs for the local server."""
    return Aws({"PRESIGN_ENDPOINT_URL": f"http://{HOST}/_s3"})


@dataclass
class Whole:
    """One stack, its functions and its keys."""

    emulator: Emulator
    stack: Stack
    folder: Path
    clock: Any = field(default_factory=MovedClock)
    direct_bytes: int = LOCAL_BODY_BYTES
    later: float = 0

    @property
    def aws(self) -> Aws:
        return presigning_aws()

    @cached_property
    def functions(self) -> dict[str, tuple[Function, Handler]]:
        """Every function with an instance of it, by its name in the template."""
        return {function.name: (function, self._built(function)) for function in self.stack.functions()}

    def _built(self, function: Function) -> Handler:
        local = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(self.folder)}
        function.environment.update({"DIRECT_BODY_BYTES": str(self.direct_bytes), **local})
        return builder_of(function, self.aws, self.clock)()

    @cached_property
    def routes(self) -> Routes[str]:
        return Routes((*route, name) for name, (function, _) in self.functions.items() for route in function.routes)

    def send(self, request: Request) -> Answer:
        """Answer a request as the gateway does; a function that raises is API Gateway's own 500."""
        if request.raw_path.startswith("/_s3/"):
            return self.presigned.answer(request)
        found = self.routes.find(request.method, request.path)
        if found is None:
            return message_answer(404, "Not Found")
        event = json.loads(json.dumps(event_of(request, Routed(found.route_key, found.parameters, "$default", "id"))))
        try:
            return answer_of(json.loads(json.dumps(self.functions[found.target][1](event, CONTEXT))), "id")
        except Exception as error:  # noqa: BLE001 - what a function lets out is what is looked for
            return message_answer(500, f"{type(error).__name__}: {error}")

    def serves(self, request: Request) -> bool:
        """Tell whether a route leads to a function of ours."""
        return self.routes.find(request.method, request.path) is not None

    @property
    def presigned(self) -> PresignedObjects:
        """What answers presigned URLs, `later` seconds from now: they are signed by the machine's own clock."""
        signer: Any = self.aws.s3
        credentials = signer._request_signer._credentials.get_frozen_credentials()
        return PresignedObjects(credentials, now=lambda: time.time() + self.later)

    def work(self) -> int:
        """Do the work of all messages in the queues, and return how many there were."""
        done, sqs = 0, self.aws.sqs
        for function, handler in self.functions.values():
            for source in function.queues:
                wanted: Any = {"MaxNumberOfMessages": source.batch, "MessageSystemAttributeNames": ["All"]}
                while got := sqs.receive_message(QueueUrl=source.url, **wanted).get("Messages", []):
                    again = failed_of(handler(batch_of(list(got), source.arn), CONTEXT)) or set()
                    for message in got:
                        if message["MessageId"] not in again:
                            sqs.delete_message(QueueUrl=source.url, ReceiptHandle=message["ReceiptHandle"])
                            done += 1
        return done

    def run(self, job: str) -> Any:
        """Run a job of the sweeper, and return what its log line says."""
        return self.functions["SweeperFunction"][1]({"job": job}, CONTEXT)

    def key(self, role: Role = Role.MEMBER, *, tenant: str | None = "acme", **wish: Any) -> str:
        """Make a key and return its secret."""
        environment = Environment.of(self.functions["PlatformFunction"][0].environment)
        keys = tenancy(environment, self.aws, self.clock).keys
        return keys.issue(KeyWish(name="test", role=role, tenant=tenant, **wish)).secret

    def items(self) -> list[dict[str, Any]]:
        """Return every item of the table, in DynamoDB's JSON, by partition and sort key."""
        table = self.emulator.table(str(self.stack.outputs["TableName"]))
        return [item.to_json()["Attributes"] for item in table.all_items()]

    def object_keys(self) -> list[str]:
        """Return every key of the bucket, in order."""
        bucket = str(self.stack.outputs["BucketName"])
        pages = self.aws.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]


@contextmanager
def whole(folder: Path, **world: Any) -> Iterator[Whole]:
    """Start a stack of the template that nothing else knows, with its search index below `folder`."""
    with Emulator() as emulator, quiet(), nothing_left_beside():
        stack = Stack(TEMPLATE, name=f"whole-{next(_numbers)}")
        make_resources(stack, presigning_aws())
        made = Whole(emulator, stack, folder / stack.name, **world)
        yield made


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the functions' own lines out of the way: a run has many thousands."""
    logging.disable(logging.CRITICAL)
    try:
        with patch.dict("os.environ", POWERTOOLS_METRICS_DISABLED="true"):
            yield
    finally:
        logging.disable(logging.NOTSET)
