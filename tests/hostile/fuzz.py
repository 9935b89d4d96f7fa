"""Hostile requests by the thousand: `python -m tests.hostile.fuzz --requests 100000`.

    --seed N           begin with this seed (else one of the day); the same seed sends the same requests
    --course N         only this course of it: what a finding names
    --processes N      so many beside each other (2)

A finding is made small and written to tests/hostile/found, where the tests send it again.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hostile.courses import COURSE, STACK, Told, ground, run_courses
from tests.hostile.document import operations
from tests.hostile.minimising import kept, minimised
from tests.proving import table
from tests.surroundings import keep_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.hostile.courses import Finding


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the courses and return the exit status: 1 if anything was found."""
    parser = ArgumentParser(prog="fuzz", description="Send hostile requests to every function, in process.")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=int(f"{datetime.now(UTC):%Y%m%d}"))
    parser.add_argument("--course", type=int)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args(arguments)
    numbers = [asked.course] if asked.course is not None else range(-(-asked.requests // COURSE))
    print(f"fuzz: seed {asked.seed}, {len(numbers)} courses of {COURSE} requests", flush=True)
    started = time.monotonic()
    told = _together(asked.seed, numbers, asked.processes)
    for finding in _one_of_each(told.findings):
        _tell(finding)
    print(table("Hostile requests, in process", rows_of(told, asked.seed, time.monotonic() - started)))
    return 1 if told.findings else 0


def rows_of(told: Told, seed: int, seconds: float) -> list[tuple[str, str]]:
    """Return what a run of courses did, for its table."""
    classes = {f"{first}xx": sum(n for s, n in told.statuses.items() if s // 100 == first) for first in (2, 3, 4, 5)}
    met = {name for name in told.operations if name in operations()}
    return [
        ("seed", str(seed)),
        ("requests", f"{told.requests:,}"),
        ("operations met", f"{len(met)} of {len(operations())}"),
        ("answers", ", ".join(f"{name} {number:,}" for name, number in classes.items())),
        ("wrong answers", str(len(told.findings))),
        ("seconds", f"{seconds:.0f}"),
    ]


def _together(seed: int, numbers: Sequence[int], processes: int) -> Told:
    shares = [numbers[first : first + STACK] for first in range(0, len(numbers), STACK)]
    whole = Told()
    with ProcessPoolExecutor(min(processes, len(shares))) as pool:
        for told in pool.map(_share, [seed] * len(shares), shares):
            whole.operations += told.operations
            whole.statuses += told.statuses
            whole.findings += told.findings
            print(f"fuzz: {whole.requests:,} requests, {len(whole.findings)} wrong answers", flush=True)
    return whole


def _share(seed: int, numbers: Sequence[int]) -> Told:
    with tempfile.TemporaryDirectory() as folder:
        return run_courses(Path(folder), seed, numbers)


def _one_of_each(findings: Sequence[Finding]) -> list[Finding]:
    return list({finding.kind: finding for finding in reversed(findings)}.values())


def _tell(finding: Finding) -> None:
    with tempfile.TemporaryDirectory() as folder, ground(Path(folder)) as field:
        small = minimised(field, finding)
    seed, _, course = finding.seed.partition("/")
    print(f"\nFOUND {finding.kind}\n  again: make fuzz ARGS='--seed {seed} --course {course}'")
    print(f"  kept as a test: {kept(small)} ({len(small.drafts)} requests)\n  {small.drafts[-1]}\n  {finding.faults}")


if __name__ == "__main__":
    keep_out(os.environ)
    sys.exit(main())
