"""A soak: `python -m tests.soak --seconds 600 --seed 1 --folder where-history-and-home-are-kept`."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.proving import table
from tests.soak.soak import soak
from tests.surroundings import keep_out

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit status: 1 if a promise was broken, or never checked."""
    parser = ArgumentParser(prog="soak", description="Mixed traffic under faults and kills, and a check of all of it.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(f"{datetime.now(UTC):%Y%m%d}"))
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args(arguments)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"soak: seed {asked.seed}, {asked.seconds:.0f} s; all that is asked and answered: {folder}/history.jsonl")
    outcome = soak(folder, asked.seconds, asked.seed, tell=lambda told: print(f"soak: {told}", flush=True))
    for violation in outcome.violations:
        print(f"BROKEN {violation}")
    for promise in outcome.unchecked:
        print(f"NEVER CHECKED {promise}")
    print(table("Faults at scale", outcome.rows))
    return 1 if outcome.violations or outcome.unchecked else 0


if __name__ == "__main__":
    keep_out(os.environ)
    sys.exit(main())
