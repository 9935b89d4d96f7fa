"""Lodestore on this machine: `python -m infra.local`.

`PORT` (8000; 0 takes any free one) and `LODESTORE_HOME` (.lodestore) move it. With AWS_ENDPOINT_URL,
AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL_S3 in the environment nothing is emulated: the same server works on
those services, with the table and bucket that TABLE_NAME and BUCKET_NAME name.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.home import Home, HomeInUse
from infra.local.run import Run
from infra.local.server import PortInUse, bind

if TYPE_CHECKING:
    from collections.abc import Mapping


def main(environ: Mapping[str, str]) -> int:
    """Run until a signal stops it; return the exit status."""
    try:
        port = int(environ.get("PORT", "8000"))
        home = Home(Path(environ.get("LODESTORE_HOME", ".lodestore")))
        listener = bind(port)
    except ValueError:
        sys.stderr.write(f"lodestore: PORT is {environ['PORT']!r}, which is not a number.\n")
        return 2
    except (HomeInUse, PortInUse) as reason:
        sys.stderr.write(f"lodestore: {reason}\n")
        return 1
    Run(home, listener, environ).until_stopped()
    return 0


if __name__ == "__main__":
    status = main(dict(os.environ))
    sys.stdout.flush()
    # Threads that still wait for a function to end would hold the process.
    os._exit(status)
