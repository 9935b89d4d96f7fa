"""What a request to a memory store asks for: its dialect, view, page, times, author and body."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from shared.http.dialects import envelope
from shared.http.validation import integer_in
from shared.kernel.errors import Conflict, InvalidInput, Unauthenticated
from shared.kernel.strict_json import parse
from shared.stores.pages import Moments
from shared.stores.records import actor_of
from shared.stores.sight import store_address

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from shared.http.request import Request
    from shared.kernel.errors import LodestoreError
    from shared.kernel.scope import Caller
    from shared.stores.records import Record, StoreAddress

ROOT = "/v1/memory_stores"
STORE = f"{ROOT}/<memory_store_id>"
BODY_BYTES = 1 << 20

FIRST = "managed-agents-2026-04-01"
NEWEST = "agent-memory-2026-07-22"
VIEWS = ("basic", "full")
FULL_ITEMS = 20
SESSION_HEADER = "x-sandbox-session-id"

_SESSION = re.compile(r"[\x20-\x7e]{1,255}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Asked:
    """One request: who asks, in which dialect, with which query."""

    request: Request
    caller: Caller
    newest: bool

    @classmethod
    def of(cls, request: Request) -> Asked:
        """Return what a request asks.

        Raises:
            InvalidInput: both dialects at once (contract "memory stores", the table at its top).
        """
        if request.caller is None:
            raise Unauthenticated("Send an API key.")
        betas = {beta.strip() for beta in request.headers.get("anthropic-beta", "").split(",")}
        if {FIRST, NEWEST} <= betas:
            raise InvalidInput.at("header", "anthropic-beta", message=f"Send {FIRST} or {NEWEST}, not both")
        return cls(request, request.caller, NEWEST in betas)

    def store(self, raw: str) -> StoreAddress:
        """Return where the store of a path parameter is.

        Raises:
            NotFound: the id can't be a store's.
        """
        return store_address(self.caller.scope, raw)

    def body(self) -> Any:
        """Return the JSON value of the body, whatever content type it came with; none at all is `{}`.

        Raises:
            TooLarge: over 1 MiB.
            InvalidInput: packed, or not JSON.
        """
        body = self.request.plain_within(BODY_BYTES)
        return parse(body) if body else {}

    @property
    def actor(self) -> Record:
        """The key that asks."""
        return actor_of("api_actor", self.caller.key_id)

    @property
    def author(self) -> Record:
        """Who a new version is by: the session that the caller names, else the key.

        Raises:
            InvalidInput: the session's name is not 1 to 255 printable ASCII characters.
        """
        session = self.request.headers.get(SESSION_HEADER)
        if session is None:
            return self.actor
        if not _SESSION.fullmatch(session):
            raise InvalidInput.at("header", SESSION_HEADER, message="1 to 255 printable ASCII characters")
        return actor_of("session_actor", session)

    def text(self, name: str) -> str | None:
        """Return a query parameter."""
        return self.request.query.get(name)

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str | None:
        """Return a query parameter that must be one of some words.

        Raises:
            InvalidInput: it is another.
        """
        word = self.text(name)
        if word is not None and word not in choices:
            raise InvalidInput.at("query", name, message=f"One of {', '.join(choices)}", value=word[:200])
        return word if word is not None else default

    def full(self, default: str) -> bool:
        """Tell whether the answer shall have contents."""
        return self.choice("view", VIEWS, default) == "full"

    def limit(self, *, full: bool = False) -> int:
        """Return how many items a page may have: 20 by default, and at most 100, or 20 with contents."""
        limit = integer_in(self.request.query, "limit", within=(1, 100), default=20)
        return min(limit, FULL_ITEMS) if full else limit

    def moments(self) -> Moments:
        """Return the span that `created_at[gte]` and `created_at[lte]` name, in whole milliseconds.

        Raises:
            InvalidInput: another bound, or not an RFC 3339 time; one without an offset is taken as UTC.
        """
        names = ("created_at[gte]", "created_at[lte]")
        for name in self.request.query:
            if name.startswith("created_at") and name not in names:
                raise InvalidInput.at("query", name, message=f"The bounds are {' and '.join(names)}")
        first, last = (self._moment(name) for name in names)
        return Moments(
            None if first is None else -((_EPOCH - first) // _MS),
            None if last is None else (last - _EPOCH) // _MS,
        )

    def _moment(self, name: str) -> datetime | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            if _TIME.fullmatch(text):
                moment = datetime.fromisoformat(text.upper())
                return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            pass
        raise InvalidInput.at("query", name, message="Input should be an RFC 3339 time", value=text[:200])


def told(error: LodestoreError, request: Request) -> Response[Any]:
    """Render an error in the surface's dialect; a conflict that trying again can't solve says so to the SDKs."""
    response = envelope(error, request)
    if isinstance(error, Conflict) and "type" in error.details:
        response.headers["x-should-retry"] = "false"
    return response
