"""Restores a stack's table to an earlier moment under a new name, and makes it forget again what was erased since.

    python -m functions.platform.restore --table NEW --bucket NAME --at TIME (--old NAME | --old-is-gone) [--drill]
        [--search URL --embedder NAME]
    python -m functions.platform.restore --table OLD --reopen

`--at` is the moment, as `2026-11-30T10:00:00Z`. Where the new table is not there yet, AWS is asked to make it of the
old one by point-in-time recovery. With `--drill` the old one stays in use, and the new one closed. Interrupted, it goes
on where it was when it is run again.

It needs AWS credentials that may restore, describe, set up, read and write tables, and read, write, list and delete in
the bucket. `docs/operations.md` has the course of a restore.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from shared.aws.clients import Aws
from shared.aws.errors import told
from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.kernel.clock import SystemClock
from shared.kernel.errors import Unavailable
from shared.retention.restoring import RestoreRefused
from shared.wiring.restoring import Plan, Restorer, reopen

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from shared.kernel.clock import Clock

POLL_SECONDS: Final = 15
"""Between two looks at a table that AWS is restoring; that takes from minutes to hours."""


def main(
    arguments: Sequence[str] | None = None,
    aws: Aws | None = None,
    clock: Clock | None = None,
    *,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Run the command and return its exit status."""
    asked = _parse(arguments)
    if asked.region:
        os.environ["AWS_DEFAULT_REGION"] = asked.region
    try:
        _run(asked, aws or Aws(os.environ), clock or SystemClock(), pause=pause)
    except RestoreRefused as reason:
        sys.stderr.write(f"restore: {reason}\n")
        return 1
    except (Unavailable, KeyboardInterrupt) as reason:
        sys.stderr.write(f"\nrestore: stopped: {str(reason) or 'interrupted'}\n  Run it again to go on from there.\n")
        return 1
    except Exception as error:
        if (said := told(error)) is None:
            raise
        sys.stderr.write(f"\nrestore: {said}\n")
        return 1
    return 0


def _run(asked: Namespace, aws: Aws, clock: Clock, *, pause: Callable[[float], None]) -> None:
    if asked.reopen:
        reopen(Table(aws, asked.table))
        sys.stderr.write(f"restore: {asked.table} is open again\n")
        return
    _make(asked, aws, pause)
    rebuild = partial(_reindex, asked, aws) if asked.search else None
    plan = Plan(asked.table, asked.at, asked.old, drill=asked.drill, reindex=rebuild)
    restorer = Restorer(aws, Objects(aws, asked.bucket), Queue(aws, ""), clock, plan, pause)
    restorer.check()
    restorer.restoration().run(_tell)
    closed = "A drill: it stays closed, and nothing uses it." if asked.drill else _NEXT.format(table=asked.table)
    sys.stderr.write(f"\nrestore: {asked.table} is as it was then, without what was erased since.\n  {closed}\n")


_NEXT = "It is open. Deploy the stack with TableName={table}, then run `make redrive` for what was not worked on."


def _make(asked: Namespace, aws: Aws, pause: Callable[[float], None]) -> None:
    """Have AWS restore the table, where it is not there yet, and wait for it."""
    client = aws.dynamodb
    while (state := _state(client, asked.table)) != "ACTIVE":
        if state is None:
            if asked.old is None:
                raise RestoreRefused(f"There is no table {asked.table}, and no old one to restore it from.")
            client.restore_table_to_point_in_time(
                SourceTableName=asked.old,
                TargetTableName=asked.table,
                RestoreDateTime=datetime.fromtimestamp(asked.at / 1000, UTC),
                **_encryption(client, asked.old),
            )
        sys.stderr.write(f"\rrestore: AWS is making {asked.table} ({state or 'begun'}) …")
        sys.stderr.flush()
        pause(POLL_SECONDS)


def _state(client: Any, table: str) -> str | None:
    try:
        status: str = client.describe_table(TableName=table)["Table"]["TableStatus"]
    except client.exceptions.ResourceNotFoundException:
        return None
    return status


def _encryption(client: Any, old: str) -> dict[str, Any]:
    """Return what has the new table encrypted with the old one's own key."""
    key = client.describe_table(TableName=old)["Table"].get("SSEDescription", {}).get("KMSMasterKeyArn")
    wanted = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
    return {"SSESpecificationOverride": wanted} if key else {}


def _reindex(asked: Namespace, aws: Aws) -> None:
    from shared.wiring.reindexing import reindexing  # noqa: PLC0415 - brings numpy and the embedder

    names = {"TABLE_NAME": asked.table, "BUCKET_NAME": asked.bucket, "EMBEDDER": asked.embedder}
    environ = {**os.environ, "SEARCH_BACKEND": "existing", "SEARCH_ENDPOINT": asked.search, **names}
    reindexing(environ, aws, grace=0).run(lambda progress: _tell("index", progress.memories))


def _tell(step: str, count: int) -> None:
    sys.stderr.write(f"\rrestore: {step}" + (f", {count}" if count else "") + " " * 20)
    sys.stderr.flush()


def _moment(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no moment such as 2026-11-30T10:00:00Z") from None
    if moment.tzinfo is None:
        raise ArgumentTypeError(f"{text!r} says no time zone: end it with Z for UTC")
    return int(moment.timestamp() * 1000)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="restore", description="Restore a table, without what was erased.")
    parser.add_argument("--table", required=True, help="the new table's name")
    parser.add_argument("--bucket", help="the stack's output BucketName")
    parser.add_argument("--at", type=_moment, help="the moment to restore, such as 2026-11-30T10:00:00Z")
    old = parser.add_mutually_exclusive_group()
    old.add_argument("--old", help="the table that it takes the place of: the stack's output TableName")
    old.add_argument("--old-is-gone", action="store_true", help="there is no old table any more that could be written")
    parser.add_argument("--drill", action="store_true", help="leave the old table in use, and the new one closed")
    parser.add_argument("--reopen", action="store_true", help="open a table again that was closed to be replaced")
    parser.add_argument("--search", help="the stack's output SearchUrl, where it has one: the index is made anew")
    parser.add_argument("--embedder", help="the stack's output Embedder")
    parser.add_argument("--region", help="where they are (default: as AWS is configured)")
    asked = parser.parse_args(arguments)
    if not asked.reopen and not (asked.bucket and asked.at is not None and (asked.old or asked.old_is_gone)):
        parser.error("--bucket, --at, and --old or --old-is-gone are needed")
    if bool(asked.search) != bool(asked.embedder):
        parser.error("--search and --embedder belong together")
    return asked


if __name__ == "__main__":
    sys.exit(main())
