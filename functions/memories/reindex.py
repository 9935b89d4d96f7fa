"""Builds the search index anew from the table and the bucket, while the stack goes on, and switches to it.

    python -m functions.memories.reindex --table NAME --bucket NAME --endpoint URL --embedder NAME [--shards N]

It needs AWS credentials that may read the table and the bucket, write one item of the table, and use the domain:
es:ESHttpGet, ESHttpPost, ESHttpPut and ESHttpDelete. The names are the stack's outputs `TableName`, `BucketName`,
`SearchUrl` and `Embedder`: an index for another embedder would be found by no function. Interrupted, it goes on where
it was when it is run again.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from shared.aws.clients import Aws
from shared.aws.errors import told
from shared.kernel.errors import Unavailable
from shared.search.opensearch.index import SHARDS
from shared.wiring.environment import EnvironmentInvalid
from shared.wiring.reindexing import reindexing

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from shared.memories.reindexing import Progress, Reindexing

_OUTPUTS = {"table": "TableName", "bucket": "BucketName", "endpoint": "SearchUrl", "embedder": "Embedder"}


def main(arguments: Sequence[str] | None = None, aws: Aws | None = None) -> int:
    """Run the command and return its exit status."""
    asked = _parse(arguments)
    if asked.region:
        os.environ["AWS_DEFAULT_REGION"] = asked.region
    try:
        return report(reindexing(_environ(asked), aws or Aws(os.environ), shards=asked.shards))
    except (EnvironmentInvalid, Unavailable) as reason:
        sys.stderr.write(f"reindex: {reason}\n")
        return 1
    except Exception as error:
        if (said := told(error)) is None:
            raise
        sys.stderr.write(f"reindex: {said}\n")
        return 1


def report(rebuild: Reindexing) -> int:
    """Run a rebuild, tell on the console how it goes, and return the exit status.

    A dependency that is down and Ctrl-C leave it to be gone on with.
    """
    sys.stderr.write("reindex: building a new index; the old one answers until it is whole\n")
    try:
        done = rebuild.run(_tell)
    except (Unavailable, KeyboardInterrupt) as reason:
        sys.stderr.write(f"\nreindex: stopped: {str(reason) or 'interrupted'}\n  Run it again to go on from there.\n")
        return 1
    except Exception as error:
        if (said := told(error)) is None:
            raise
        sys.stderr.write(f"\nreindex: {said}\n")
        return 1
    sys.stderr.write(f"\nreindex: done, {done.memories} memories in {done.passages} passages in this run\n")
    return 0


def _tell(progress: Progress) -> None:
    sys.stderr.write(f"\rreindex: {progress.memories} memories, {progress.passages} passages")
    sys.stderr.flush()


def _environ(asked: Namespace) -> dict[str, str]:
    given = {"TABLE_NAME": asked.table, "BUCKET_NAME": asked.bucket, "EMBEDDER": asked.embedder}
    return {**os.environ, "SEARCH_BACKEND": "existing", "SEARCH_ENDPOINT": asked.endpoint, **given}


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="reindex", description="Build the search index anew while the stack goes on.")
    for name, output in _OUTPUTS.items():
        parser.add_argument(f"--{name}", required=True, help=f"the stack's output {output}")
    parser.add_argument("--shards", type=int, default=SHARDS, help="of the new index (default: %(default)s)")
    parser.add_argument("--region", help="where they are (default: as AWS is configured)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
