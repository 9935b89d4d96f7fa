"""The long forms, one after the other, and at their end one table of what was proved, and of what was skipped and why.

python -m tests.nightly                 # or `make nightly`
python -m tests.nightly --only soak     # parts by the beginnings of their names
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests.proving import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable


@dataclass(frozen=True)
class Part:
    """One part of the night: a command, or a target of the Makefile whose tests tell what they skipped."""

    name: str
    command: tuple[str, ...] = ()
    target: str = ""

    def told_to(self, report: Path) -> tuple[str, ...]:
        """Return the command; a target's tests write their report as JUnit has it, and draw new examples each night."""
        return self.command or ("make", self.target, f"ARGS=--junitxml={report} --hypothesis-profile=exploring")

    @property
    def is_there(self) -> bool:
        return not self.target or bool(re.search(rf"^{self.target}:", (ROOT / "Makefile").read_text(), re.MULTILINE))


PARTS = (
    Part("tests: all of them, with their short forms", target="test"),
    Part("fuzz: 100,000 hostile requests", (PYTHON, "-m", "tests.hostile.fuzz", "--requests", "100000")),
    Part("soak: ten minutes of faults and kills", (PYTHON, "-m", "tests.soak", "--seconds", "600")),
    Part("deployed: the built stack in an emulator that holds functions to their roles", target="test-deployed"),
)


@dataclass
class Night:
    """What was run, and what came of it."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    failed: bool = False

    def run(self, part: Part, folder: Path) -> None:
        """Run a part, and note what it proved."""
        if not part.is_there:
            self.rows.append((part.name, "SKIPPED"))
            self.skipped[f"{part.name}: the Makefile has no target {part.target}"] += 1
            return
        report, began = folder / f"{len(self.rows)}.xml", time.monotonic()
        print(f"\n=== {part.name}", flush=True)
        done = subprocess.run(part.told_to(report), cwd=ROOT, check=False)
        self.failed = self.failed or done.returncode != 0
        counts = self._read(report) if report.exists() else ""
        state = "proved" if done.returncode == 0 else f"FAILED (status {done.returncode})"
        self.rows.append((part.name, f"{state} in {time.monotonic() - began:,.0f} s{counts}"))

    def _read(self, report: Path) -> str:
        """Take note of what a report says was skipped; return its counts."""
        cases = ET.parse(report).getroot().findall(".//testcase")
        reasons = [skip.get("message", "") for case in cases for skip in case.findall("skipped")]
        self.skipped.update(reasons)
        return f": {len(cases) - len(reasons):,} tests, {len(reasons):,} skipped"

    def told(self, tables: Sequence[str]) -> str:
        """Return the table."""
        lines = ["", "What was proved"]
        lines += [f"  {name:<80}  {state}" for name, state in self.rows]
        for line in tables:
            table = json.loads(line)
            lines += ["", f"  {table['title']}", *(f"    {name:<60}  {told}" for name, told in table["rows"])]
        lines += ["", "What was skipped, and why"]
        lines += [f"  {number:>4}x {reason}" for reason, number in sorted(self.skipped.items())] or ["  nothing"]
        return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts and return the exit status: 1 if any failed."""
    parser = ArgumentParser(prog="nightly", description="Run the long forms, and say what was proved.")
    parser.add_argument("--only", action="append", default=[])
    asked = parser.parse_args(arguments)
    night = Night()
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables.jsonl"
        tables.touch()
        os.environ[TABLES] = str(tables)
        for part in PARTS:
            if not asked.only or part.name.startswith(tuple(asked.only)):
                night.run(part, Path(folder))
            else:
                night.rows.append((part.name, "SKIPPED"))
                night.skipped[f"{part.name}: not asked for"] += 1
        print(night.told(tables.read_text("utf-8").splitlines()))
    return 1 if night.failed else 0


if __name__ == "__main__":
    sys.exit(main())
