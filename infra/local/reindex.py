"""Builds the search index of a local run anew: `python -m infra.local.reindex`, while its server is stopped.

`LODESTORE_HOME`, `EMBEDDER` and `OPENSEARCH_ENDPOINT` are as for the server.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from functions.memories.reindex import report
from infra.local.home import Home, HomeInUse, HomeUnusable
from infra.local.journal import JournalUnreadable
from infra.local.resources import make_resources
from infra.local.settings import BadSetting, settings_of
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import Aws
from shared.kernel.errors import Unavailable
from shared.wiring.environment import EnvironmentInvalid
from shared.wiring.reindexing import reindexing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def main(environ: Mapping[str, str]) -> int:
    """Rebuild the index and return the exit status."""
    try:
        settings = settings_of(environ)
        if settings.real:
            sys.stderr.write(
                "reindex: the table is a real one; use `make reindex TABLE=… BUCKET=… SEARCH=… EMBEDDER=…`\n"
            )
            return 2
        home = Home(settings.home)
        stack = Stack(TEMPLATE)
        with _stored(home, stack) as aws:
            environment = stack.functions()[0].environment | settings.variables(home.search)
            return report(reindexing(environment, aws, grace=0))
    except HomeInUse:
        sys.stderr.write(
            f"reindex: the server of {settings.home} is running. Stop it, and start it again afterwards.\n"
        )
    except (BadSetting, HomeUnusable, JournalUnreadable, EnvironmentInvalid, Unavailable) as reason:
        sys.stderr.write(f"reindex: {reason}\n")
    return 1


@contextmanager
def _stored(home: Home, stack: Stack) -> Iterator[Aws]:
    """Give what the local run has stored, as the server does."""
    from infra.local.emulator import Emulator  # noqa: PLC0415 - half a second

    emulator = Emulator(home.state)
    emulator.start()
    try:
        aws = Aws({})
        make_resources(stack, aws)
        emulator.restore()
        yield aws
    finally:
        emulator.stop()


if __name__ == "__main__":
    sys.exit(main(dict(os.environ)))
