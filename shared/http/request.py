"""One HTTP request, read from an API Gateway v2 event (payload format 2.0)."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from shared.kernel.errors import InvalidInput, TooLarge, UnsupportedType
from shared.kernel.ids import ulid
from shared.kernel.strict_json import parse

if TYPE_CHECKING:
    from shared.kernel.scope import Caller

_PRINTABLE = re.compile(r"[\x20-\x7e]{1,128}")
_JSON = re.compile(r"application/(json|[\w.+-]+\+json)", re.IGNORECASE)


def prefixed_id() -> str:
    """Return a new id of a request, `req_01J…`."""
    return f"req_{ulid()}"


@dataclass
class Request:
    """One request: method, path parameters, raw query, lower-cased headers, body and its two ids.

    `caller` is set once the credential is admitted, `route` and `operation` (its id in the API document)
    once a route is met.
    """

    event: dict[str, Any]
    request_id: str = field(default_factory=prefixed_id)
    caller: Caller | None = None
    route: str | None = None
    operation: str | None = None

    @property
    def method(self) -> str:
        """The verb, upper case."""
        return str(self.event["requestContext"]["http"]["method"]).upper()

    @property
    def path(self) -> str:
        """The path without the stage, percent-decoded: HTTP APIs hand it on so."""
        stage = self.event["requestContext"].get("stage", "$default")
        path = str(self.event["rawPath"])
        return path if stage == "$default" else path.removeprefix(f"/{stage}")

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers by lower-case name."""
        return {name.lower(): value for name, value in self.event.get("headers", {}).items()}

    @cached_property
    def query(self) -> dict[str, str]:
        """The query's parameters, read raw: a value may hold commas; of a repeated one the last counts."""
        return dict(parse_qsl(self.event.get("rawQueryString", ""), keep_blank_values=True))

    @cached_property
    def correlation_id(self) -> str:
        """The caller's `x-correlation-id` if it is printable ASCII of at most 128 characters, else a new ULID."""
        given = self.headers.get("x-correlation-id", "")
        return given if _PRINTABLE.fullmatch(given) else ulid()

    @cached_property
    def body(self) -> bytes:
        """The body's bytes."""
        body = self.event.get("body") or ""
        return base64.b64decode(body) if self.event.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")

    def body_within(self, limit: int, hint: str = "") -> bytes:
        """Return the body.

        Raises:
            TooLarge: it has more than `limit` bytes; measured before it is decoded.
        """
        text = self.event.get("body") or ""
        size = len(text) * 3 // 4 - 2 if self.event.get("isBase64Encoded") else len(text)
        if size > limit or len(self.body) > limit:
            raise TooLarge(f"The body is over {limit} bytes.{hint}")
        return self.body

    def plain_within(self, limit: int) -> bytes:
        """Return the body, which is not packed: nothing here unpacks.

        Raises:
            TooLarge: it has more than `limit` bytes.
            InvalidInput: it has a content coding.
        """
        body = self.body_within(limit)
        coding = self.headers.get("content-encoding", "").strip()
        if body and coding.lower() not in {"", "identity"}:
            message = "Input should be identity: send the body unpacked"
            raise InvalidInput.at(
                "header", "content-encoding", message=message, type_="value_error", value=coding[:100]
            )
        return body

    def json_within(self, limit: int, *, empty: Any = None) -> Any:
        """Return the JSON value of a body of at most `limit` bytes; an empty body is `empty` if that is given.

        Raises:
            TooLarge: over the limit.
            UnsupportedType: a content type that is not JSON.
            InvalidInput: packed, not JSON, or no body where one is needed.
        """
        kind = self.headers.get("content-type", "application/json").partition(";")[0].strip()
        body = self.plain_within(limit)
        if not body and empty is not None:
            return empty
        if kind and not _JSON.fullmatch(kind):
            raise UnsupportedType(f"Send application/json, not {kind[:100]}.")
        if not body:
            raise InvalidInput.at("body", message="Field required", type_="missing")
        return parse(body)
