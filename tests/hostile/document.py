"""The operations of the API's own document, as those who probe it need them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from functions.platform.openapi import document
from shared.http.admission import PROJECT_HEADERS, TENANT_HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.local.events import Request

EVERYWHERE = frozenset({"x-correlation-id", TENANT_HEADER, *(name.lower() for name in PROJECT_HEADERS)})
"""Headers that every operation takes; they are probed for all operations at once."""


@dataclass(frozen=True)
class Operation:
    """One operation: its verb and path, where its parameters stand, its body's fields and the statuses it tells."""

    name: str
    method: str
    path: str
    described: Any

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{\w+\}", "[^/]+", re.escape(self.path).replace(r"\{", "{").replace(r"\}", "}")))

    @property
    def is_open(self) -> bool:
        """Tell whether it needs no key."""
        return self.described.get("security") == []

    @cached_property
    def parameters(self) -> frozenset[tuple[str, str]]:
        """Where each of its own parameters stands, and its name: ("query", "limit"), ("header", "if-match")."""
        given = (_resolved(parameter) for parameter in self.described.get("parameters", []))
        names = ((p["in"], p["name"].lower() if p["in"] == "header" else p["name"]) for p in given)
        return frozenset(name for name in names if name[0] != "path" and name[1] not in EVERYWHERE)

    @cached_property
    def fields(self) -> frozenset[tuple[str, str]]:
        """The fields of its JSON body: ("body", "user_id")."""
        content = self.described.get("requestBody", {}).get("content", {}).get("application/json", {})
        return frozenset(("body", name) for name in _resolved(content.get("schema", {})).get("properties", {}))

    @cached_property
    def statuses(self) -> frozenset[int]:
        return frozenset(int(status) for status in self.described["responses"])

    def is_asked_by(self, request: Request) -> bool:
        return request.method == self.method and self.pattern.fullmatch(request.path) is not None


@cache
def operations() -> dict[str, Operation]:
    """Return every operation by its id."""
    found = [
        Operation(described["operationId"], method.upper(), path, described)
        for path, item in document()["paths"].items()
        for method, described in item.items()
        if method != "parameters"
    ]
    return {operation.name: operation for operation in found}


def asked_by(request: Request) -> Operation | None:
    """Return the operation that a request asks for; a path of its own comes before one with a parameter."""
    found = [operation for operation in operations().values() if operation.is_asked_by(request)]
    return min(found, key=lambda operation: operation.path.count("{"), default=None)


def used_by(requests: Iterable[Request]) -> set[tuple[str, str]]:
    """Return the parameters and fields that requests set, named as an operation names them."""
    used: set[tuple[str, str]] = set()
    for request in requests:
        used |= {("query", name) for name, _ in parse_qsl(request.query, keep_blank_values=True)}
        used |= {("header", name.decode()) for name, _ in request.headers}
        try:
            body = json.loads(request.body)
        except ValueError:
            continue
        used |= {("body", name) for name in body} if isinstance(body, dict) else set()
    return used


def _resolved(described: Any) -> Any:
    while "$ref" in described:
        described = document_part(described["$ref"])
    return described


@cache
def document_part(reference: str) -> Any:
    part: Any = document()
    for name in reference.removeprefix("#/").split("/"):
        part = part[name]
    return part
