"""Which function answers a request: API Gateway's choice among the template's routes.

A route with every segment named wins over one with a variable, that one over a greedy one; a method named wins over
ANY. See "Create routes for HTTP APIs" in the API Gateway developer guide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")
VARIABLE = re.compile(r"\{([^}+]+)(\+?)\}")


@dataclass(frozen=True)
class Match(Generic[T]):
    """What answers, by which route, with which path parameters."""

    target: T
    route_key: str
    parameters: dict[str, str]


@dataclass(frozen=True)
class _Route(Generic[T]):
    method: str
    path: str
    target: T

    @property
    def rank(self) -> tuple[bool, int, bool]:
        return "+}" in self.path, self.path.count("{"), self.method == "ANY"

    def match(self, method: str, path: str) -> Match[T] | None:
        if self.method not in {method, "ANY"}:
            return None
        found = re.fullmatch(_pattern(self.path), path, re.DOTALL)
        return found and Match(self.target, f"{self.method} {self.path}", found.groupdict())


class Routes(Generic[T]):
    """The routes of one API."""

    def __init__(self, routes: Iterable[tuple[str, str, T]]) -> None:
        self._routes = sorted((_Route(*route) for route in routes), key=lambda route: route.rank)

    def find(self, method: str, path: str) -> Match[T] | None:
        """Return the most specific route for a decoded path, or None."""
        return next((found for route in self._routes if (found := route.match(method, path))), None)


def _pattern(path: str) -> str:
    pieces, end = [], 0
    for variable in VARIABLE.finditer(path):
        name, greedy = variable.groups()
        pieces += [re.escape(path[end : variable.start()]), f"(?P<{name}>{'.+' if greedy else '[^/]+'})"]
        end = variable.end()
    return "".join(pieces) + re.escape(path[end:])
