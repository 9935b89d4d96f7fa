"""One local run, composed: the account, the functions, the server, the schedules."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from infra.local.credentials import credentials_of
from infra.local.gateway import BODY_BYTES, Gateway
from infra.local.instances import Instances, builder_of
from infra.local.queues import Poller, on_real_queues
from infra.local.resources import make_resources
from infra.local.routes import Routes
from infra.local.schedule import Scheduler
from infra.local.server import HOST, Server
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import Aws
from shared.kernel.clock import SystemClock
from shared.kernel.errors import Unavailable
from shared.search.port import REINDEX, IndexMismatch
from shared.wiring.environment import Environment
from shared.wiring.memories import Memories
from shared.wiring.tenancy import flush_usage, tenancy

if TYPE_CHECKING:
    import socket

    from infra.local.emulator import Emulator
    from infra.local.faults import Faults
    from infra.local.home import Home
    from infra.local.presigned import PresignedObjects
    from infra.local.settings import Settings
    from infra.local.stack import Function

log = logging.getLogger(__name__)


class Run:
    """A server in `home` on `listener`."""

    def __init__(self, home: Home, listener: socket.socket, settings: Settings) -> None:
        self._home = home
        self._listener = listener
        self._settings = settings
        self._console = home.take_over_output()
        self._stack = Stack(TEMPLATE)
        self._clock = SystemClock()
        self._emulator: Emulator | None = None
        self._faults: Faults | None = None
        self.base_url = f"http://{HOST}:{listener.getsockname()[1]}"
        os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"  # nobody collects them here

    def until_stopped(self) -> None:
        """Serve until a signal comes, and leave everything in order."""
        if self._settings.real is None:
            self._emulate()
        for instances in self._instances:
            instances.warm()
        self._begin_memories()
        scheduler = Scheduler((s, i) for i in self._instances for s in i.function.schedules)
        scheduler.start()
        pollers = [Poller(self._aws, source, i) for i in self._instances for source in i.function.queues]
        for poller in pollers:
            poller.start()
        try:
            Server(self._gateway(), self._announce).run([self._listener])
        finally:
            scheduler.stop()
            for poller in pollers:
                poller.stop()
            self._close()

    def _emulate(self) -> None:
        from infra.local.emulator import Emulator  # noqa: PLC0415 - moto is half a second that real services don't need

        self._emulator = Emulator(self._home.state)
        self._emulator.start()
        make_resources(self._stack, self._aws)
        self._emulator.restore()
        if self._settings.faults:
            from infra.local.faults import Faults  # noqa: PLC0415 - for soaks alone

            self._faults = Faults(self._settings.faults, self._home.folder / "faults.log")
            self._faults.install()

    def _begin_memories(self) -> None:
        """Refuse the index of another model, and read the model's weights while the server answers already.

        Raises:
            IndexMismatch: says what to run.
        """
        of_memories = (i.function for i in self._instances if i.function.handler.startswith("functions.memories."))
        memories = Memories(next(of_memories).environment, self._aws, self._clock)
        try:
            self._know_index(memories)
        except IndexMismatch:
            raise
        except Unavailable:
            log.warning(
                "search does not answer at %s; until it does, memories answer 503", memories.environment.search_endpoint
            )
            return
        threading.Thread(target=_load, args=(memories,), name="models", daemon=True).start()

    def _know_index(self, memories: Memories) -> None:
        """Look for the index, and remember that the table has one: in the folder's place, a node would begin empty.

        Raises:
            IndexMismatch: it was made for another model, or is not there any more.
            Unavailable: it does not answer.
        """
        from shared.wiring.search import TableLedger  # noqa: PLC0415 - brings a client that most requests do without

        folder, ledger = self._home.search, TableLedger(memories.backing.table)
        embedded = self._emulator is not None and memories.environment.search_backend == "embedded"
        if embedded and not folder.exists() and ledger.tells():
            raise IndexMismatch(f"The search index in {folder} is lost. {REINDEX}")
        _ = memories.index
        if embedded:
            ledger.note()

    @cached_property
    def _aws(self) -> Aws:
        return Aws({"PRESIGN_ENDPOINT_URL": f"{self.base_url}/_s3"} if self._emulator else {})

    @cached_property
    def _instances(self) -> list[Instances]:
        functions = [self._placed(function) for function in self._stack.functions()]
        return [Instances(function, builder_of(function, self._aws, self._clock)) for function in functions]

    def _placed(self, function: Function) -> Function:
        placed = function if self._settings.real is None else on_real_queues(function, self._settings.real)
        own = self._settings.variables(self._home.search)
        placed.environment.update({"DIRECT_BODY_BYTES": str(BODY_BYTES), **own})
        return placed

    def _gateway(self) -> Gateway:
        routes = [(*route, instances) for instances in self._instances for route in instances.function.routes]
        return Gateway(Routes(routes), self._stack.stage, self._presigned() if self._emulator else None)

    def _presigned(self) -> PresignedObjects:
        from infra.local.presigned import PresignedObjects  # noqa: PLC0415 - brings moto

        signer: Any = self._aws.s3
        return PresignedObjects(signer._request_signer._credentials.get_frozen_credentials())  # noqa: SLF001

    def _announce(self) -> None:
        environment = Environment.of(self._instances[0].function.environment)
        keys = tenancy(environment, self._aws, self._clock).keys
        credentials = credentials_of(keys, self._home.read_credentials(), self.base_url)
        self._home.write_credentials(credentials)
        self._console.write(GREETING.format(**credentials, file=self._home.credentials, log=self._home.log))
        self._console.flush()
        if self._faults is not None:
            self._faults.begin()

    def _close(self) -> None:
        for instances in self._instances:
            instances.close()
        flush_usage(self._aws)
        if self._emulator is not None:
            self._emulator.stop()


def _load(memories: Memories) -> None:
    with suppress(Unavailable):
        memories.embedder.of_query("ready")


GREETING = """\
Lodestore  {base_url}   (docs: {base_url}/docs)
Key        {api_key}   (tenant {tenant_id}; also in {file})
Try        curl -X PUT {base_url}/sandbox/memory/v1/tasks/first/turns/1 -H 'Authorization: Bearer {api_key}' \
-H 'Content-Type: application/json' -d '{{"summary_md": "Hello"}}'
Log        {log}   Ctrl-C stops the server; everything is kept.
"""
