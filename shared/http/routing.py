"""Powertools' resolver, made to answer 405 and to keep its event to itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.api_gateway import Router

from shared.http.dialects import MethodNotAllowed
from shared.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aws_lambda_powertools.event_handler.api_gateway import Route

    from shared.http.request import Request


class Resolver(APIGatewayHttpResolver):
    """A resolver whose current event is its own.

    Powertools keeps it on the class, so that two functions in one process (the local run) would
    see each other's events; in Lambda both ways are the same.
    """

    paths: Mapping[str, str]
    """The verbs of each path without parameters."""

    @property
    def current_event(self) -> Any:
        """The event being answered."""
        return self._own_event

    @current_event.setter
    def current_event(self, event: Any) -> None:
        self._own_event = event

    def _to_proxy_event(self, event: dict[str, Any]) -> Any:
        self._own_event = super()._to_proxy_event(event)
        return self._own_event

    @staticmethod
    def _compile_regex(rule: str, base_regex: str = r"^{}\Z") -> re.Pattern[str]:
        """Let a parameter hold anything but a slash: what breaks a rule shall be told so, not be an unknown path."""
        return re.compile(base_regex.format(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", rule)))

    def _call_route(self, route: Route, route_arguments: dict[str, str]) -> Any:
        """Tell the request which route it met, for its line in the log; what met none names no route of ours.

        A parameter's route does not take what is a path of its own, with other verbs: `add` is no memory's id.
        """
        if "<" in route.path and self.current_event.path in self.paths:
            raise MethodNotAllowed(self.paths[self.current_event.path])
        if "<" in route.path or route in self._static_routes:
            request: Request = self.context["request"]
            request.route, request.operation = f"{route.method} {route.path}", route.func.__name__
        return super()._call_route(route, route_arguments)


def new_router() -> Router:
    """Return a router without routes."""
    return Router()  # type: ignore[no-untyped-call]


def request_of(router: Router) -> Request:
    """Return the request that the router's surface is answering."""
    request: Request = router.context["request"]
    return request


def resolver_of(routers: Iterable[Router]) -> Resolver:
    """Return a resolver of all the routers' routes, which says 405 with `Allow` for other verbs on their paths."""
    resolver = Resolver()
    verbs: dict[str, set[str]] = {}
    for router in routers:
        resolver.include_router(router)
        for rule, methods, *_ in router._routes:  # noqa: SLF001 - Powertools lists its routes nowhere else
            verbs.setdefault(rule, set()).update([methods] if isinstance(methods, str) else methods)
    resolver.paths = {rule: ", ".join(sorted(used)) for rule, used in verbs.items() if "<" not in rule}
    known = [(resolver._compile_regex(rule), ", ".join(sorted(used))) for rule, used in verbs.items()]  # noqa: SLF001

    def refuse(_: Exception) -> NoReturn:
        for rule, allow in known:
            if rule.match(resolver.current_event.path):
                raise MethodNotAllowed(allow)
        raise NotFound("Not Found")

    resolver.not_found(refuse)
    return resolver
