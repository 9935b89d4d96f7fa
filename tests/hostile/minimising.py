"""A finding made small: the fewest requests that lead to it, and the least of the last one, kept as a test."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hostile.courses import Finding, Ground, Told
from tests.hostile.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOUND = Path(__file__).parent / "found"
"""What was found once, a file each; `test_fuzz.py` sends all of them again."""

TRIES = 150
"""How often a finding is run again, each time with a tenant of its own."""


def minimised(ground: Ground, finding: Finding) -> Finding:
    """Return a finding of the same kind with as little as possible of what led to it."""
    tries = iter(range(TRIES))

    def still(drafts: list[Draft]) -> bool:
        number = next(tries, None)
        if number is None:
            return False
        again = Ground(ground.stack, Told()).replay(f"{finding.seed}-{len(drafts)}-{number}", drafts)
        return any(found.kind == finding.kind for found in again if len(found.drafts) == len(drafts))

    drafts = _fewest(finding.drafts, still)
    drafts = [*drafts[:-1], _least(drafts[-1], lambda last: still([*drafts[:-1], last]))]
    return replace(finding, drafts=drafts)


def _fewest(drafts: list[Draft], still: Callable[[list[Draft]], bool]) -> list[Draft]:
    """Return the last request, with those before it without which it would not be a finding."""
    last = drafts[-1]
    if still([last]):
        return [last]
    before, size = drafts[:-1], max(1, len(drafts) // 2)
    while size:
        for at in range(0, len(before), size):
            less = before[:at] + before[at + size :]
            if len(less) < len(before) and still([*less, last]):
                before = less
                break
        else:
            size //= 2
    return [*before, last]


def _least(draft: Draft, still: Callable[[Draft], bool]) -> Draft:
    shrunk = True
    while shrunk:
        shrunk = False
        for less in _smaller(draft):
            if still(less):
                draft, shrunk = less, True
                break
    return draft


def _smaller(draft: Draft) -> Iterator[Draft]:
    for at in range(len(draft.headers)):
        yield replace(draft, headers=draft.headers[:at] + draft.headers[at + 1 :])
    pairs = [pair for pair in draft.query.split("&") if pair]
    for at in range(len(pairs)):
        yield replace(draft, query="&".join(pairs[:at] + pairs[at + 1 :]))
    if draft.body:
        yield replace(draft, body="")
    size = len(draft.body) // 2
    while size >= 4:
        for at in range(0, len(draft.body), size):
            yield replace(draft, body=draft.body[:at] + draft.body[at + size :])
        size //= 2


def kept(finding: Finding, folder: Path = FOUND) -> Path:
    """Write a finding where the tests send it again, and return where."""
    told = {"kind": finding.kind, "faults": finding.faults, "drafts": [draft.to_json() for draft in finding.drafts]}
    text = json.dumps(told, indent=1, ensure_ascii=True) + "\n"
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256(finding.kind.encode()).hexdigest()[:12]}.json"
    path.write_text(text, "ascii")
    return path


def drafts_in(path: Path) -> list[Draft]:
    """Return the requests of a finding that was kept."""
    return [Draft.of_json(told) for told in json.loads(path.read_text("ascii"))["drafts"]]
