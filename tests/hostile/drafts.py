"""Requests as a hostile caller makes them: what the probes ask, changed in every part, from a seed.

A draft names what the caller holds by marks (`__store__`), so that it can be sent again in another stack.
"""

from __future__ import annotations

import random
import re
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from infra.local.events import Request
from tests.hostile.document import operations
from tests.hostile.holdings import Names, Party
from tests.hostile.mutations import changed

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = re.compile(r"__([a-z]+(?:_[a-z]+)*)__")
OPEN_PATHS = ("/health", "/ready", "/openapi.json", "/openapi.yaml", "/docs", "/", "/v1", "/nowhere", "/_s3/x/y")


@dataclass(frozen=True)
class Draft:
    """One request; every byte of it is a character of the same number."""

    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: str

    def request(self, held: Mapping[str, str]) -> Request:
        """Return the request of somebody who holds these things."""

        def real(text: str) -> str:
            return MARK.sub(lambda mark: held.get(mark[1], mark[0]), text)

        headers = [(real(n).encode("latin-1"), real(v).encode("latin-1")) for n, v in self.headers]
        return Request(self.method, real(self.path), real(self.query), headers, real(self.body).encode("latin-1"))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Draft:
        return cls(told["method"], told["path"], told["query"], [(n, v) for n, v in told["headers"]], told["body"])


def drafts_of(seed: str, count: int) -> list[Draft]:
    """Return the requests of a course; the same ones for the same seed."""
    draw = random.Random(seed)
    return [draft_of(draw) for _ in range(count)]


def draft_of(draw: random.Random) -> Draft:
    """Return a plain request with one to four changes; one in twelve is left as it is."""
    if draw.random() < 0.03:
        return _changed(Draft(draw.choice(("GET", "HEAD", "POST")), draw.choice(OPEN_PATHS), "", [], ""), draw)
    draft = draw.choice(plain_drafts()[draw.choices(*_weights())[0]])
    return draft if draw.random() < 0.08 else _changed(draft, draw)


def _changed(draft: Draft, draw: random.Random) -> Draft:
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        part = draw.choices(("body", "query", "headers", "path", "method"), (40, 20, 22, 15, 3))[0]
        draft = Draft.of_json({**draft.to_json(), **changed(part, draft.to_json(), draw)})
    return draft


@cache
def _weights() -> tuple[list[str], list[float]]:
    """Return every operation and how often it is asked: what takes a body often, what takes all away rarely."""
    names = sorted(plain_drafts())
    rare = ("delete", "forget", "archive", "revoke", "redact")
    return names, [0.15 if name.startswith(rare) else 3 if operations()[name].fields else 1 for name in names]


@cache
def plain_drafts() -> dict[str, list[Draft]]:
    """Return what the probes ask, by operation, of what the caller holds itself."""
    from tests.hostile.probes import PROBES  # noqa: PLC0415 - probes are many, and not all who draft need them

    marks = Names(**{field.name: f"__{field.name}__" for field in fields(Names)})
    nobody: Any = None
    asker = Party(nobody, "__secret__", "__project__")
    named = {name: PROBES[name](asker, marks, marks) for name in sorted(PROBES)}
    return {name: [_draft(request) for request in requests] for name, requests in named.items()}


def _draft(request: Request) -> Draft:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
    return Draft(request.method, request.raw_path, request.query, headers, request.body.decode("latin-1"))
