"""What a whole run says at its end: in one table what was proved, and what was skipped and why."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from _pytest.reports import TestReport

ROOMS: Final = {
    "artifact": "every built function boots as in Lambda, and fits into it",
    "aws": "clients of AWS: refusals in our words",
    "costs": "what an operation uses of AWS is what its price was made of",
    "documents": "files of twenty formats are read; hostile ones harm nobody",
    "events": "the sample events of sam local invoke are answered",
    "extraction": "what conversations teach, and what becomes of each fact",
    "hostile": "tenants apart, no 5xx for what a client sends",
    "http": "requests, answers, errors, logs",
    "local": "the stack on one machine, durable over kill -9",
    "memories": "adding, searching, forgetting, files, through deaths and races",
    "models": "embedders and language models",
    "platform": "keys, projects, health, the API document",
    "projects": "project memory, through deaths and races",
    "restoring": "a table of an earlier moment, without what was erased since",
    "retention": "how long, and how it ends",
    "search": "both indexes keep the same promises",
    "server": "a running server is what its API document says",
    "soak": "a minute of mixed traffic under faults and kills",
    "stores": "memory stores, linearizable; the public SDKs, unchanged",
    "template": "what is deployed: policies, limits, alarms",
    "tenancy": "who may do what, how much",
}
"""The folders of the tests, and what each proves."""

LONG: Final = (
    "100,000 hostile requests: make fuzz (here 5,000)",
    "ten minutes under faults and kills: make soak (here one)",
    "the deployed shape in an emulator with IAM: make test-deployed",
)
"""What only `make nightly` runs."""

_ENDS: Final = ("passed", "failed", "error", "skipped", "xfailed")


def told(stats: Mapping[str, Sequence[TestReport]], tables: Iterable[str]) -> list[str]:
    """Return the lines of the table; none where less than most rooms were run."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for end in _ENDS:
        for report in stats.get(end, ()):
            counts[_room(report.nodeid)][end] += 1
    if len(counts) < len(ROOMS) // 2:
        return []
    lines = ["What was proved", *(_line(room, counts[room]) for room in sorted(counts))]
    for line in tables:
        table = json.loads(line)
        lines += ["", f"  {table['title']}", *(f"    {name:<60}  {said}" for name, said in table["rows"])]
    reasons = Counter(_reason(report) for report in stats.get("skipped", ()))
    skipped = [f"  {number:>4}x {reason}" for reason, number in sorted(reasons.items())]
    return [*lines, "", "What was skipped, and why", *skipped, *(f"  long: {form}" for form in LONG)]


def _line(room: str, counts: Counter[str]) -> str:
    failed = counts["failed"] + counts["error"]
    state = f"FAILED: {failed}" if failed else "proved"
    beside = ", ".join(f"{counts[end]} {end}" for end in ("skipped", "xfailed") if counts[end])
    return f"  {ROOMS.get(room, room):<64}  {state}, {counts['passed']:,} tests{f' ({beside})' if beside else ''}"


def _room(nodeid: str) -> str:
    return nodeid.split("/")[1] if nodeid.count("/") > 1 else nodeid


def _reason(report: TestReport) -> str:
    why = report.longrepr
    return str(why[2]) if isinstance(why, tuple) else str(why)
