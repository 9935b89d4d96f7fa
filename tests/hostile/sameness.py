"""Whether two answers are the same but for what any two differ in: ids of requests, times, and the names asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.emulator.faults import recorded

if TYPE_CHECKING:
    from infra.local.events import Answer, Request
    from tests.clients.whole import Whole
    from tests.hostile.holdings import Names

LONGEST_SHOWN = 200
"""So much of a refused value an answer shows."""

_FRESH = (
    (re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d GMT"), "<time>"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"(_|\b)[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "<ulid>"),
    (re.compile(r"lsk_[A-Za-z0-9_-]{20,}"), "<secret>"),
    (re.compile(r'"[0-9a-f]{16,64}"'), '"<hash>"'),
    (re.compile(r"X-Amz-Signature=[0-9a-f]{64}"), "<signature>"),
    (re.compile(r"X-Amz-Date=\w+"), "<time>"),
    (re.compile(r"/up/\d{8}/[^ ?\"]+"), "<upload>"),
)


@dataclass(frozen=True)
class Seen:
    """What a caller gets to see, and what a stop-watch would: the status, headers and body, and the AWS calls made."""

    status: int
    told: str
    calls: tuple[str, ...]


def seen_of(stack: Whole, request: Request, names: Names) -> Seen:
    """Send a request that asks for `names`, and return what is seen."""
    with recorded() as calls:
        answer = stack.send(request)
    made = sorted(f"{call.name} {call.status}" for call in calls.made)
    return Seen(answer.status, plain(told_by(answer), names), tuple(made))


def told_by(answer: Answer) -> str:
    """Return all of an answer as text."""
    headers = sorted((name.decode(), value.decode("latin-1")) for name, value in answer.headers)
    return "\n".join([*(f"{name}: {value}" for name, value in headers), answer.body.decode("utf-8", "replace")])


def plain(text: str, names: Names) -> str:
    """Return a text with the names that were asked for, and all that is fresh in any answer, by what they are."""
    for name, value in names.items():
        for form in dict.fromkeys((value, value[:LONGEST_SHOWN], quote(value, safe=""), value.replace('"', r"\""))):
            text = text.replace(form, f"<{name}>")
    for pattern, shown in _FRESH:
        text = pattern.sub(shown, text)
    return text
