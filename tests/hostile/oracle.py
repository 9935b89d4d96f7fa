"""What every answer has to be, whatever was asked."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.emulator.faults import intercepted
from tests.hostile.document import asked_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.local.events import Answer, Request
    from tests.emulator.faults import Call

OBJECTS = "/_s3/"
ANSWER_BYTES = 6 << 20
PROJECTS, STORES = "/sandbox/memory/v1", "/v1/memory_stores"
MEMORIES = ("/v1/memories", "/v1/files")
FOR_ITSELF = ("R#", "U#", "K", "Q#")
"""Partitions of what a request is counted in, refused or not: limits, usage, the last use of a key, quotas."""

CHANGES = ("Put", "Update", "Delete", "TransactWrite", "BatchWrite", "Copy", "Send")
REFUSED_UNREAD = frozenset({400, 401, 403, 405, 413, 415, 422})
"""Answers to a request that breaks a rule: nothing may be written for one."""

_OURS = re.compile(r"Traceback|botocore|File \"|/site-packages/|dynamodb|\bNoneType\b|object at 0x", re.IGNORECASE)


@dataclass
class Written:
    """What a request wrote: `operation partition` of each call that succeeded."""

    made: list[str] = field(default_factory=list)

    @property
    def lasting(self) -> list[str]:
        """What was written and not taken back: bytes are stored beside the look at what decides whether they may be."""
        changes = [change for change in self.made if not change.partition(" ")[2].startswith(FOR_ITSELF)]
        taken_back = changes.count("s3.DeleteObject s3") == changes.count("s3.PutObject s3")
        return [change for change in changes if not (taken_back and change.endswith(" s3"))]

    def note(self, call: Call, request: Any, answer: Any) -> None:
        if call.operation.startswith(CHANGES) and answer.status_code < 300:
            self.made += [f"{call.name} {partition}" for partition in _partitions(call, request)]


@contextmanager
def watched() -> Iterator[Written]:
    """Take note of what is written."""
    written = Written()

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        answer = apply()
        written.note(call, request, answer)
        return answer

    with intercepted(around):
        yield written


def _partitions(call: Call, request: Any) -> list[str]:
    if call.service != "dynamodb":
        return [call.service]
    body = json.loads(request.body)
    writes = [next(iter(item.values())) for item in body.get("TransactItems", [])] or [body]
    keys = [write.get("Key") or write.get("Item") or {"pk": {"S": "batch"}} for write in writes]
    return [str(key["pk"]["S"]) for key in keys]


def faults_of(request: Request, answer: Answer, written: Written, *, served: bool) -> list[str]:
    """Return what is wrong with an answer; `served` tells whether a route leads to a function of ours."""
    found: list[str] = []
    if request.raw_path.startswith(OBJECTS):
        return found if answer.status in {403, 405} else [f"{answer.status} of an object, with nothing signed"]
    if answer.status >= 500:
        return [f"{answer.status}: {answer.body[:300]!r}"]
    if not served:
        return (
            []
            if answer.status == 404 and json.loads(answer.body) == {"message": "Not Found"}
            else ["not the gateway's"]
        )
    headers = {name.decode(): value.decode("latin-1") for name, value in answer.headers}
    found += _faults_of_headers(request, headers)
    if len(answer.body) > ANSWER_BYTES:
        found.append(f"an answer of {len(answer.body)} bytes")
    if answer.status >= 400:
        found += _faults_of_error(request.path, answer, headers)
    operation = asked_by(request)
    if operation is not None and answer.status not in operation.statuses:
        found.append(f"{operation.name} does not describe {answer.status}")
    if answer.status in REFUSED_UNREAD:
        found += [f"{answer.status}, and yet {change}" for change in written.lasting]
    return found


def _faults_of_headers(request: Request, headers: dict[str, str]) -> list[str]:
    found = [f"no {name}" for name in ("request-id", "x-correlation-id") if not headers.get(name)]
    told = headers.get("x-correlation-id", "")
    if not re.fullmatch(r"[\x20-\x7e]{1,128}", told):
        found.append(f"the correlation id {told!r}")
    return found


def _faults_of_error(path: str, answer: Answer, headers: dict[str, str]) -> list[str]:
    if not headers.get("content-type", "").startswith("application/json"):
        return [f"an error of type {headers.get('content-type')}"]
    try:
        told = json.loads(answer.body.decode())
    except ValueError:
        return [f"an error that is no JSON: {answer.body[:200]!r}"]
    found = [] if _has_shape(path, told, headers) else [f"an error of another shape: {answer.body[:300]!r}"]
    if _OURS.search(_message(told)):
        found.append(f"an error that tells of our insides: {answer.body[:300]!r}")
    return found


def _message(told: Any) -> str:
    """Return what an error says in our own words: what it shows of the input is the caller's."""
    if isinstance(told, dict) and isinstance(told.get("detail"), list):
        return " ".join(str(each.get("msg")) for each in told["detail"])
    error = told.get("error") if isinstance(told, dict) else None
    return str(error.get("code", error.get("type"))) if isinstance(error, dict) else str(told)[:50]


def _has_shape(path: str, told: Any, headers: dict[str, str]) -> bool:
    if path == PROJECTS or path.startswith(f"{PROJECTS}/"):
        return told.keys() == {"detail"} and _is_detail(told["detail"])
    if path.startswith(MEMORIES) and not path.startswith(STORES):
        return _is_report(told, headers)
    return _is_envelope(told, headers)


def _is_detail(detail: Any) -> bool:
    if isinstance(detail, str):
        return bool(detail)
    needed, allowed = {"loc", "msg", "type"}, {"loc", "msg", "type", "input"}
    return bool(detail) and all(needed <= each.keys() <= allowed and each["loc"] and each["msg"] for each in detail)


def _is_envelope(told: Any, headers: dict[str, str]) -> bool:
    if told.keys() != {"type", "error", "request_id"} or told["type"] != "error":
        return False
    return {"type", "message"} <= told["error"].keys() and told["request_id"] == headers["request-id"]


def _is_report(told: Any, headers: dict[str, str]) -> bool:
    if told.keys() != {"success", "error", "meta"} or told["success"] is not False:
        return False
    is_named = {"code", "message"} <= told["error"].keys() <= {"code", "message", "hint", "details"}
    details = told["error"].get("details")
    is_detailed = details is None or isinstance(details, dict) or all({"field", "message"} <= d.keys() for d in details)
    return is_named and is_detailed and told["meta"].keys() == {"request_id", "timestamp"}
