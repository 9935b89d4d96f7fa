"""A search node on this machine: `python -m infra.opensearch fetch` assembles it, `run` starts it.

    python -m infra.opensearch fetch [--cache FOLDER]
    python -m infra.opensearch run [--cache FOLDER] [--port PORT] [--data FOLDER]

It needs Java 17 or newer and Maven. `run` prints the address to put into OPENSEARCH_ENDPOINT, and stops with Ctrl-C;
without `--data` the node forgets what it held.
"""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path

from infra.opensearch.assembly import CACHE, NotAssembled, assembled
from infra.opensearch.node import NodeFailed, running


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = ArgumentParser(prog="infra.opensearch", description="A search node on this machine.")
    parser.add_argument("command", choices=["fetch", "run"])
    parser.add_argument("--cache", type=Path, default=CACHE, help="where assembled nodes are kept")
    parser.add_argument("--port", type=int, default=0, help="where it listens (default: any free one)")
    parser.add_argument("--data", type=Path, help="folder that keeps its data (default: none is kept)")
    asked = parser.parse_args(arguments)
    try:
        home = assembled(asked.cache)
        if asked.command == "run":
            _run(home, asked.data, asked.port)
    except (NotAssembled, NodeFailed) as reason:
        sys.stderr.write(f"lodestore: {reason}\n")
        return 1
    return 0


def _run(home: Path, data: Path | None, port: int) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running(home, data=data, port=port) as endpoint:
        sys.stdout.write(f"OPENSEARCH_ENDPOINT={endpoint}\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
