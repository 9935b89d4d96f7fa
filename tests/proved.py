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
    "logs": "an alarm for what goes wrong, one query for a request, and nothing secret",
    "memories": "adding, searching, forgetting, files, through deaths and races",
    "models": "embedders and language models",
    "pages": "what pages name is there",
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
    "test_proved.py": "this table",
    "test_surroundings.py": "the same is seen whatever the shell says",
}
"""The folders of the tests, and what each proves."""

DEPLOYED: Final = {
    "test_clients.py": "turns, artifacts, 12 MB by presigned URLs",
    "test_memories.py": "an add from queue to search; a file from upload to deletion",
    "test_pages.py": "what README and docs tell to type",
    "test_rights.py": "each statement of each role, taken out: something fails",
    "test_sdk_python.py": "the anthropic package for Python, unchanged",
    "test_sdk_typescript.py": "the anthropic package for TypeScript, unchanged",
}
"""The files of the tests of the deployed shape, a run of their own, and what each proves."""

DEPLOYED_TITLE: Final = "The deployed shape, in an emulator with IAM"

LONG: Final = (
    "100,000 hostile requests: make fuzz (here 5,000)",
    "ten minutes under faults and kills: make soak (here one)",
)
"""What only `make nightly` runs."""

_ENDS: Final = ("passed", "failed", "error", "skipped", "xfailed")


def told(stats: Mapping[str, Sequence[TestReport]], tables: Iterable[str]) -> list[str]:
    """Return the lines of the table; none where less than most rooms were run."""
    counts = _counts(stats, part=1)
    if len(counts) < len(ROOMS) // 2:
        return []
    lines = ["What was proved", *(f"  {ROOMS.get(room, room):<64}  {_said(counts[room])}" for room in sorted(counts))]
    parts = [json.loads(line) for line in tables]
    for table in parts:
        lines += ["", f"  {table['title']}", *(f"    {name:<60}  {said}" for name, said in table["rows"])]
    reasons = Counter(_reason(report) for report in stats.get("skipped", ()))
    skipped = [f"  {number:>4}x {reason}" for reason, number in sorted(reasons.items())]
    if all(table["title"] != DEPLOYED_TITLE for table in parts):
        skipped.append("  a run of its own: the deployed shape in an emulator with IAM: make test-deployed")
    return [*lines, "", "What was skipped, and why", *skipped, *(f"  long: {form}" for form in LONG)]


def told_of_deployed(stats: Mapping[str, Sequence[TestReport]]) -> list[tuple[str, str]]:
    """Return the rows of a run of the deployed shape alone, with what it skipped; none of another run."""
    if set(_counts(stats, part=1)) != {"deployed"}:
        return []
    rows = [(DEPLOYED.get(file, file), _said(counts)) for file, counts in sorted(_counts(stats, part=2).items())]
    reasons = Counter(_reason(report) for report in stats.get("skipped", ()))
    return [*rows, *((f"skipped, {number}x", reason) for reason, number in sorted(reasons.items()))]


def _counts(stats: Mapping[str, Sequence[TestReport]], *, part: int) -> dict[str, Counter[str]]:
    """Count how the tests ended, by a part of their files' paths."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for end in _ENDS:
        for report in stats.get(end, ()):
            counts[report.nodeid.split("::")[0].split("/")[part]][end] += 1
    return counts


def _said(counts: Counter[str]) -> str:
    failed = counts["failed"] + counts["error"]
    state = f"FAILED: {failed}" if failed else "proved" if counts["passed"] else "not proved"
    beside = ", ".join(f"{counts[end]} {end}" for end in ("skipped", "xfailed") if counts[end])
    return f"{state}, {counts['passed']:,} tests{f' ({beside})' if beside else ''}"


def _reason(report: TestReport) -> str:
    why = report.longrepr
    return str(why[2]) if isinstance(why, tuple) else str(why)
