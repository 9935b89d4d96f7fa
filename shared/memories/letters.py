"""Messages as they come out of the queues: read and checked, or put with the dead letters.

A message that can't be read is a dead letter at once: no repetition helps.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.kernel.scope import NAME, Scope
from shared.memories.records import UserAddress, has_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.queue import Queue

UNREADABLE = "unreadable"
ATTACHMENTS = 100
"""Files and images of one add are numbered below it: their places in keys have two digits."""

_OF_THEIR_OWN = {"unfile": "erasure", "unread": "token"}
_LETTER_BYTES = 100_000
_NAMED = ("work", "tenant", "project", "task", "n", "correlation_id")


class Unreadable(Exception):
    """A message that is none of ours."""


@dataclass(frozen=True)
class Message:
    """One message as it was received: its text, and how often it was."""

    text: str
    receives: int = 1


def body_of(text: str) -> dict[str, Any]:
    """Return a message's body.

    Raises:
        Unreadable: it is not JSON, or not what its work needs.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable from None
    if not isinstance(body, dict) or not all(_is_name(body.get(name)) for name in ("tenant", "project")):
        raise Unreadable
    if not _CHECKS.get(str(body.get("work")), _never)(body):
        raise Unreadable
    return body


def named_in(text: str) -> dict[str, Any]:
    """Return what a message names, for the log: ids and numbers. Nothing of one that can't be read."""
    try:
        body = body_of(text)
    except Unreadable:
        return {}
    return {name: body[name] for name in _NAMED if name in body}


def bury_unreadable(dead: Queue, text: str) -> None:
    """Put a message that can't be read with the dead letters.

    Raises:
        Unavailable: it may not be there.
    """
    name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    shown = text.encode("utf-8", "replace")[:_LETTER_BYTES].decode("utf-8", "replace")
    dead.send({"work": UNREADABLE, "text": shown, "reason": UNREADABLE}, group=UNREADABLE, once=name)


def scope_in(body: dict[str, Any]) -> Scope:
    """Return whose tenant and project a message is about."""
    return Scope(body["tenant"], body["project"])


def group_of(body: dict[str, Any]) -> str:
    """Return where a message is sent again: what may be long holds up nobody's adds."""
    if body["work"] in _OF_THEIR_OWN:
        group: str = body[_OF_THEIR_OWN[body["work"]]]
        return group
    return UserAddress(scope_in(body), body["user_id"]).group


def _never(_: dict[str, Any]) -> bool:
    return False


def _is_add(body: dict[str, Any]) -> bool:
    return isinstance(body.get("task"), str) and has_form(body["task"])


def _is_of_file(body: dict[str, Any]) -> bool:
    n = body.get("n")
    return _is_add(body) and type(n) is int and 0 <= n < ATTACHMENTS


def _is_reading(body: dict[str, Any]) -> bool:
    ids = [body.get("token"), body.get("document")]
    named = isinstance(body.get("user_id"), str) and all(isinstance(one, str) and has_form(one) for one in ids)
    return named and all(type(number) is int for number in (body.get("chunks"), body.get("asked", 0)))


def _is_erasure(body: dict[str, Any]) -> bool:
    named = isinstance(body.get("user_id"), str)
    return named and isinstance(body.get("erasure"), str) and has_form(body["erasure"])


def _is_cleaning(body: dict[str, Any]) -> bool:
    lists = [body.get("states"), body.get("objects", []), body.get("forgotten", [])]
    if not isinstance(body.get("user_id"), str) or not all(isinstance(one, list) for one in lists):
        return False
    states, objects, forgotten = lists
    named = all(isinstance(name, str) for name in (*objects, *forgotten))
    return named and all(map(_is_state, states)) and all(map(has_form, forgotten))


def _is_state(state: Any) -> bool:
    pair = isinstance(state, list) and len(state) == 2
    return pair and isinstance(state[0], str) and has_form(state[0]) and type(state[1]) is int


_CHECKS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "add": _is_add,
    "erase": _is_erasure,
    "clean": _is_cleaning,
    "read": _is_of_file,
    "chunks": _is_of_file,
    "unfile": _is_erasure,
    "unread": _is_reading,
}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None
