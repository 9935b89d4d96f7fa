"""Everything that readers can see of one task, to be compared before and after."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from tests.clients.events import Answer, Client

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_TAG = re.compile(r'"[0-9A-Za-z]{26,32}"')

TURNS = (1, 2)
ARTIFACTS = ((1, "a"), (1, "b"), (2, "b"))


def sighting(client: Client, task: str) -> dict[str, Any]:
    """Ask every endpoint what it has of a task; the numbers that it shows must agree with each other."""
    listed = client.get(f"{ROOT}/tasks", query={"limit": 200}).json
    assert listed["total"] == len(listed["tasks"])
    digest = client.get(f"{ROOT}/project.md").content.decode()
    sections = dict(section.split("\n", 1) for section in digest.split("\n## ")[1:])
    whole = client.get(f"{ROOT}/tasks/{task}")
    files = {where: artifact_path(task, *where) for where in ARTIFACTS}
    seen = {
        "list": [entry for entry in listed["tasks"] if entry["task_id"] == task],
        "digest": sections.get(task),
        "task": _told(whole),
        "turns": {turn: _told(client.get(turn_path(task, turn))) for turn in TURNS},
        "artifacts": {where: _bytes(client.get(path)) for where, path in files.items()},
    }
    if whole.status == 200:
        assert whole.json["turn_count"] == len(whole.json["turns"])
        assert whole.json["updated_at"] == seen["list"][0]["updated_at"]
        assert max(turn["updated_at"] for turn in whole.json["turns"]) <= whole.json["updated_at"]
    return seen


def shape(seen: Any, before: Any, task: str) -> Any:
    """Return what was seen with its times, entity tags and name replaced by whether they were seen before."""
    known = {*_TIME.findall(repr(before)), *_TAG.findall(repr(before))}

    def mark(found: re.Match[str]) -> str:
        return "kept" if found[0] in known else "fresh"

    return _TAG.sub(mark, _TIME.sub(mark, repr(seen))).replace(task, "TASK")


def _told(answer: Answer) -> Any:
    return (answer.json, answer.headers.get("etag")) if answer.status == 200 else answer.status


def _bytes(answer: Answer) -> Any:
    told = answer.content, answer.headers["content-type"], answer.headers.get("etag")
    return told if answer.status == 200 else answer.status
