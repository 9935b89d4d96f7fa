"""Where project memory lives, and what a path of it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.kernel.errors import InvalidInput, Unauthenticated, Violation
from shared.projects.models import artifact_name_of, task_id_of, turn_of
from shared.projects.records import Address

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.http.request import Request
    from shared.kernel.scope import Caller

ROOT = "/sandbox/memory/v1"
TURN = f"{ROOT}/tasks/<task_id>/turns/<turn>"
ARTIFACT = f"{TURN}/artifacts/<name>"


def caller_of(request: Request) -> Caller:
    """Return who sent the request; every route of this surface needs a credential."""
    if request.caller is None:
        raise Unauthenticated("Send an API key.")
    return request.caller


def address_of(request: Request, task_id: str, turn: str, *, name: str | None = None) -> Address:
    """Return the turn or artifact that path parameters name, in the caller's project.

    Raises:
        InvalidInput: lists every parameter that breaks its rule.
    """
    given: list[tuple[Callable[[str], Any], str]] = [(task_id_of, task_id), (turn_of, turn)]
    if name is not None:
        given.append((artifact_name_of, name))
    values: list[Any] = []
    broken: list[Violation] = []
    for rule, raw in given:
        try:
            values.append(rule(raw))
        except InvalidInput as error:
            broken.extend(error.violations)
    if broken:
        raise InvalidInput(*broken)
    return Address(caller_of(request).scope, *values)
